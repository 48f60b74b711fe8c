import type { ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { after } from "../../async/after.ts";
import { onAbort } from "../../async/on-abort.ts";
import { aborted, brokenOff, exchangeFailure, timedOut } from "../failure.ts";
import { NetworkError } from "../network-error.ts";
import { type Coding, createDecompressor } from "./decompress.ts";

/** Receives the chunks. `end` or `fail` is the last call. */
interface Sink {
  piece(bytes: Uint8Array): void;
  end(): void;
  fail(error: NetworkError): void;
}

export interface Body {
  /** HTTP allows no body here (`HEAD`, 204, 304). */
  readonly empty: boolean;
  /** Starts the flow, once. Reports an end or failure that has already happened. */
  flowTo(sink: Sink): void;
  pause(): void;
  resume(): void;
  /** Closes the socket unless the body has ended. */
  close(): void;
}

interface BodyParts {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  readonly empty: boolean;
  readonly coding: Coding | undefined;
  readonly signal: AbortSignal | undefined;
  /** `firstByteMs` also limits the wait between the headers and the first chunk. */
  readonly timeouts: { readonly firstByteMs: number; readonly idleMs: number };
  readonly where: string;
}

const inTheMiddle = "in the middle of the response";

export function openBody(parts: BodyParts): Body {
  const { request, response, empty, coding, signal, timeouts, where } = parts;
  let outcome: "open" | "ended" | NetworkError = "open";
  let sink: Sink | undefined;
  let batch: Uint8Array[] = [];
  let pieces: Readable = response;
  let paused = false;
  let hasBegun = false;
  let timer: NodeJS.Timeout | undefined;

  const notify = () => {
    if (sink === undefined || outcome === "open") return;
    if (outcome === "ended") sink.end();
    else sink.fail(outcome);
  };
  const settle = (result: "ended" | NetworkError) => {
    if (outcome !== "open") return;
    // The reader gets everything received so far, unless it aborted.
    if (result === "ended" || result.kind !== "aborted") handOver();
    outcome = result;
    stopClock();
    stopListening();
    // After an early or unfinished response, the connection can't be reused.
    if (result !== "ended" || !request.writableFinished || !response.complete) request.destroy();
    if (result !== "ended") pieces.destroy();
    notify();
  };
  const handOver = () => {
    if (batch.length === 0 || outcome !== "open") return;
    const [first = new Uint8Array(0)] = batch;
    const bytes = batch.length === 1 ? first : Buffer.concat(batch);
    batch = [];
    sink?.piece(bytes);
  };
  const stop = () => settle(aborted(where));
  const stopClock = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const startClock = () => {
    stopClock();
    const { firstByteMs, idleMs } = timeouts;
    timer = hasBegun
      ? after(idleMs, () =>
          settle(timedOut("idle_timeout", `${where} stopped sending its response: no data came`, idleMs)),
        )
      : after(firstByteMs, () =>
          settle(timedOut("first_byte_timeout", `${where} sent headers but no body`, firstByteMs)),
        );
  };
  const noteBytes = () => {
    if (hasBegun) {
      timer?.refresh();
      return;
    }
    hasBegun = true;
    if (!paused) startClock();
  };

  const stopListening = onAbort(signal, stop);
  request.on("error", (error) => settle(exchangeFailure(error, where, inTheMiddle)));
  response.on("error", (error) => settle(exchangeFailure(error, where, inTheMiddle)));
  response.on("close", () => {
    if (!response.complete) settle(brokenOff(where, inTheMiddle, ""));
  });

  const flow = (source: Readable) => {
    source.on("data", (bytes: Buffer) => {
      // The parser emits each HTTP chunk separately. Batch those from one socket read.
      if (batch.push(bytes) > 1) return;
      noteBytes();
      process.nextTick(handOver);
    });
    source.on("end", () => settle("ended"));
    if (paused) source.pause();
    else startClock();
  };
  const undecodable = (error: unknown): NetworkError =>
    new NetworkError("malformed", `The response from ${where} could not be decompressed: ${String(error)}`);
  const flowDecompressed = async (how: Coding) => {
    const decompressor = await createDecompressor(how, response);
    decompressor.on("error", () => {
      settle(new NetworkError("malformed", `The response from ${where} does not match its Content-Encoding.`));
    });
    pieces = decompressor;
    if (outcome !== "open") {
      decompressor.destroy();
      return;
    }
    flow(decompressor);
    // Compressed bytes count as activity even before they produce output.
    response.on("data", noteBytes);
    response.pipe(decompressor);
  };

  if (empty) {
    response.on("end", () => settle("ended"));
    response.resume();
  }

  return {
    empty,
    flowTo(receiver) {
      sink = receiver;
      if (outcome !== "open") return notify();
      if (empty) return;
      startClock();
      if (coding === undefined) flow(response);
      else flowDecompressed(coding).catch((error: unknown) => settle(undecodable(error)));
    },
    pause() {
      paused = true;
      stopClock();
      if (outcome === "open") pieces.pause();
    },
    resume() {
      if (!paused || outcome !== "open") return;
      paused = false;
      startClock();
      pieces.resume();
    },
    close: () => settle(aborted(where)),
  };
}
