import { jsonBytes } from "../../text/output.ts";
import { textStart } from "../../text/text-cut.ts";
import { type DiffLine, diffLines } from "../edit/line-diff.ts";
import type { Breathe } from "../pace.ts";
import { isChanged } from "./patch-commit.ts";
import type { PlannedFile } from "./patch-plan.ts";

/** For the changed lines, as bytes of JSON text. */
const diffBudget = 14_000;
const longestLine = 500;
/** Texts that are compared for the report; comparing takes time. */
const mostCompared = 20 * 1024 * 1024;

/** What a patch did: the list of files that models know, and the changed lines with their numbers. */
export async function patchReport(planned: readonly PlannedFile[], breathe?: Breathe): Promise<string> {
  const changed = planned.filter(isChanged);
  const added = changed.filter((file) => !file.before && !file.movedFrom && file.after !== undefined);
  const updated = changed.filter((file) => (file.before ?? file.movedFrom) && file.after !== undefined);
  const deleted = changed.filter((file) => file.after === undefined && file.movedTo === undefined);
  const lines = [
    "Success. Updated the following files:",
    ...added.map(({ name }) => `A ${name}`),
    ...updated.map(({ name }) => `M ${name}`),
    ...deleted.map(({ name }) => `D ${name}`),
  ];
  for (const { name } of planned.filter((file) => !isChanged(file) && file.after !== undefined))
    lines.push(`Unchanged, because the patch makes no difference to it: ${name}`);
  return [...lines, ...(await excerpts(updated, breathe))].join("\n");
}

async function excerpts(updated: readonly PlannedFile[], breathe?: Breathe): Promise<readonly string[]> {
  const shown: string[] = [];
  let [used, compared, filesLeft] = [0, 0, 0];
  for (const { name, before, movedFrom, after = "" } of updated) {
    const old = movedFrom?.text ?? before?.text ?? "";
    compared += old.length + after.length;
    if (used >= diffBudget || compared > mostCompared) {
      filesLeft += 1;
      continue;
    }
    shown.push("", movedFrom === undefined ? name : `${name} (moved from ${movedFrom.name})`);
    let linesLeft = 0;
    const { hunks, isCut } = await diffLines(old, after, breathe);
    for (const line of numbered(hunks)) {
      used += jsonBytes(line) + 2;
      if (used > diffBudget) linesLeft += 1;
      else shown.push(line);
    }
    if (isCut) shown.push("[more lines are left out]");
    else if (linesLeft > 0) shown.push(`[${linesLeft} more lines are left out]`);
  }
  if (filesLeft > 0) shown.push("", `[the changed lines of ${filesLeft} more files are left out]`);
  return shown;
}

const signs = { removed: "-", added: "+", unchanged: " " } as const;

function* numbered(hunks: readonly (readonly DiffLine[])[]): Generator<string> {
  for (const [index, hunk] of hunks.entries()) {
    if (index > 0) yield "[...]";
    for (const { type, content, lineNumber } of hunk)
      yield `${signs[type]}${String(lineNumber.new ?? lineNumber.old).padStart(5)}  ${cut(content)}`;
  }
}

function cut(line: string): string {
  return line.length > longestLine ? `${textStart(line, longestLine)}…` : line;
}
