import { reindented } from "./reindent.ts";

/** A change at the only place where a text matches, ignoring indentation and runs of spaces. */
export interface LooseMatch {
  readonly from: number;
  readonly to: number;
  /** The new text, indented to match. */
  readonly substitute: string;
  /** Starts at 1. */
  readonly line: number;
}

/** `undefined` without a match, with several, or if the new text's indentation is unclear. */
export function looseMatch(
  text: string,
  wanted: string,
  newText: string,
  lineEndOf: (found: string) => string,
): LooseMatch | undefined {
  const file = condensed(text);
  const sought = condensed(wanted).text;
  if (sought.trim() === "") return undefined;
  const places = placesOf(file.text, sought);
  const [at] = places;
  if (at === undefined || places.length > 1) return undefined;
  const from = file.offsets[at] ?? 0;
  const to = (file.offsets[at + sought.length - 1] ?? text.length) + 1;
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const margin = text.slice(lineStart, from);
  const startsLine = margin.trim() === "";
  const place = text.slice(from, to);
  const found = startsLine ? margin + place : place;
  const substitute = reindented({ wanted, found, newText, startsLine, lineEnd: lineEndOf(place) });
  if (substitute === undefined || substitute === place) return undefined;
  return { from, to, substitute, line: text.slice(0, from).split("\n").length };
}

interface Condensed {
  readonly text: string;
  /** The position of each character in the original. */
  readonly offsets: Int32Array;
}

/** Trims the lines, and reduces white space within them to single spaces. */
function condensed(text: string): Condensed {
  const offsets = new Int32Array(text.length);
  let length = 0;
  let result = "";
  let lineStart = 0;
  const add = (part: string, from: number): void => {
    for (let place = 0; place < part.length; place += 1) offsets[length + place] = from + place;
    length += part.length;
    result += part;
  };
  while (lineStart <= text.length) {
    const feed = text.indexOf("\n", lineStart);
    const line = text.slice(lineStart, feed === -1 ? text.length : feed);
    const bare = line.trim();
    const from = lineStart + line.length - line.trimStart().length;
    if (!/[^\S ]| {2}/.test(bare)) add(bare, from);
    else for (const { 0: run, index } of bare.matchAll(/\s+|\S+/g)) add(run.trim() || " ", from + index);
    if (feed === -1) break;
    offsets[length] = feed;
    length += 1;
    result += "\n";
    lineStart = feed + 1;
  }
  return { text: result, offsets };
}

/** At most two positions, neither of which starts or ends within a word. */
function placesOf(text: string, sought: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(sought); at !== -1 && places.length < 2; at = text.indexOf(sought, at + 1)) {
    const end = at + sought.length;
    const cutsWord = [at, end].some((edge) => /^\w\w$/.test(text.slice(edge - 1, edge + 1)));
    if (!cutsWord) places.push(at);
  }
  return places;
}
