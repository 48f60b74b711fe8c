import type { ClientRequest, IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { after } from "./after.ts";
import { type Coding, createDecompressor } from "./decompress.ts";
import { aborted, brokenOff, exchangeFailure, timedOut } from "./failure.ts";
import { NetworkError } from "./network-error.ts";
import { onAbort } from "./on-abort.ts";

/** Who takes the pieces. After `end` or `fail` nothing more is called. */
export interface Sink {
  piece(bytes: Uint8Array): void;
  end(): void;
  fail(error: NetworkError): void;
}

export interface Body {
  /** There is none by the rules of HTTP (`HEAD`, 204, 304). */
  readonly empty: boolean;
  /** Starts the flow; once. What happened before is told now. */
  flowTo(sink: Sink): void;
  pause(): void;
  resume(): void;
  /** Closes the socket unless the body came to its end. */
  close(): void;
}

export interface BodyParts {
  readonly request: ClientRequest;
  readonly response: IncomingMessage;
  readonly empty: boolean;
  readonly coding: Coding | undefined;
  readonly signal: AbortSignal | undefined;
  /** A server may send its headers at once and think then: `firstByteMs` counts until the first piece. */
  readonly timeouts: { readonly firstByteMs: number; readonly idleMs: number };
  readonly where: string;
}

const inTheMiddle = "in the middle of the answer";

export function openBody(parts: BodyParts): Body {
  const { request, response, empty, coding, signal, timeouts, where } = parts;
  let outcome: "open" | "ended" | NetworkError = "open";
  let sink: Sink | undefined;
  let batch: Uint8Array[] = [];
  let pieces: Readable = response;
  let paused = false;
  let hasBegun = false;
  let timer: NodeJS.Timeout | undefined;

  const tell = () => {
    if (sink === undefined || outcome === "open") return;
    if (outcome === "ended") sink.end();
    else sink.fail(outcome);
  };
  const settle = (result: "ended" | NetworkError) => {
    if (outcome !== "open") return;
    // What came before the end is the reader's, unless it was the reader who stopped.
    if (result === "ended" || result.kind !== "aborted") handOver();
    outcome = result;
    stopClock();
    stopListening();
    // An answer that came before the request was sent whole, or goes on after its end, leaves a connection that nobody can use again.
    if (result !== "ended" || !request.writableFinished || !response.complete) request.destroy();
    if (result !== "ended") pieces.destroy();
    tell();
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
          settle(timedOut("idle_timeout", `${where} went silent: no more of its answer came`, idleMs)),
        )
      : after(firstByteMs, () =>
          settle(timedOut("first_byte_timeout", `${where} sent headers, but no answer`, firstByteMs)),
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
      // The parser gives out one by one the chunks that the sender made; what the socket read at once is handed over at once.
      if (batch.push(bytes) > 1) return;
      noteBytes();
      process.nextTick(handOver);
    });
    source.on("end", () => settle("ended"));
    if (paused) source.pause();
    else startClock();
  };
  const undecodable = (error: unknown): NetworkError =>
    new NetworkError("malformed", `The answer of ${where} could not be decompressed: ${String(error)}`);
  const flowDecompressed = async (how: Coding) => {
    const decompressor = await createDecompressor(how, response);
    decompressor.on("error", () => {
      settle(new NetworkError("malformed", `The answer of ${where} is not compressed as it says.`));
    });
    pieces = decompressor;
    if (outcome !== "open") {
      decompressor.destroy();
      return;
    }
    flow(decompressor);
    // Bytes that arrive are a sign of life, also while they do not yet amount to a piece.
    response.on("data", noteBytes);
    response.pipe(decompressor);
  };

  if (empty) {
    response.on("end", () => settle("ended"));
    response.resume();
  }

  return {
    empty,
    flowTo(taker) {
      sink = taker;
      if (outcome !== "open") return tell();
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
