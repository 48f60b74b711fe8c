import type { Breathe } from "../pace.ts";
import { lenientKey, stretch } from "./patch-match.ts";

/** Limit for wanted lines to compare. */
const mostWanted = 200;
/** Limit for the wanted lines that one line of the file can match. */
const mostOffsets = 4;
const heaviestLine = 40;
/** For comparing word by word. */
const mostLines = 20_000;
const longestLine = 400;
const leastLikeness = 0.4;

/** The place most similar to lines that were not found, or `undefined`. Among equals, the first at or after `from`. */
export async function nearestPlace(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  breathe: Breathe,
): Promise<number | undefined> {
  return (await placeOfMostLines(lines, wanted, from, breathe)) ?? (await placeOfMostWords(lines, wanted, breathe));
}

/** By whole lines: each match votes for where the lines would start, longer lines more. */
async function placeOfMostLines(
  lines: readonly string[],
  wanted: readonly string[],
  from: number,
  breathe: Breathe,
): Promise<number | undefined> {
  const offsetsByKey = new Map<string, number[]>();
  for (const [offset, line] of wanted.slice(0, mostWanted).entries()) {
    const key = lenientKey(line);
    const offsets = offsetsByKey.get(key) ?? [];
    if (key !== "" && offsets.length < mostOffsets) offsetsByKey.set(key, [...offsets, offset]);
  }
  const weights = new Map<number, number>();
  for (const [place, line] of lines.entries()) {
    if (place % stretch === 0) await breathe();
    const key = lenientKey(line);
    for (const offset of offsetsByKey.get(key) ?? []) {
      const start = Math.max(0, place - offset);
      weights.set(start, (weights.get(start) ?? 0) + Math.min(key.length, heaviestLine));
    }
  }
  let best: { place: number; weight: number } | undefined;
  for (const [place, weight] of weights) {
    const isBetter = best === undefined || weight > best.weight;
    const isAhead = best !== undefined && weight === best.weight && best.place < from && place >= from;
    if (isBetter || isAhead) best = { place, weight };
  }
  return best?.place;
}

/** By the words of the longest line. */
async function placeOfMostWords(
  lines: readonly string[],
  wanted: readonly string[],
  breathe: Breathe,
): Promise<number | undefined> {
  const text = wanted.slice(0, mostWanted).reduce((a, b) => (b.trim().length > a.trim().length ? b : a), "");
  const words = wordsOf(text);
  if (words.size === 0) return undefined;
  let best: { place: number; likeness: number } | undefined;
  for (const [place, line] of lines.slice(0, mostLines).entries()) {
    if (place % 256 === 0) await breathe();
    const others = wordsOf(line);
    let common = 0;
    for (const word of others) if (words.has(word)) common += 1;
    const likeness = (2 * common) / (words.size + others.size);
    if (likeness >= leastLikeness && likeness > (best?.likeness ?? 0)) best = { place, likeness };
  }
  return best?.place;
}

function wordsOf(line: string): ReadonlySet<string> {
  return new Set(
    lenientKey(line.slice(0, longestLine))
      .toLowerCase()
      .match(/[\p{L}\p{N}_]+/gu) ?? [],
  );
}
