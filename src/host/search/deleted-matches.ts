import { lstat, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { createMatcher, oneOf, type PatternPart } from "../../text/pattern-matcher.ts";
import { withoutTrailingSlashes } from "../../text/text-cut.ts";
import { repositoriesIn } from "../files/links-below.ts";
import { whereItLeads } from "../files/where-it-leads.ts";
import { matchedPaths } from "./matching-files.ts";

const hasPattern = (pattern: string): boolean => /[*?[]/.test(pattern.replace(/\\./gs, ""));
const literalOf = (pattern: string): string => pattern.replace(/\\(.)/gs, "$1");

/** Whether texts match a glob. `*` also matches slashes and leading dots. Unclear brackets match any character. */
function testOf(glob: string, ignoresCase: boolean): (text: string) => boolean {
  const inForm = (text: string): string => (ignoresCase ? text.toLowerCase() : text);
  const parts = Array.from(
    inForm(glob).matchAll(/\\(.)|\[([!^]?)([\w. -]{1,100})\]|\[[^\]]{0,100}\]|./gs),
    (found): PatternPart => {
      const [piece, escaped, not, set] = found;
      if (set !== undefined) return { type: "one", test: (char) => isIn(char, set) === (not === "") };
      if (piece === "*") return { type: "many", test: () => true };
      if (piece === "?" || piece.startsWith("[")) return { type: "one", test: () => true };
      return oneOf(escaped ?? piece);
    },
  );
  const matches = createMatcher(parts);
  return (text) => matches(inForm(text));
}

/** Whether a character is in a simple set, such as `a-z_`. */
function isIn(char: string, set: string): boolean {
  for (let at = 0; at < set.length; at += 1) {
    const [from = "", to = from] = set[at + 1] === "-" && at + 2 < set.length ? [set[at], set[at + 2]] : [set[at]];
    if (char >= from && char <= to) return true;
    if (to !== from) at += 2;
  }
  return false;
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
  const tests = selecting.split("\n").map((test) => ({ isPath: test.includes("/"), passes: testOf(test, true) }));
  return repositoriesIn(folders, (path) => tests.every(({ isPath, passes }) => passes(isPath ? path : basename(path))));
}

interface LastPart {
  readonly folders: readonly string[];
  readonly isAll: boolean;
  /** It ends in a slash, so it matches only folders. */
  readonly onlyFolders: boolean;
  readonly matches: (name: string) => boolean;
}

async function lastPartOf(pattern: string): Promise<LastPart> {
  const plain = withoutTrailingSlashes(pattern);
  const at = plain.lastIndexOf("/") + 1;
  const [start, last] = [plain.slice(0, at), plain.slice(at)];
  const folders = hasPattern(start) ? await matchedPaths(start) : await whereItLeads(literalOf(start));
  const onlyFolders = plain !== pattern;
  return { folders, isAll: !onlyFolders && /^\*+$/.test(last), onlyFolders, matches: testOf(last, false) };
}

/** See the lookup `emptied`. */
export async function emptiedFolders(pattern: string, others = ""): Promise<readonly string[]> {
  if (!hasPattern(withoutTrailingSlashes(pattern).split("/").at(-1) ?? "")) return [];
  const [first, ...more] = await Promise.all([pattern, ...others.split("\n").filter(Boolean)].map(lastPartOf));
  const emptied: string[] = [];
  for (const folder of first?.folders ?? []) {
    const parts = [first, ...more].filter((part) => part?.folders.includes(folder));
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    const visible = entries.filter(({ name }) => !name.startsWith("."));
    const inside = visible.filter((entry) => entry.isDirectory());
    const isAll = parts.some((part) => part?.isAll);
    const losesAll = (all: typeof visible): boolean =>
      all.length > (isAll ? 0 : 1) &&
      all.every((entry) =>
        parts.some((part) => part?.matches(entry.name) && (entry.isDirectory() || !part.onlyFolders)),
      );
    if (losesAll(visible) || (inside.length > 1 && losesAll(inside))) emptied.push(join(folder));
  }
  return emptied;
}
