import { jsonBytes, outputLimit } from "../../text/output.ts";
import type { Diff, DiffLine } from "./line-diff.ts";

const wholeContentBytes = 20 * 1024;
const diffBudget = 14_000;
const spaceForRest = 1000;

/** The result of an edit in the JSON form that existing clients read, short enough not to be cut. */
export function editReport(path: string, after: string, { hunks, isCut }: Diff): string {
  const lines = hunks.flat();
  const shown: DiffLine[] = [];
  let used = 0;
  for (const line of lines) {
    // Measuring a very long line is slow.
    used += line.content.length > diffBudget ? line.content.length : nestedBytes(line);
    if (used > diffBudget) break;
    shown.push(line);
  }
  const missing = lines.length - shown.length;
  const isShort = after.length <= wholeContentBytes && Buffer.byteLength(after) <= wholeContentBytes;
  const region = isShort ? after : hunks.map(newSide).join("\n[...]\n");
  const content = cutTo(region, outputLimit - spaceForRest - jsonBytes(path) - Math.min(used, diffBudget));
  const notes: string[] = [];
  if (isCut) notes.push("More lines of the diff were omitted.");
  else if (missing > 0) notes.push(`${missing} more lines of the diff were omitted.`);
  if (content !== after) notes.push("content is only the changed part of the file.");
  return JSON.stringify({
    file_path: path,
    diffLines: shown,
    content,
    ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
  });
}

function newSide(lines: readonly DiffLine[]): string {
  return lines
    .filter((line) => line.type !== "removed")
    .map((line) => line.content)
    .join("\n");
}

/** Bytes of a value's JSON text when embedded in another JSON text. */
function nestedBytes(value: unknown): number {
  return jsonBytes(JSON.stringify(value)) + 1;
}

function cutTo(text: string, budget: number): string {
  if (text.length <= budget && nestedBytes(text) <= budget) return text;
  let bytes = nestedBytes("…");
  let end = 0;
  for (const character of text) {
    bytes += nestedBytes(character) - nestedBytes("");
    if (bytes > budget) break;
    end += character.length;
  }
  return `${text.slice(0, end)}…`;
}
