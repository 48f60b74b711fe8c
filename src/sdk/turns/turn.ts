import { deferred } from "../../async/promises.ts";
import { createGate } from "../../rpc/gate.ts";
import { createQueue } from "../../rpc/queue.ts";
import type { Turn } from "../api.ts";
import type { TurnEvent, TurnResult } from "../types.ts";

export const onceOnly = "A turn's events can be iterated only once.";

/** Queue limit before back-pressure. */
const most = { events: 256, characters: 1024 * 1024 };
/** Characters kept for a caller who has not begun to iterate. */
const mostUnseen = 16 * 1024 * 1024;

export type RunningTurn = ReturnType<typeof createTurn>;

/**
 * A turn as its caller sees it, and how it is filled. An iterator applies back-pressure, unless something waits for the
 * turn's end. Without one, excess events are dropped, sooner if `result` was used.
 */
export function createTurn(id: string, interrupt: () => Promise<void>, abandoned: () => void) {
  const arrival = createGate();
  const room = createGate();
  const waiting = createQueue<{ readonly event: TurnEvent; readonly characters: number }>();
  let waitingCharacters = 0;
  let isIterated = false;
  let isResultWanted = false;
  let isEndAwaited = false;
  let isDropped = false;
  let failure: { readonly error: unknown } | undefined;
  let isSettled = false;
  const result = deferred<TurnResult>();
  // The iterator throws it as well.
  result.promise.catch(() => {});

  function settle(): void {
    isSettled = true;
    arrival.open();
    room.open();
  }

  const isTooMuch = (): boolean => waiting.length > most.events || waitingCharacters > most.characters;

  function runOn(): void {
    isEndAwaited = true;
    room.open();
  }

  function drop(): void {
    isDropped = true;
    waiting.clear();
    waitingCharacters = 0;
  }

  async function next(): Promise<IteratorResult<TurnEvent, undefined>> {
    for (;;) {
      const next = waiting.shift();
      if (next !== undefined) {
        waitingCharacters -= next.characters;
        if (!isTooMuch()) room.open();
        return { done: false, value: next.event };
      }
      if (isDropped || (isSettled && failure === undefined)) return { done: true, value: undefined };
      if (failure !== undefined) {
        drop();
        throw failure.error;
      }
      await arrival.wait();
    }
  }

  async function leave(): Promise<IteratorResult<TurnEvent, undefined>> {
    const isEarly = !isSettled;
    drop();
    settle();
    if (isEarly) abandoned();
    return { done: true, value: undefined };
  }

  return {
    turn: {
      id,
      get result() {
        isResultWanted = true;
        runOn();
        return result.promise;
      },
      interrupt,
      [Symbol.asyncIterator]() {
        if (isIterated) throw new TypeError(onceOnly);
        if (isDropped) throw new TypeError("The events are gone: too many came before iteration began.");
        isIterated = true;
        return { next, return: leave };
      },
    } satisfies Turn,
    get isSettled() {
      return isSettled;
    },
    /** `characters`: the length of the line that the event came in. */
    push(event: TurnEvent, characters: number): void {
      if (isDropped) return;
      waiting.push({ event, characters });
      waitingCharacters += characters;
      if (!isIterated && (isResultWanted ? isTooMuch() : waitingCharacters > mostUnseen)) drop();
      arrival.open();
    },
    end(value: TurnResult): void {
      result.resolve(value);
      settle();
    },
    fail(error: unknown): void {
      failure = { error };
      result.reject(error);
      settle();
    },
    /** The backend is no longer held up, because something waits for the turn's end. */
    runOn,
    /** The promise that applies back-pressure while the queue is too long. */
    hold: () => (isIterated && !isEndAwaited && !isSettled && isTooMuch() ? room.wait() : undefined),
  };
}
