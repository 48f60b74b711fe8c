import { createGate } from "./gate.ts";
import type { Transport } from "./transport.ts";
import { defaultMaxWaiting } from "./transport.ts";

/** Where text goes, in the order of the calls. */
export interface TextSink {
  /** Resolves when the text has left. A sink that rejects is taken for gone. */
  write(text: string): Promise<void>;
  /** Aborted when nothing more can be written. */
  readonly gone: AbortSignal;
}

export type LineWriter = Pick<Transport, "send" | "room" | "drained" | "gone">;

/** The one writer of a sink: never two writes at a time, and what is sent during one goes out together in the next. */
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
      // Lines that are sent in one go shall be one write from the first on.
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
