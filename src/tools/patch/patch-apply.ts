import { joinTexts, splitLines } from "../../async/long-texts.ts";
import type { PatchHunk } from "../../text/patch-parse.ts";
import { textStart } from "../../text/text-cut.ts";
import type { Breathe } from "../pace.ts";
import { type Budget, createFinder, type Finder } from "./patch-match.ts";
import { nearestPlace } from "./patch-nearest.ts";

const mostLines = 1_000_000;
const shownWanted = 20;
const shownNearest = 5;
const shownCharacters = 160;

/** Throws an error with a message for the model if a hunk does not fit. Keeps line ends and a byte order mark. */
export async function applyHunks(text: string, hunks: readonly PatchHunk[], budget: Budget): Promise<string> {
  budget.spend(text.length);
  await budget.breathe();
  const file = await splitText(text, budget.breathe);
  const finder = createFinder(file.lines, budget);
  const result: string[] = [];
  const appended: string[] = [];
  let done = 0;
  for (const [index, hunk] of hunks.entries()) {
    const name = nameOf(hunk, index, hunks.length);
    const placed = await placeHunk(hunk, { file, finder, from: done, name, breathe: budget.breathe });
    if (placed.at === undefined) {
      for (const line of placed.lines) appended.push(line.slice(1) + file.lineEnd);
      continue;
    }
    while (done < placed.at) result.push(file.lines[done++] ?? "");
    for (const line of placed.lines) {
      if (line.startsWith("+")) result.push(line.slice(1) + file.lineEnd);
      // Keeps the file's own line, because the patch's context can differ in white space.
      else if (line.startsWith(" ")) result.push(file.lines[done++] ?? "");
      else done += 1;
    }
  }
  while (done < file.lines.length) result.push(file.lines[done++] ?? "");
  for (const line of appended) result.push(line);
  return joinText(file, result, budget.breathe);
}

interface FileText {
  readonly mark: string;
  /** Without line feeds; a carriage return before one is part of the line. */
  readonly lines: readonly string[];
  /** The character that a new line needs before its line feed. */
  readonly lineEnd: "" | "\r";
  readonly hasFinalNewline: boolean;
}

async function splitText(text: string, breathe: Breathe): Promise<FileText> {
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const lines = await splitLines(text.slice(mark.length), breathe);
  const last = lines.pop() ?? "";
  if (lines.length > mostLines) throw new Error(`it has more than ${mostLines} lines. Use Execute for such a change.`);
  const returns = lines.reduce((count, line) => count + (line.endsWith("\r") ? 1 : 0), 0);
  const lineEnd = returns * 2 > lines.length ? "\r" : "";
  const hasFinalNewline = last === "";
  if (!hasFinalNewline) lines.push(last + lineEnd);
  return { mark, lines, lineEnd, hasFinalNewline };
}

async function joinText(
  { mark, lineEnd, hasFinalNewline }: FileText,
  lines: readonly string[],
  breathe: Breathe,
): Promise<string> {
  if (lines.length === 0) return mark;
  const text = `${mark}${await joinTexts(lines, "\n", breathe)}`;
  if (hasFinalNewline) return `${text}\n`;
  return lineEnd !== "" && text.endsWith(lineEnd) ? text.slice(0, -1) : text;
}

interface Place {
  readonly file: FileText;
  readonly finder: Finder;
  /** The end of the previous hunk. */
  readonly from: number;
  readonly name: string;
  readonly breathe: Breathe;
}

interface Placed {
  /** `undefined`: past the end. */
  readonly at: number | undefined;
  readonly lines: readonly string[];
}

async function placeHunk(hunk: PatchHunk, place: Place): Promise<Placed> {
  const { finder, from } = place;
  const header = await findHeaders(hunk, place);
  // A hunk can repeat its header as context, or name the function that the previous hunk was in.
  const starts = header === undefined ? [from] : [header.below, ...(header.at === undefined ? [] : [header.at])];
  if (header?.isAbove) starts.push(from);
  for (const lines of [hunk.lines, withoutOuterBlanks(hunk.lines)]) {
    const wanted = oldSide(lines);
    if (wanted.length === 0) return { at: hunk.atEnd || header === undefined ? undefined : header.below, lines };
    for (const start of starts) {
      const at = await finder.find(wanted, start, hunk.atEnd);
      if (at !== undefined) return { at, lines };
    }
  }
  const where = hunk.atEnd ? "at the end of the file" : from === 0 ? "in the file" : `from line ${from + 1} on`;
  throw await misfit(`These lines were not found ${where}`, oldSide(hunk.lines), place);
}

interface FoundHeader {
  /** `undefined` if it occurs only above, where an earlier hunk was. */
  readonly at: number | undefined;
  readonly below: number;
  /** Whether it occurs above, perhaps also. */
  readonly isAbove: boolean;
}

async function findHeaders(hunk: PatchHunk, place: Place): Promise<FoundHeader | undefined> {
  const { finder, from } = place;
  let found: FoundHeader | undefined;
  for (const header of hunk.headers) {
    const below = found?.below ?? from;
    const at = await finder.find([header], below, false);
    const above = from === 0 ? undefined : await finder.find([header], 0, false);
    const isAbove = above !== undefined && above < from;
    if (at === undefined && !(isAbove && oldSide(hunk.lines).length > 0))
      throw await misfit(`This line after @@ was not found from line ${below + 1} on`, [header], place);
    found = { at, below: at === undefined ? below : at + 1, isAbove };
  }
  return found;
}

function oldSide(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !line.startsWith("+")).map((line) => line.slice(1));
}

/** Blank lines around a hunk can be mere separators. */
function withoutOuterBlanks(lines: readonly string[]): readonly string[] {
  let [start, end] = [0, lines.length];
  while (start < end && isBlankContext(lines[start])) start += 1;
  while (end > start && isBlankContext(lines[end - 1])) end -= 1;
  return lines.slice(start, end);
}

function isBlankContext(line: string | undefined): boolean {
  return line?.startsWith(" ") === true && line.trim() === "";
}

function nameOf(hunk: PatchHunk, index: number, count: number): string {
  return `hunk ${index + 1} of ${count} (line ${hunk.patchLine} of the patch)`;
}

async function misfit(intro: string, wanted: readonly string[], place: Place): Promise<Error> {
  const { file, from, name } = place;
  const left = wanted.length - shownWanted;
  const shown = wanted.slice(0, shownWanted).map((line) => `  ${cut(line)}`);
  if (left > 0) shown.push(`  (and ${left} more lines)`);
  const nearest = await nearestPlace(file.lines, wanted, from, place.breathe);
  const words = [`${name} does not fit. ${intro}:`, ...shown];
  if (nearest === undefined) words.push("Nothing in the file is similar.");
  else {
    const order =
      nearest < from ? ", above the end of the hunk before it (hunks must be in the order of the file)" : "";
    words.push(`The most similar place is line ${nearest + 1}${order}:`);
    const lines = file.lines.slice(nearest, nearest + Math.min(wanted.length, shownNearest));
    words.push(...lines.map((line, index) => `${nearest + index + 1}  ${cut(line)}`));
  }
  return new Error(words.join("\n"));
}

function cut(line: string): string {
  const text = line.replace(/\r$/, "");
  return text.length > shownCharacters ? `${textStart(text, shownCharacters)}…` : text;
}
