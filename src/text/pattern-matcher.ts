/** A part of a pattern, whatever notation it was written in. */
export type PatternPart =
  /** One character. */
  | { readonly type: "one"; test(character: string): boolean }
  /** Any number of characters, none included. */
  | { readonly type: "many"; test(character: string): boolean }
  | { readonly type: "either"; readonly choices: readonly (readonly PatternPart[])[] };

export function oneOf(character: string): PatternPart {
  return { type: "one", test: (candidate) => candidate === character };
}

/** Without `test` it goes on at all of `next`, without taking a character. The last state is the end. */
interface State {
  readonly test?: (character: string) => boolean;
  readonly next: number[];
}

/** Adds the states of the parts, which begin at the next free index and go on behind the last of them. */
function assemble(parts: readonly PatternPart[], states: State[]): void {
  for (const part of parts) {
    const start = states.length;
    if (part.type === "one") states.push({ test: part.test, next: [start + 1] });
    else if (part.type === "many") states.push({ next: [start + 1, start + 2] }, { test: part.test, next: [start] });
    else assembleChoices(part.choices, states);
  }
}

function assembleChoices(choices: readonly (readonly PatternPart[])[], states: State[]): void {
  const fork: State = { next: [] };
  states.push(fork);
  const ends: State[] = [];
  for (const choice of choices) {
    fork.next.push(states.length);
    assemble(choice, states);
    const end: State = { next: [] };
    states.push(end);
    ends.push(end);
  }
  for (const end of ends) end.next.push(states.length);
}

/**
 * Tells whether a whole text matches. All readings of the pattern are followed at once, so that time grows with the length
 * of the pattern times that of the text, and no faster.
 */
export function createMatcher(parts: readonly PatternPart[]): (text: string) => boolean {
  const states: State[] = [];
  assemble(parts, states);
  const end = states.length;
  /** In which round a state was reached last, counted from 1. */
  const reached = new Uint32Array(end + 1);
  const waiting: number[] = [];
  let round = 0;

  function reach(from: number, into: State[]): void {
    for (let at: number | undefined = from; at !== undefined; at = waiting.pop()) {
      if (reached[at] === round) continue;
      reached[at] = round;
      const state = states[at];
      if (state === undefined) continue;
      if (state.test !== undefined) into.push(state);
      else for (const next of state.next) waiting.push(next);
    }
  }

  return (text) => {
    reached.fill(0);
    round = 1;
    let now: State[] = [];
    let then: State[] = [];
    reach(0, now);
    for (const character of text) {
      round += 1;
      then.length = 0;
      for (const state of now) {
        const next = state.next[0];
        if (next !== undefined && reached[next] !== round && state.test?.(character)) reach(next, then);
      }
      if (then.length === 0 && reached[end] !== round) return false;
      [now, then] = [then, now];
    }
    return reached[end] === round;
  };
}
