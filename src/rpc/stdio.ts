import type { Frame } from "./framing.ts";
import { createLineReader } from "./framing.ts";
import { createGate } from "./gate.ts";
import type { TextSink } from "./line-writer.ts";
import { createLineWriter } from "./line-writer.ts";
import type { Transport } from "./transport.ts";

/** A Node stream such as `process.stdin`, or any async iterable of bytes. */
export interface ByteSource extends AsyncIterable<Uint8Array> {
  on?(event: "error", listener: () => void): unknown;
  destroy?(): unknown;
}

interface StdioTransport extends Transport {
  /** Stops reading: `incoming` ends at once, and the source is released. Lines already sent still go out. */
  close(): void;
}

/**
 * Lines over a process's streams. Reads a chunk only after the reader has taken all frames of the previous one. A failed
 * source counts as ended.
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
    // Drop frames that arrive after close().
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
      // Free a long line before waiting.
      frames = [];
      taken = 0;
      if (isEnded) return { done: true, value: undefined };
      if (!isReading) read();
      await arrival.wait();
    }
  }

  // An error without a listener would end the process.
  source.on?.("error", () => {});

  return {
    ...createLineWriter(sink, options),
    incoming: { [Symbol.asyncIterator]: () => ({ next }) },
    close() {
      isEnded = true;
      frames = [];
      taken = 0;
      arrival.open();
      // A waiting generator handles `return` only after its next chunk. A stream can be destroyed at once.
      if (source.destroy !== undefined) source.destroy();
      else chunks.return?.().catch(() => {});
    },
  };
}
