import { onAbort } from "../../async/on-abort.ts";
import { createLineReader, type Frame } from "../../rpc/framing.ts";
import { aNumberFrom, aSignal, type Check, type Checks, checkEach, checkOne } from "../checks.ts";
import type { StreamJsonEvent } from "../types.ts";
import { createStreamJsonTranslator } from "./stream-json-lines.ts";

type Chunk = Uint8Array | string;

/** The used part of a web `ReadableStream`, which some browsers cannot iterate. */
interface WebStream {
  getReader(): {
    read(): Promise<{ readonly done: boolean; readonly value?: Chunk | undefined }>;
    cancel(reason?: unknown): Promise<void>;
    releaseLock(): void;
  };
}

/** A child's stdout, a file stream, a response body, or the whole output. */
export type StreamJsonSource = Chunk | AsyncIterable<Chunk> | WebStream;

export interface ReadStreamJsonOptions {
  /** Longer lines are skipped and reported as `other`. Default: 256 MiB. */
  readonly maxLineBytes?: number;
  /** Stops reading: the loop throws the signal's reason, and the source is released. */
  readonly signal?: AbortSignal;
}

const mebibyte = 1024 * 1024;
/** Limit for input that is split into lines ahead of demand. */
const pieceSize = 64 * 1024;

/**
 * Reads the output of `tinman exec -o stream-json` or `droid exec -o stream-json` as it arrives: each message, thought,
 * call and result once, with an id for every call. Unreadable lines become `other`; only a failing source makes it
 * throw. `end` comes from the `completion` or the `-o json` object; without one, from a final error of the run. No
 * `end` means truncated output. Leaving the loop early ends the source.
 */
export function readStreamJson(
  source: StreamJsonSource,
  options: ReadStreamJsonOptions = {},
): AsyncGenerator<StreamJsonEvent, void, undefined> {
  checkOne("What readStreamJson reads", source, aSource);
  checkEach("readStreamJson", options, checks);
  return read(source, options);
}

const aSource: Check = [
  "text, bytes or a stream of them",
  (value) =>
    typeof value === "string" ||
    value instanceof Uint8Array ||
    (typeof value === "object" && value !== null && (Symbol.asyncIterator in value || "getReader" in value)),
];
const checks: Checks<keyof ReadStreamJsonOptions> = { maxLineBytes: aNumberFrom(1), signal: aSignal };

async function* read(
  source: StreamJsonSource,
  { maxLineBytes = 256 * mebibyte, signal }: ReadStreamJsonOptions,
): AsyncGenerator<StreamJsonEvent, void, undefined> {
  const lines = createLineReader({ maxLineBytes });
  const translator = createStreamJsonTranslator();
  const eventsOf = (frame: Frame): readonly StreamJsonEvent[] =>
    frame.type === "line"
      ? translator.take(frame.text)
      : [{ type: "other", name: "too_long", given: { bytes: frame.bytes } }];

  for await (const bytes of bytesOf(source, signal)) {
    for (const frame of lines.push(bytes)) {
      signal?.throwIfAborted();
      yield* eventsOf(frame);
    }
  }
  signal?.throwIfAborted();
  for (const frame of lines.end()) yield* eventsOf(frame);
  yield* translator.finish();
}

async function* bytesOf(source: StreamJsonSource, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  /** The first half of a surrogate pair at the end of a chunk. */
  let half = "";
  for await (const chunk of chunksOf(source, signal)) {
    for (let start = 0; start < chunk.length; start += pieceSize) {
      if (typeof chunk !== "string") {
        yield chunk.subarray(start, start + pieceSize);
        continue;
      }
      const text = half + chunk.slice(start, start + pieceSize);
      half = /[\uD800-\uDBFF]$/.exec(text)?.[0] ?? "";
      yield encoder.encode(half === "" ? text : text.slice(0, -1));
    }
  }
  if (half !== "") yield encoder.encode(half);
}

interface Reading {
  next(): Promise<{ readonly done?: boolean | undefined; readonly value?: Chunk | undefined }>;
  leave(): Promise<unknown>;
  /** Stops a source that is about to produce something. */
  abandon?(): void;
}

async function* chunksOf(source: StreamJsonSource, signal: AbortSignal | undefined): AsyncGenerator<Chunk> {
  if (typeof source === "string" || source instanceof Uint8Array) {
    signal?.throwIfAborted();
    yield source;
    return;
  }
  const reading = "getReader" in source ? readWebStream(source) : iterate(source);
  // A source that has ended or failed must not be closed again.
  let isOpen = true;
  const next = async (): Promise<Chunk | undefined> => {
    try {
      const { done, value } = await reading.next();
      isOpen = done !== true;
      return isOpen ? (value ?? "") : undefined;
    } catch (error) {
      isOpen = false;
      throw error;
    }
  };
  try {
    for (;;) {
      signal?.throwIfAborted();
      const chunk = await unlessAborted(next(), signal);
      if (chunk === undefined) return;
      yield chunk;
    }
  } finally {
    if (isOpen) {
      if (signal?.aborted === true) reading.abandon?.();
      const left = reading.leave();
      // A source that is about to produce something may close late.
      if (signal?.aborted === true) left.catch(() => undefined);
      else await left;
    }
  }
}

function readWebStream(stream: WebStream): Reading {
  const reader = stream.getReader();
  return {
    next: async () => {
      const step = await reader.read();
      if (step.done) reader.releaseLock();
      return step;
    },
    leave: async () => {
      await reader.cancel();
      reader.releaseLock();
    },
  };
}

function iterate(source: AsyncIterable<Chunk>): Reading {
  const iterator = source[Symbol.asyncIterator]();
  return {
    next: () => iterator.next(),
    leave: async () => iterator.return?.(),
    abandon() {
      // A Node stream would stay open until its next chunk.
      if ("destroy" in source && typeof source.destroy === "function") source.destroy();
    },
  };
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject).finally(onAbort(signal, () => reject(signal.reason)));
  });
}
