import { type Breathe, createPace } from "../pace.ts";

export interface DiffLine {
  readonly type: "removed" | "added" | "unchanged";
  readonly content: string;
  /** Starts at 1. */
  readonly lineNumber: { readonly old?: number; readonly new?: number };
}

export interface Diff {
  /** The changes with three lines of context, as hunks. */
  readonly hunks: readonly (readonly DiffLine[])[];
  /** There are more changes than listed. */
  readonly isCut: boolean;
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  /** As in a unified diff: the first character is the kind of line. */
  readonly lines: readonly string[];
  readonly isCut?: boolean;
}

const contextLines = 3;
/** A diff's time grows with the square of this. */
const mostEdits = 500;
/** Limit for comparing both texts as a whole, in characters. Larger ones are compared one difference at a time. */
const mostAtOnce = 400_000;
/** Limit for both sides of a window, in characters. */
const mostInWindow = 2_000_000;
/** Lines searched around a difference for its end. */
const windows: readonly number[] = [200, 2000];
/** Limit for texts that are not compared as a whole. */
const mostLines = 2000;

/** The line diff of two texts. Takes bounded time for any texts. */
export async function diffLines(before: string, after: string, breathe: Breathe = createPace()): Promise<Diff> {
  const patchOf = await patcher();
  const whole = before.length + after.length <= mostAtOnce ? patchOf(before, after) : undefined;
  if (whole !== undefined) return { hunks: whole.map(diffLinesOf), isCut: false };
  const hunks: (readonly DiffLine[])[] = [];
  let shown = 0;
  for await (const hunk of placesOf(before, after, patchOf, breathe)) {
    hunks.push(diffLinesOf(hunk).slice(0, mostLines - shown));
    shown += hunk.lines.length;
    if (hunk.isCut === true || shown > mostLines) return { hunks, isCut: true };
  }
  return { hunks, isCut: false };
}

type PatchOf = (before: string, after: string) => readonly (Hunk & Sizes)[] | undefined;
interface Sizes {
  readonly oldLines: number;
  readonly newLines: number;
}

/** `undefined` if there are too many changes. */
async function patcher(): Promise<PatchOf> {
  const { structuredPatch } = await import("diff");
  const options = { context: contextLines, maxEditLength: mostEdits };
  return (before, after) => structuredPatch("", "", before, after, "", "", options)?.hunks;
}

/** A position in one side of a large text: an offset, and the number of the line that starts there. */
interface Cursor {
  readonly at: number;
  readonly line: number;
}

/** Finds one difference after the other. The last hunk can be cut at its limit. */
async function* placesOf(before: string, after: string, patchOf: PatchOf, breathe: Breathe): AsyncGenerator<Hunk> {
  const end = commonEnd(before, after);
  const [oldText, newText] = [before.slice(0, end.old + end.context), after.slice(0, end.new + end.context)];
  let [old, fresh]: [Cursor, Cursor] = [
    { at: 0, line: 1 },
    { at: 0, line: 1 },
  ];
  for (;;) {
    const same = commonStart(oldText, old.at, newText, fresh.at);
    if (old.at + same === oldText.length && fresh.at + same === newText.length) return;
    const start = backLines(oldText, old.at + same, old.at) - old.at;
    const skipped = await countLines(oldText, old.at, old.at + start, breathe);
    old = { at: old.at + start, line: old.line + skipped };
    fresh = { at: fresh.at + start, line: fresh.line + skipped };
    const hunk = await firstHunk();
    if (hunk === undefined) {
      yield coarseHunk(before, old, after, fresh, end);
      return;
    }
    yield { oldStart: old.line + hunk.oldStart - 1, newStart: fresh.line + hunk.newStart - 1, lines: hunk.lines };
    old = afterLines(oldText, old, hunk.oldStart - 1 + hunk.oldLines);
    fresh = afterLines(newText, fresh, hunk.newStart - 1 + hunk.newLines);
  }

  /** The change at the cursors, if its end is found: lines that match again on both sides. */
  async function firstHunk(): Promise<(Hunk & Sizes) | undefined> {
    for (const size of windows) {
      await breathe();
      const [oldEnd, newEnd] = [afterLines(oldText, old, size).at, afterLines(newText, fresh, size).at];
      if (oldEnd - old.at + newEnd - fresh.at > mostInWindow) return undefined;
      const hunks = patchOf(oldText.slice(old.at, oldEnd), newText.slice(fresh.at, newEnd));
      const [hunk] = hunks ?? [];
      if (hunk === undefined || hunk.oldLines === 0 || hunk.newLines === 0) continue;
      const isWhole = oldEnd === oldText.length && newEnd === newText.length;
      const endsEarly =
        afterLines(oldText, old, hunk.oldStart - 1 + hunk.oldLines).at < oldEnd &&
        afterLines(newText, fresh, hunk.newStart - 1 + hunk.newLines).at < newEnd;
      if (isWhole || endsEarly) return hunk;
    }
    return undefined;
  }
}

/** The start of the common lines at both ends, and how many of their characters are a change's context. */
interface CommonEnd {
  readonly old: number;
  readonly new: number;
  readonly context: number;
}

function commonEnd(before: string, after: string): CommonEnd {
  const most = Math.min(before.length, after.length) - commonStart(before, 0, after, 0);
  let same = 0;
  for (let step = 65_536; step >= 1; step = Math.floor(step / 2)) {
    while (same + step <= most && endsAlike(before, after, same, step)) same += step;
  }
  const [oldEnd, newEnd] = [before.length - same, after.length - same];
  const isLineStart = [before[oldEnd - 1], after[newEnd - 1]].every((last) => last === undefined || last === "\n");
  const feed = before.indexOf("\n", oldEnd);
  const rest = isLineStart ? same : feed === -1 ? 0 : before.length - feed - 1;
  const start = before.length - rest;
  const context = afterLines(before, { at: start, line: 1 }, contextLines).at - start;
  return { old: start, new: after.length - rest, context };
}

function endsAlike(a: string, b: string, same: number, step: number): boolean {
  const [endA, endB] = [a.length - same, b.length - same];
  return a.slice(endA - step, endA) === b.slice(endB - step, endB);
}

/** Number of equal characters from two positions on. */
function commonStart(a: string, fromA: number, b: string, fromB: number): number {
  const most = Math.min(a.length - fromA, b.length - fromB);
  let same = 0;
  for (let step = 65_536; step >= 1; step = Math.floor(step / 2)) {
    const alike = () => a.slice(fromA + same, fromA + same + step) === b.slice(fromB + same, fromB + same + step);
    while (same + step <= most && alike()) same += step;
  }
  return same;
}

/** The start of the line at `place` and of the context before it, but not before `from`. */
function backLines(text: string, place: number, from: number): number {
  let start = place;
  for (let line = 0; line <= contextLines; line += 1) {
    if (start <= from) return from;
    start = text.lastIndexOf("\n", start - 1 - (line === 0 ? 0 : 1)) + 1;
  }
  return Math.max(start, from);
}

function afterLines(text: string, { at, line }: Cursor, count: number): Cursor {
  let end = at;
  for (let passed = 0; passed < count && end < text.length; passed += 1) {
    const feed = text.indexOf("\n", end);
    end = feed === -1 ? text.length : feed + 1;
  }
  return { at: end, line: line + count };
}

async function countLines(text: string, from: number, to: number, breathe: Breathe): Promise<number> {
  let lines = 0;
  for (let feed = text.indexOf("\n", from); feed !== -1 && feed < to; feed = text.indexOf("\n", feed + 1)) {
    lines += 1;
    if (lines % 65_536 === 0) await breathe();
  }
  return lines;
}

/** Everything from here to the last change as one change, cut to the start of both sides if very long. */
function coarseHunk(before: string, old: Cursor, after: string, fresh: Cursor, end: CommonEnd): Hunk {
  const most = mostLines / 2;
  const linesOf = (text: string, from: number, to: number): readonly string[] => {
    const lines = text.slice(from, Math.min(to, afterLines(text, { at: from, line: 1 }, most).at)).split("\n");
    return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
  };
  const [removed, added] = [linesOf(before, old.at, end.old), linesOf(after, fresh.at, end.new)];
  const shorter = Math.min(removed.length, added.length);
  let head = 0;
  while (head < contextLines && head < shorter && removed[head] === added[head]) head += 1;
  const lines = [
    ...removed.slice(0, head).map((line) => ` ${line}`),
    ...removed.slice(head).map((line) => `-${line}`),
    ...added.slice(head).map((line) => `+${line}`),
  ];
  const isCut = Math.max(removed.length, added.length) >= most;
  const tail = isCut ? [] : linesOf(before, end.old, end.old + end.context).map((line) => ` ${line}`);
  return { oldStart: old.line, newStart: fresh.line, lines: [...lines, ...tail], isCut };
}

function diffLinesOf(hunk: Hunk): readonly DiffLine[] {
  let oldLine = hunk.oldStart;
  let newLine = hunk.newStart;
  const lines: DiffLine[] = [];
  for (const line of hunk.lines) {
    const content = line.slice(1, line.endsWith("\r") ? -1 : undefined);
    if (line.startsWith("-")) lines.push({ type: "removed", content, lineNumber: { old: oldLine++ } });
    else if (line.startsWith("+")) lines.push({ type: "added", content, lineNumber: { new: newLine++ } });
    else if (line.startsWith(" "))
      lines.push({ type: "unchanged", content, lineNumber: { old: oldLine++, new: newLine++ } });
  }
  return lines;
}
