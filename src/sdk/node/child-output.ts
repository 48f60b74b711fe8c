import type { Readable } from "node:stream";
import { createGate } from "../../rpc/gate.ts";
import type { ByteSource } from "../../rpc/stdio.ts";

export interface PulledOutput extends ByteSource {
  /** Whose output it is is gone. Another process may hold the pipe open: from now on, waiting for more has a limit. */
  writerGone(): void;
  /** Nobody wants the rest. It is still taken, so that the writer is not held up on its way to its end. */
  destroy(): void;
}

/** How much of the limit one wait may use up: a program that was busy itself has not been waiting all that time. */
const longestWait = 100;

/** What a process writes, taken from its pipe only when asked for, so that whoever reads slowly holds the process back. */
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
    // Timers come before the pipes' turn: after a pause of the whole program, what lies in the pipe shall be seen first.
    const timer = setTimeout(() => setImmediate(change.open), Math.min(patience, longestWait));
    await change.wait();
    clearTimeout(timer);
    patience -= Math.min(performance.now() - start, longestWait);
    if (patience <= 0) isOver = true;
  }

  // Also what keeps the stream from being emptied for nobody, which Node does when the process has exited.
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

/** Takes everything at once and keeps the last of it. */
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
    /** What came last, from the start of a character on. */
    text(): string {
      const kept = Buffer.concat(chunks);
      let start = Math.max(0, kept.length - maxBytes);
      if (isCut || start > 0) while (isInnerByte(kept[start])) start++;
      return kept.toString("utf8", start);
    },
    /** Resolves when nothing more comes. */
    closed: new Promise((resolve) => {
      stream.once("close", resolve);
    }),
  };
}

/** Whether a byte is one of a UTF-8 character, but not its first. */
function isInnerByte(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
