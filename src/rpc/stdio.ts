import type { Frame } from "./framing.ts";
import { createLineReader } from "./framing.ts";
import { createGate } from "./gate.ts";
import type { TextSink } from "./line-writer.ts";
import { createLineWriter } from "./line-writer.ts";
import type { Transport } from "./transport.ts";

/** Where bytes come from: a Node stream such as `process.stdin`, or anything that can be iterated. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  on?(event: "error", listener: () => void): unknown;
  destroy?(): unknown;
}

export interface StdioTransport extends Transport {
  /** Reads no more: `incoming` ends at once, and the source is let go. What was sent still leaves. */
  close(): void;
}

/**
 * Lines over a process's streams. The source is read only when the reader has taken all frames of the last chunk; a source
 * that fails has ended.
 */
export function createStdioTransport(
  source: ByteSource,
  sink: TextSink,
  options: { maxLineBytes?: number; maxWaiting?: number } = {},
): StdioTransport {
  const lines = createLineReader(options);
  const chunks = source[Symbol.asyncIterator]();
  const arrival = createGate();
  let frames: readonly Frame[] = [];
  let taken = 0;
  let isReading = false;
  let isEnded = false;

  function arrived(newFrames: readonly Frame[]): void {
    isReading = false;
    // What comes after close() is nobody's any more.
    if (!isEnded) frames = newFrames;
    arrival.open();
  }

  function ended(): void {
    arrived(lines.end());
    isEnded = true;
  }

  function read(): void {
    isReading = true;
    chunks.next().then((chunk) => (chunk.done === true ? ended() : arrived(lines.push(chunk.value))), ended);
  }

  async function next(): Promise<IteratorResult<Frame, undefined>> {
    for (;;) {
      const frame = frames[taken];
      if (frame !== undefined) {
        taken++;
        return { done: false, value: frame };
      }
      // A long line shall not stay in memory while nothing more comes.
      frames = [];
      taken = 0;
      if (isEnded) return { done: true, value: undefined };
      if (!isReading) read();
      await arrival.wait();
    }
  }

  // A stream that fails while nobody reads it would otherwise end the process.
  source.on?.("error", () => {});

  return {
    ...createLineWriter(sink, options),
    incoming: { [Symbol.asyncIterator]: () => ({ next }) },
    close() {
      isEnded = true;
      frames = [];
      taken = 0;
      arrival.open();
      // A generator that waits for its next chunk hears of `return` only afterwards; a stream can be told at once.
      if (source.destroy !== undefined) source.destroy();
      else chunks.return?.().catch(() => {});
    },
  };
}
