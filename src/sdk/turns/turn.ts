import { deferred } from "../../async/promises.ts";
import { createGate } from "../../rpc/gate.ts";
import type { Turn } from "../api.ts";
import type { TurnEvent, TurnResult } from "../types.ts";
import { createBacklog } from "./backlog.ts";

/** A turn as its caller sees it, and how it is filled. */
export interface RunningTurn {
  readonly turn: Turn;
  /** An event, and how long the line was that it came in. */
  push(event: TurnEvent, characters: number): void;
  end(result: TurnResult): void;
  fail(error: unknown): void;
  /** What the backend should wait for, when more lies here than the caller takes. */
  hold(): Promise<void> | undefined;
  /** Somebody waits for its end: the backend is held up no more. */
  runOn(): void;
  readonly isSettled: boolean;
}

export const onceOnly = "The events of a turn can be taken once only.";

/** What may lie here before the backend is held up. */
const most = { events: 256, characters: 1024 * 1024 };
/** What is kept for one who has not begun to look. */
const mostUnseen = 16 * 1024 * 1024;

/**
 * Events wait here for the caller. One who iterates holds the backend up, unless something waits for the turn's end, within
 * the loop perhaps: then all events are kept, however many. While nobody iterates the turn runs, and what waits is let go as
 * soon as it is too much: sooner when the result was asked for, because one who only wants that needs no events.
 */
export function createTurn(id: string, interrupt: () => Promise<void>, abandoned: () => void): RunningTurn {
  const arrival = createGate();
  const room = createGate();
  const backlog = createBacklog();
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

  const isTooMuch = (): boolean => backlog.count > most.events || backlog.characters > most.characters;

  function runOn(): void {
    isEndAwaited = true;
    room.open();
  }

  function drop(): void {
    isDropped = true;
    backlog.clear();
  }

  async function next(): Promise<IteratorResult<TurnEvent, undefined>> {
    for (;;) {
      const event = backlog.take();
      if (event !== undefined) {
        if (!isTooMuch()) room.open();
        return { done: false, value: event };
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
        if (isDropped) throw new TypeError("The events are gone: there were too many before anybody asked for them.");
        isIterated = true;
        return { next, return: leave };
      },
    },
    get isSettled() {
      return isSettled;
    },
    push(event, characters) {
      if (isDropped) return;
      backlog.push(event, characters);
      if (!isIterated && (isResultWanted ? isTooMuch() : backlog.characters > mostUnseen)) drop();
      arrival.open();
    },
    end(value) {
      result.resolve(value);
      settle();
    },
    fail(error) {
      failure = { error };
      result.reject(error);
      settle();
    },
    runOn,
    hold: () => (isIterated && !isEndAwaited && !isSettled && isTooMuch() ? room.wait() : undefined),
  };
}
