import { jsonBytes } from "../../text/output.ts";
import { textStart } from "../../text/text-cut.ts";
import type { Diff, DiffLine } from "./line-diff.ts";

export interface DiffBounds {
  /** Bytes of JSON text. */
  readonly bytes: number;
  /** Characters per line. */
  readonly changed: number;
  readonly unchanged: number;
}

/** The model wrote the change itself, so a little is enough. */
export const modelBounds: DiffBounds = { bytes: 3000, changed: 300, unchanged: 100 };

const signs = { removed: "-", added: "+", unchanged: " " } as const;

/** The changed lines, numbered, with context. `used`: how much of `bounds.bytes` they take. */
export function changedLines({ hunks, isCut }: Diff, bounds: DiffBounds): { lines: string[]; used: number } {
  const lines: string[] = [];
  let used = 0;
  let linesLeft = 0;
  for (const line of numbered(hunks, bounds)) {
    used += jsonBytes(line) + 2;
    if (used > bounds.bytes) linesLeft += 1;
    else lines.push(line);
  }
  if (isCut) lines.push("[more lines omitted]");
  else if (linesLeft > 0) lines.push(`[${linesLeft} more lines omitted]`);
  return { lines, used };
}

function* numbered(hunks: readonly (readonly DiffLine[])[], bounds: DiffBounds): Generator<string> {
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0) yield "[...]";
    for (const { type, content, lineNumber } of hunk) {
      const number = String(lineNumber.new ?? lineNumber.old).padStart(5);
      yield `${signs[type]}${number}  ${cut(content, type === "unchanged" ? bounds.unchanged : bounds.changed)}`;
    }
  }
}

function cut(line: string, longest: number): string {
  return line.length > longest ? `${textStart(line, longest)}…` : line;
}
