import { createGate } from "./gate.ts";
import type { Transport } from "./transport.ts";
import { defaultMaxWaiting } from "./transport.ts";

/** Writes text in the order of the calls. */
export interface TextSink {
  /** Resolves when the text has been sent. A rejection means that the sink is gone. */
  write(text: string): Promise<void>;
  /** Aborts when no more can be written. */
  readonly gone: AbortSignal;
}

export type LineWriter = Pick<Transport, "send" | "room" | "drained" | "gone">;

/** A sink's only writer: one write at a time. Lines sent during a write go out together in the next one. */
export function createLineWriter(sink: TextSink, { maxWaiting = defaultMaxWaiting } = {}): LineWriter {
  const gone = new AbortController();
  const roomAgain = createGate();
  const allWritten = createGate();
  let waiting = "";
  let isWriting = false;

  function giveUp(reason: unknown): void {
    waiting = "";
    gone.abort(reason);
    roomAgain.open();
    allWritten.open();
  }

  async function writeWaiting(): Promise<void> {
    try {
      // Batch lines sent in the same tick, including the first.
      await Promise.resolve();
      while (waiting !== "") {
        const batch = waiting;
        waiting = "";
        roomAgain.open();
        await sink.write(batch);
      }
    } catch (error) {
      giveUp(error);
    }
    isWriting = false;
    allWritten.open();
  }

  if (sink.gone.aborted) giveUp(sink.gone.reason);
  else sink.gone.addEventListener("abort", () => giveUp(sink.gone.reason), { once: true });

  return {
    gone: gone.signal,
    send(line) {
      if (gone.signal.aborted) return;
      waiting += line;
      waiting += "\n";
      if (isWriting) return;
      isWriting = true;
      void writeWaiting();
    },
    room: () => (waiting.length > maxWaiting ? roomAgain.wait() : undefined),
    drained: () => (isWriting && !gone.signal.aborted ? allWritten.wait() : Promise.resolve()),
  };
}
