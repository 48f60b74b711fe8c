import type { Frame } from "./framing.ts";
import { createGate } from "./gate.ts";

/** One end of a connection that carries lines both ways. */
export interface Transport {
  /**
   * What the other side sends, until it sends no more; never throws. Nothing is read ahead of the reader but what came in
   * one piece. One loop at a time; after one that was left early the next goes on where it stopped.
   */
  readonly incoming: AsyncIterable<Frame>;
  /** Sends a line, given without its end, after all lines before it. Never throws; without effect once `gone`. */
  send(line: string): void;
  /** `undefined` while the other side keeps up; otherwise resolves when it does again, or is gone. */
  room(): Promise<void> | undefined;
  /** Resolves when everything that was sent has left, or the other side is gone. */
  drained(): Promise<void>;
  /** Aborted when nothing more can be written, with the error as its reason. */
  readonly gone: AbortSignal;
}

/** How many characters may wait to be taken before a sender is asked to wait. */
export const defaultMaxWaiting = 1024 * 1024;

/** An end of a connection in memory. A line has left when the other end has taken it: not to read holds the sender up. */
export interface LinkedEnd extends Transport {
  /** Nothing more is sent: the other end's `incoming` ends after what is under way. */
  end(): void;
  /** Ends, and takes nothing more either: the other end is told that nobody reads. */
  close(): void;
}

/** Two ends in one process, each the other's other side. */
export function createLinkedPair({ maxWaiting = defaultMaxWaiting } = {}): readonly [LinkedEnd, LinkedEnd] {
  const there = createLane(maxWaiting);
  const back = createLane(maxWaiting);
  return [linkedEnd(there, back), linkedEnd(back, there)];
}

/** One direction of a connection in memory. */
export interface Lane {
  readonly frames: AsyncIterable<Frame>;
  abandon(): void;
  /** Puts in the report of a line that was not kept. */
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
 * Lines that wait to be taken: `sender` puts them in and is asked to wait when they are more than `maxWaiting` characters,
 * `frames` takes them out, and `abandon` forgets them because nobody will.
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
      gone.abort(Object.assign(new Error("the other side is gone"), { code: "EPIPE" }));
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
