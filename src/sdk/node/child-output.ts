import type { Readable } from "node:stream";
import { createGate } from "../../rpc/gate.ts";
import type { ByteSource } from "../../rpc/stdio.ts";

interface PulledOutput extends ByteSource {
  /** The process has exited. Another one may hold the pipe open, so waiting is limited from now on. */
  writerGone(): void;
  /** Discards the rest, so that the writer is not blocked. */
  destroy(): void;
}

/** Limit for one wait; time when this program was busy does not count. */
const longestWait = 100;

/** Reads a process's output only on demand, so that a slow reader holds the process back. */
export function pullOutput(stream: Readable, patienceMs: number): PulledOutput {
  const change = createGate();
  let patience = Number.POSITIVE_INFINITY;
  let isOver = false;
  let isUnwanted = false;

  function discard(): void {
    while (stream.read() !== null);
  }

  async function next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk: Uint8Array | null = stream.read();
      if (chunk !== null) return { done: false, value: chunk };
      if (isOver || stream.readableEnded || stream.destroyed) return { done: true, value: undefined };
      if (patience === Number.POSITIVE_INFINITY) await change.wait();
      else await waitPatiently();
    }
  }

  async function waitPatiently(): Promise<void> {
    const start = performance.now();
    // Timers run before pipes: after a pause of this program, data in the pipe must be seen first.
    const timer = setTimeout(() => setImmediate(change.open), Math.min(patience, longestWait));
    await change.wait();
    clearTimeout(timer);
    patience -= Math.min(performance.now() - start, longestWait);
    if (patience <= 0) isOver = true;
  }

  // Also keeps Node from draining the stream when the process exits.
  stream.on("readable", () => (isUnwanted ? discard() : change.open()));
  for (const event of ["end", "close", "error"]) stream.on(event, change.open);

  return {
    [Symbol.asyncIterator]: () => ({ next }),
    writerGone() {
      patience = patienceMs;
      change.open();
    },
    destroy() {
      isUnwanted = true;
      isOver = true;
      change.open();
      discard();
    },
  };
}

/** Reads everything at once and keeps the end. */
export function keepTail(stream: Readable, maxBytes: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isCut = false;
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    for (let first = chunks[0]; first !== undefined && bytes - first.length >= maxBytes; first = chunks[0]) {
      chunks.shift();
      bytes -= first.length;
      isCut = true;
    }
  });
  return {
    /** The end of the output, starting at a whole character. */
    text(): string {
      const kept = Buffer.concat(chunks);
      let start = Math.max(0, kept.length - maxBytes);
      if (isCut || start > 0) while (isInnerByte(kept[start])) start++;
      return kept.toString("utf8", start);
    },
    closed: new Promise((resolve) => {
      stream.once("close", resolve);
    }),
  };
}

/** Whether a byte continues a UTF-8 character. */
function isInnerByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
