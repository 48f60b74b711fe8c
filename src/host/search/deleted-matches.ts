import { lstat, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { repositoriesIn } from "../files/links-below.ts";
import { whereItLeads } from "../files/where-it-leads.ts";
import { matchedPaths } from "./matching-files.ts";

const hasPattern = (pattern: string): boolean => /[*?[]/.test(pattern.replace(/\\./gs, ""));
const literalOf = (pattern: string): string => pattern.replace(/\\(.)/gs, "$1");

/** A glob as an expression. `*` also matches slashes and leading dots. Unclear brackets match any character. */
function expressionOf(glob: string, flags = ""): RegExp {
  const source = glob.replace(
    /\\(.)|\[([!^]?)([\w. -]+)\]|\[|[^\\[]/gs,
    (char, escaped?: string, not?: string, set?: string) => {
      if (set !== undefined) return `[${not === "" ? "" : "^"}${set.replaceAll("\\", "\\\\")}]`;
      if (char === "*") return ".*";
      if (char === "?" || char === "[") return char === "?" ? "." : ".*";
      return (escaped ?? char).replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
    },
  );
  try {
    return new RegExp(`^${source}$`, `s${flags}`);
  } catch {
    return /^/;
  }
}

/** See the lookup `repositories-below`. */
export async function repositoriesBelow(pattern: string, selecting?: string): Promise<readonly string[] | undefined> {
  const isPattern = hasPattern(pattern);
  const folders: string[] = [];
  for (const path of isPattern ? await matchedPaths(pattern) : [literalOf(pattern)]) {
    // Deleting a link leaves its target.
    const isLink = isPattern && (await lstat(path)).isSymbolicLink();
    if (!isLink) folders.push(path);
  }
  if (selecting === undefined) return repositoriesIn(folders);
  const tests = selecting.split("\n").map((test) => ({ isPath: test.includes("/"), passes: expressionOf(test, "i") }));
  return repositoriesIn(folders, (path) =>
    tests.every(({ isPath, passes }) => passes.test(isPath ? path : basename(path))),
  );
}

/** See the lookup `emptied`. */
export async function emptiedFolders(pattern: string): Promise<readonly string[]> {
  const [, start = "", last = "", slash = ""] = /^(.*\/)([^/]+)(\/*)$/s.exec(pattern) ?? [];
  if (!hasPattern(last)) return [];
  const matches = expressionOf(last);
  const isAll = /^\*+$/.test(last);
  const folders = hasPattern(start) ? await matchedPaths(start) : await whereItLeads(literalOf(start));
  const emptied: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const visible = entries.filter(({ name }) => !name.startsWith("."));
    const inside = visible.filter((entry) => entry.isDirectory());
    const losesAll = (all: typeof visible): boolean =>
      all.length > (isAll ? 0 : 1) && all.every(({ name }) => matches.test(name));
    if ((slash === "" && losesAll(visible)) || (inside.length > 1 && losesAll(inside))) emptied.push(join(folder));
  }
  return emptied;
}
