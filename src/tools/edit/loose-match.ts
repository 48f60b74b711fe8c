import { eachMatch } from "../../async/find-text.ts";
import type { Breathe } from "../pace.ts";
import { reindented } from "./reindent.ts";

/** A change at the only place where a text matches, ignoring indentation and runs of spaces. */
interface LooseMatch {
  readonly from: number;
  readonly to: number;
  /** The new text, indented to match. */
  readonly substitute: string;
  /** Starts at 1. */
  readonly line: number;
}

interface Seeking {
  readonly text: string;
  readonly wanted: string;
  readonly newText: string;
  lineEndOf(found: string): string;
}

/** `undefined` without a match, with several, or if the new text's indentation is unclear. */
export async function looseMatch(seeking: Seeking, breathe: Breathe): Promise<LooseMatch | undefined> {
  const { text, wanted, newText, lineEndOf } = seeking;
  const sought = (await condensed(wanted, breathe)).text;
  if (sought.trim() === "") return undefined;
  const file = await condensed(text, breathe);
  const places = await placesOf(file.text, sought, breathe);
  const [at] = places;
  if (at === undefined || places.length > 1) return undefined;
  const from = file.offsets[at] ?? 0;
  const to = (file.offsets[at + sought.length - 1] ?? text.length) + 1;
  const lineStart = text.lastIndexOf("\n", from - 1) + 1;
  const margin = text.slice(lineStart, from);
  const startsLine = margin.trim() === "";
  const place = text.slice(from, to);
  const found = startsLine ? margin + place : place;
  await breathe();
  const substitute = reindented({ wanted, found, newText, startsLine, lineEnd: lineEndOf(place) });
  if (substitute === undefined || substitute === place) return undefined;
  return { from, to, substitute, line: text.slice(0, from).split("\n").length };
}

/** Characters handled before yielding. */
const mostAtOnce = 16_384;

interface Condensed {
  readonly text: string;
  /** The position of each character in the original. */
  readonly offsets: Int32Array;
}

/** Trims the lines, and reduces white space within them to single spaces. */
async function condensed(text: string, breathe: Breathe): Promise<Condensed> {
  const offsets = new Int32Array(text.length);
  let length = 0;
  let result = "";
  let lineStart = 0;
  let rested = 0;
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
    else {
      for (const { 0: run, index } of bare.matchAll(/\s+|\S+/g)) {
        add(run.trim() || " ", from + index);
        if (length - rested > mostAtOnce) {
          rested = length;
          await breathe();
        }
      }
    }
    if (feed === -1) break;
    offsets[length] = feed;
    length += 1;
    result += "\n";
    lineStart = feed + 1;
    if (length - rested > mostAtOnce) {
      rested = length;
      await breathe();
    }
  }
  return { text: result, offsets };
}

/** At most two positions, neither of which starts or ends within a word. */
async function placesOf(text: string, sought: string, breathe: Breathe): Promise<readonly number[]> {
  const places: number[] = [];
  const note = (at: number): boolean => {
    const edges = [at, at + sought.length];
    if (!edges.some((edge) => /^\w\w$/.test(text.slice(edge - 1, edge + 1)))) places.push(at);
    return places.length < 2;
  };
  await eachMatch(text, { wanted: sought, overlapping: true }, note, breathe);
  return places;
}
