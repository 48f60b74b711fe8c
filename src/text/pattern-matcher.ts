/** A part of a pattern in any notation. */
export type PatternPart =
  /** One character. */
  | { readonly type: "one"; test(character: string): boolean }
  /** Any number of characters, including none. */
  | { readonly type: "many"; test(character: string): boolean }
  | { readonly type: "either"; readonly choices: readonly (readonly PatternPart[])[] };

export function oneOf(character: string): PatternPart {
  return { type: "one", test: (candidate) => candidate === character };
}

/** Without `test`, continues at all of `next` without consuming a character. The last state is the end. */
interface State {
  readonly test?: (character: string) => boolean;
  readonly next: number[];
}

/** Appends the parts' states, which continue after the last of them. */
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
 * Whether a whole text matches. Follows all states at once, so time is bounded by the pattern's length times the text's.
 */
export function createMatcher(parts: readonly PatternPart[]): (text: string) => boolean {
  const states: State[] = [];
  assemble(parts, states);
  const end = states.length;
  /** The round in which a state was last reached, from 1. */
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
