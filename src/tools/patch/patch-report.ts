import { changedLines, type DiffBounds, modelBounds } from "../edit/changed-lines.ts";
import { type Diff, diffLines } from "../edit/line-diff.ts";
import type { Breathe } from "../pace.ts";
import { isChanged } from "./patch-commit.ts";
import type { PlannedFile } from "./patch-plan.ts";

const clientBounds: DiffBounds = { bytes: 14_000, changed: 500, unchanged: 500 };
/** Limit for texts compared for the report, because comparing takes time. */
const mostCompared = 20 * 1024 * 1024;

/**
 * A patch's result: the list of files in the form models know, and the changed lines with numbers, fewer in `forModel`.
 */
export async function patchReport(
  planned: readonly PlannedFile[],
  breathe?: Breathe,
): Promise<{ readonly text: string; readonly forModel?: string }> {
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
    lines.push(`Unchanged by the patch: ${name}`);
  const diffs = new Map<string, Promise<Diff>>();
  const diffOf = (path: string, before: string, after: string): Promise<Diff> => {
    const diff = diffs.get(path) ?? diffLines(before, after, breathe);
    diffs.set(path, diff);
    return diff;
  };
  const report = async (bounds: DiffBounds) => [...lines, ...(await excerpts(updated, bounds, diffOf))].join("\n");
  const [text, forModel] = [await report(clientBounds), await report(modelBounds)];
  return forModel === text ? { text } : { text, forModel };
}

async function excerpts(
  updated: readonly PlannedFile[],
  bounds: DiffBounds,
  diffOf: (path: string, before: string, after: string) => Promise<Diff>,
): Promise<readonly string[]> {
  const shown: string[] = [];
  let [left, compared, filesLeft] = [bounds.bytes, 0, 0];
  for (const { path, name, before, movedFrom, after = "" } of updated) {
    const old = movedFrom?.text ?? before?.text ?? "";
    compared += old.length + after.length;
    if (left <= 0 || compared > mostCompared) {
      filesLeft += 1;
      continue;
    }
    const { lines, used } = changedLines(await diffOf(path, old, after), { ...bounds, bytes: left });
    shown.push("", movedFrom === undefined ? name : `${name} (moved from ${movedFrom.name})`, ...lines);
    left -= used;
  }
  if (filesLeft > 0) shown.push("", `[the changed lines of ${filesLeft} more files were omitted]`);
  return shown;
}
