import type { Rest } from "./long-texts.ts";

/** `indexOf` takes linear time up to this length. For longer texts it can take the product of both lengths. */
const longestPlain = 250;
const stepLength = 256 * 1024;
/** Texts joined at once. */
const mostParts = 8192;

export interface Wanted {
  readonly wanted: string;
  /** Where to start. Default: 0. */
  readonly from?: number;
  /** Matches can overlap. Default: each search starts after the previous match. */
  readonly overlapping?: boolean;
}

/** Calls `found` with each place of a text, in order, until that returns `false`. Takes linear time for any texts. */
export async function eachMatch(
  text: string,
  { wanted, from = 0, overlapping = false }: Wanted,
  found: (place: number) => boolean,
  rest: Rest,
): Promise<void> {
  if (wanted.length <= longestPlain) return eachShortMatch(text, { wanted, from, overlapping }, found, rest);
  const borders = await bordersOf(wanted, rest);
  let same = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (same > 0 && code !== wanted.charCodeAt(same)) same = borders[same - 1] ?? 0;
    if (code === wanted.charCodeAt(same)) same += 1;
    if (same === wanted.length) {
      if (!found(at + 1 - wanted.length)) return;
      same = overlapping ? (borders[same - 1] ?? 0) : 0;
    }
    if (at % stepLength === 0) await rest();
  }
}

async function eachShortMatch(
  text: string,
  { wanted, from, overlapping }: Required<Wanted>,
  found: (place: number) => boolean,
  rest: Rest,
): Promise<void> {
  for (let at = from; at + wanted.length <= text.length; ) {
    const part = text.slice(at, at + stepLength + wanted.length - 1);
    let next = 0;
    for (let place = part.indexOf(wanted); place !== -1; place = part.indexOf(wanted, next)) {
      if (!found(at + place)) return;
      next = place + (overlapping ? 1 : wanted.length);
    }
    at += Math.max(next, part.length - wanted.length + 1);
    await rest();
  }
}

/** The failure table of Knuth, Morris and Pratt: per prefix, the length of its longest border. */
async function bordersOf(wanted: string, rest: Rest): Promise<Int32Array> {
  const borders = new Int32Array(wanted.length);
  let same = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    const code = wanted.charCodeAt(at);
    while (same > 0 && code !== wanted.charCodeAt(same)) same = borders[same - 1] ?? 0;
    if (code === wanted.charCodeAt(same)) same += 1;
    borders[at] = same;
    if (at % stepLength === 0) await rest();
  }
  return borders;
}

/** Like `text.replaceAll(wanted, () => substitute)`, in linear time. */
export async function replaceEach(text: string, wanted: string, substitute: string, rest: Rest): Promise<string> {
  const joined: string[] = [];
  let parts: string[] = [];
  let done = 0;
  const note = (place: number): boolean => {
    parts.push(text.slice(done, place), substitute);
    done = place + wanted.length;
    if (parts.length >= mostParts) {
      joined.push(parts.join(""));
      parts = [];
    }
    return true;
  };
  await eachMatch(text, { wanted }, note, rest);
  return joined.join("") + parts.join("") + text.slice(done);
}
