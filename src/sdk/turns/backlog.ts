import type { TurnEvent } from "../types.ts";

/** Events that wait to be taken, in their order. */
export interface Backlog {
  push(event: TurnEvent, characters: number): void;
  take(): TurnEvent | undefined;
  clear(): void;
  readonly count: number;
  /** Of the lines that they came in. */
  readonly characters: number;
}

interface Waiting {
  readonly event: TurnEvent;
  readonly characters: number;
}

/** So many empty places may be kept, or as many as there are others: those have to be moved to be rid of them. */
const mostEmpty = 256;

export function createBacklog(): Backlog {
  let waiting: (Waiting | undefined)[] = [];
  let taken = 0;
  let characters = 0;
  return {
    push(event, more) {
      waiting.push({ event, characters: more });
      characters += more;
    },
    take() {
      const next = waiting[taken];
      if (next === undefined) return undefined;
      // It may be long, and its place is kept for a while.
      waiting[taken] = undefined;
      taken += 1;
      characters -= next.characters;
      if (taken === waiting.length || (taken > mostEmpty && taken * 2 > waiting.length)) {
        waiting = waiting.slice(taken);
        taken = 0;
      }
      return next.event;
    },
    clear() {
      waiting = [];
      taken = 0;
      characters = 0;
    },
    get count() {
      return waiting.length - taken;
    },
    get characters() {
      return characters;
    },
  };
}
