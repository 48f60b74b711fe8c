import { type Breathe, createPace } from "../pace.ts";

/** Limits the work of one patch, whatever its files. */
export interface Budget {
  /** Throws when the limit is reached. */
  spend(steps: number): void;
  readonly breathe: Breathe;
}

const mostSteps = 200_000_000;

/** Lines compared before yielding. */
export const stretch = 4096;
/** Line numbers compared before yielding. */
const mostUnrested = 1_000_000;

export function createBudget(breathe: Breathe = createPace()): Budget {
  let left = mostSteps;
  return {
    breathe,
    spend(steps) {
      left -= steps;
      if (left < 0)
        throw new Error(
          "it needs too much searching, because its lines repeat too often or its files are too large. Send a smaller patch, with context lines that are rare in the file.",
        );
    },
  };
}

/** Finds lines in a file. */
export interface Finder {
  /**
   * The first match at or after `from`; with `atEnd`, only at the end of the file. Exact matches win over different
   * white space, and those over different typography.
   */
  find(wanted: readonly string[], from: number, atEnd: boolean): Promise<number | undefined>;
}

/** From strict to lenient: lines are equal if their keys are. */
const keys: readonly ((line: string) => string)[] = [
  (line) => (line.endsWith("\r") ? line.slice(0, -1) : line),
  (line) => line.trimEnd(),
  (line) => line.trim(),
  lenientKey,
];

const typography: readonly (readonly [RegExp, string])[] = [
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/[\u2018-\u201b]/g, "'"],
  [/[\u201c-\u201f]/g, '"'],
  [/[\u00a0\u2002-\u200a\u202f\u205f\u3000]/g, " "],
];

/** Longer lines are not typed by hand, and replacing in them takes long. */
const longestLenient = 100_000;

/** A line without surrounding white space, and with plain quotes, dashes and spaces. */
export function lenientKey(line: string): string {
  let key = line.trim();
  // Nearly all lines are plain and need no replacement.
  if (key.length > longestLenient || !/[\u00a0\u2000-\u3000]/.test(key)) return key;
  for (const [pattern, plain] of typography) key = key.replace(pattern, plain);
  return key;
}

export function createFinder(lines: readonly string[], budget: Budget): Finder {
  const indexes: (LineIndex | undefined)[] = [];
  return {
    async find(wanted, from, atEnd) {
      for (const [level, key] of keys.entries()) {
        const index = indexes[level] ?? (await createIndex(lines, key, budget));
        indexes[level] = index;
        const place = await index.find(wanted.map(key), from, atEnd);
        if (place !== undefined) return place;
      }
      return undefined;
    },
  };
}

interface LineIndex {
  find(wanted: readonly string[], from: number, atEnd: boolean): Promise<number | undefined>;
}

/**
 * Numbers each distinct line and indexes its positions, so that a search tries only the positions of its rarest line.
 */
async function createIndex(
  lines: readonly string[],
  key: (line: string) => string,
  budget: Budget,
): Promise<LineIndex> {
  const ids = new Map<string, number>();
  const idAt = new Int32Array(lines.length);
  let characters = lines.length;
  for (const [place, line] of lines.entries()) {
    const text = key(line);
    const id = ids.get(text) ?? ids.size;
    if (id === ids.size) ids.set(text, id);
    idAt[place] = id;
    characters += line.length;
    if (place % stretch === 0) await budget.breathe();
  }
  budget.spend(characters);
  /** The positions of line `id`: `places[firsts[id]]` up to `places[firsts[id + 1]]`. */
  const firsts = new Int32Array(ids.size + 1);
  for (const id of idAt) firsts[id + 1] = (firsts[id + 1] ?? 0) + 1;
  for (let id = 0; id < ids.size; id += 1) firsts[id + 1] = (firsts[id + 1] ?? 0) + (firsts[id] ?? 0);
  const filled = firsts.slice();
  const places = new Int32Array(lines.length);
  for (const [place, id] of idAt.entries()) {
    const slot = filled[id] ?? 0;
    places[slot] = place;
    filled[id] = slot + 1;
    if (place % stretch === 0) await budget.breathe();
  }

  let unrested = 0;
  const stands = (wanted: Int32Array, at: number): boolean => {
    let same = 0;
    while (same < wanted.length && idAt[at + same] === wanted[same]) same += 1;
    budget.spend(same + 1);
    unrested += same + 1;
    return same === wanted.length;
  };

  /** The first of the positions from `low` to `high` that is at or after `place`. */
  const slotFrom = (place: number, low: number, high: number): number => {
    let [start, end] = [low, high];
    while (start < end) {
      const middle = (start + end) >>> 1;
      if ((places[middle] ?? 0) < place) start = middle + 1;
      else end = middle;
    }
    return start;
  };

  return {
    async find(texts, from, atEnd) {
      const wanted = new Int32Array(texts.length);
      let rarest = { offset: 0, low: 0, high: Number.POSITIVE_INFINITY };
      for (const [offset, text] of texts.entries()) {
        const id = ids.get(text);
        if (id === undefined) return undefined;
        wanted[offset] = id;
        const [low, high] = [firsts[id] ?? 0, firsts[id + 1] ?? 0];
        if (high - low < rarest.high - rarest.low) rarest = { offset, low, high };
      }
      const last = lines.length - texts.length;
      if (atEnd) return last >= from && stands(wanted, last) ? last : undefined;
      const { offset, low, high } = rarest;
      for (let slot = slotFrom(from + offset, low, high); slot < high; slot += 1) {
        const place = (places[slot] ?? 0) - offset;
        if (stands(wanted, place)) return place;
        if (unrested > mostUnrested) {
          unrested = 0;
          await budget.breathe();
        }
      }
      return undefined;
    },
  };
}
