import type { Frame } from "./framing.ts";
import { createGate } from "./gate.ts";

/** One end of a bidirectional line connection. */
export interface Transport {
  /**
   * Lines from the peer, until the peer ends; never throws. Reads at most one chunk ahead. Only one loop at a time; a new loop
   * continues where the last one stopped.
   */
  readonly incoming: AsyncIterable<Frame>;
  /** Sends a line (without a line feed) in order. Never throws. No effect once `gone`. */
  send(line: string): void;
  /** Back-pressure: `undefined` while the peer keeps up, otherwise resolves when it does again or is gone. */
  room(): Promise<void> | undefined;
  /** Resolves when all lines have been sent, or the peer is gone. */
  drained(): Promise<void>;
  /** Aborts when no more can be written, with the error as its reason. */
  readonly gone: AbortSignal;
}

/** Characters that can be queued before `room` asks the sender to wait. */
export const defaultMaxWaiting = 1024 * 1024;

/** An end of an in-memory connection. A line counts as sent when the other end has read it, so a slow reader slows the sender. */
export interface LinkedEnd extends Transport {
  /** Stops sending. The other end's `incoming` ends after the queued lines. */
  end(): void;
  /** Stops sending and reading, which aborts the other end's `gone`. */
  close(): void;
}

/** Two connected ends in one process. */
export function createLinkedPair({ maxWaiting = defaultMaxWaiting } = {}): readonly [LinkedEnd, LinkedEnd] {
  const there = createLane(maxWaiting);
  const back = createLane(maxWaiting);
  return [linkedEnd(there, back), linkedEnd(back, there)];
}

/** One direction of an in-memory connection. */
interface Lane {
  readonly frames: AsyncIterable<Frame>;
  abandon(): void;
  /** Queues a notice that a line was dropped. */
  tooLong(bytes: number): void;
  readonly sender: Omit<Transport, "incoming"> & { end(): void };
}

function linkedEnd(outgoing: Lane, incoming: Lane): LinkedEnd {
  return {
    ...outgoing.sender,
    incoming: incoming.frames,
    close() {
      outgoing.sender.end();
      incoming.abandon();
    },
  };
}

/**
 * A queue of lines: `sender` adds them, with back-pressure above `maxWaiting` characters, `frames` removes them, and `abandon`
 * drops them because the reader has left.
 */
export function createLane(maxWaiting = defaultMaxWaiting): Lane {
  const gone = new AbortController();
  const arrival = createGate();
  const roomAgain = createGate();
  const allTaken = createGate();
  let sent: Frame[] = [];
  let underWay: readonly Frame[] = [];
  let taken = 0;
  let waiting = 0;
  let isEnded = false;

  async function next(): Promise<IteratorResult<Frame, undefined>> {
    for (;;) {
      if (taken === underWay.length) {
        underWay = sent;
        sent = [];
        taken = 0;
      }
      const value = underWay[taken];
      if (value !== undefined) {
        taken++;
        waiting -= sizeOf(value);
        if (waiting <= maxWaiting) roomAgain.open();
        if (waiting === 0) allTaken.open();
        return { done: false, value };
      }
      if (isEnded) return { done: true, value: undefined };
      await arrival.wait();
    }
  }

  function put(frame: Frame): void {
    if (isEnded) return;
    sent.push(frame);
    waiting += sizeOf(frame);
    arrival.open();
  }

  function end(): void {
    isEnded = true;
    arrival.open();
  }

  return {
    frames: { [Symbol.asyncIterator]: () => ({ next }) } satisfies AsyncIterable<Frame>,
    tooLong: (bytes) => put({ type: "too_long", bytes }),
    abandon(): void {
      sent = [];
      underWay = [];
      taken = 0;
      waiting = 0;
      end();
      gone.abort(Object.assign(new Error("the peer is gone"), { code: "EPIPE" }));
      roomAgain.open();
      allTaken.open();
    },
    sender: {
      gone: gone.signal,
      end,
      send: (text) => put({ type: "line", text }),
      room: () => (waiting > maxWaiting ? roomAgain.wait() : undefined),
      drained: () => (waiting > 0 ? allTaken.wait() : Promise.resolve()),
    },
  };
}

function sizeOf(frame: Frame): number {
  return frame.type === "line" ? frame.text.length + 1 : 1;
}
