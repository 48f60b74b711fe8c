import { jsonBytes, outputLimit } from "../core/output.ts";

export interface DiffLine {
  readonly type: "removed" | "added" | "unchanged";
  readonly content: string;
  /** Counted from 1. */
  readonly lineNumber: { readonly old?: number; readonly new?: number };
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** As in a unified diff: the first character says what the line is. */
  readonly lines: readonly string[];
}

const contextLines = 3;
/** The time of a diff grows with the square of this. */
const mostEdits = 2000;
const wholeContentBytes = 20 * 1024;
const diffBudget = 14_000;
const spaceForRest = 1000;

/** The result of an edit as existing clients read it: a JSON text, small enough to reach them uncut. */
export async function editReport(path: string, before: string, after: string): Promise<string> {
  const hunks = await diffHunks(before, after);
  const lines = hunks.flat();
  const shown: DiffLine[] = [];
  let used = 0;
  for (const line of lines) {
    used += nestedBytes(line);
    if (used > diffBudget) break;
    shown.push(line);
  }
  const missing = lines.length - shown.length;
  const region = Buffer.byteLength(after) <= wholeContentBytes ? after : hunks.map(newSide).join("\n[...]\n");
  const content = cutTo(region, outputLimit - spaceForRest - jsonBytes(path) - Math.min(used, diffBudget));
  const notes: string[] = [];
  if (missing > 0) notes.push(`${missing} more lines of the diff are left out.`);
  if (content !== after) notes.push("content is only the changed part of the file.");
  return JSON.stringify({
    file_path: path,
    diffLines: shown,
    content,
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
  });
}

/** The changes with three lines around each, one list for each place. */
export async function diffHunks(before: string, after: string): Promise<readonly (readonly DiffLine[])[]> {
  return (await hunksOf(before, after)).map(diffLinesOf);
}

async function hunksOf(before: string, after: string): Promise<readonly Hunk[]> {
  const { structuredPatch } = await import("diff");
  const patch = structuredPatch("", "", before, after, "", "", { context: contextLines, maxEditLength: mostEdits });
  return patch?.hunks ?? [coarseHunk(before.split("\n"), after.split("\n"))];
}

/** Everything between the first and the last change, taken as one. */
function coarseHunk(before: readonly string[], after: readonly string[]): Hunk {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && before[head] === after[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const start = Math.max(0, head - contextLines);
  const lines = [
    ...before.slice(start, head).map((line) => ` ${line}`),
    ...before.slice(head, before.length - tail).map((line) => `-${line}`),
    ...after.slice(head, after.length - tail).map((line) => `+${line}`),
  ];
  return { oldStart: start + 1, newStart: start + 1, lines };
}

function diffLinesOf(hunk: Hunk): readonly DiffLine[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  const lines: DiffLine[] = [];
  for (const line of hunk.lines) {
    const content = line.slice(1).replace(/\r$/, "");
    if (line.startsWith("-")) lines.push({ type: "removed", content, lineNumber: { old: oldLine++ } });
    else if (line.startsWith("+")) lines.push({ type: "added", content, lineNumber: { new: newLine++ } });
    else if (line.startsWith(" "))
      lines.push({ type: "unchanged", content, lineNumber: { old: oldLine++, new: newLine++ } });
  }
  return lines;
}

function newSide(lines: readonly DiffLine[]): string {
  return lines
    .filter((line) => line.type !== "removed")
    .map((line) => line.content)
    .join("\n");
}

/** Bytes of a value's JSON text once it stands inside another JSON text. */
function nestedBytes(value: unknown): number {
  return jsonBytes(JSON.stringify(value)) + 1;
}

function cutTo(text: string, budget: number): string {
  if (nestedBytes(text) <= budget) return text;
  let bytes = nestedBytes("…");
  let end = 0;
  for (const character of text) {
    bytes += nestedBytes(character) - nestedBytes("");
    if (bytes > budget) break;
    end += character.length;
  }
  return `${text.slice(0, end)}…`;
}
