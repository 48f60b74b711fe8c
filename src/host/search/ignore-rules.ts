import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Pace } from "../../async/pace.ts";
import { compileGlob } from "../../text/glob-pattern.ts";
import { onDisk } from "../files/system-path.ts";
import { searchableBytes } from "./searched-file.ts";

const largestFile = 1024 * 1024;

/** A line of a `.gitignore`. */
export interface IgnoreRule {
  /** The folder of the file, absolute. */
  readonly base: string;
  matches(path: string): boolean;
  readonly negated: boolean;
  readonly folderOnly: boolean;
}

function parseRule(line: string, base: string): readonly IgnoreRule[] {
  const trimmed = line.trimEnd();
  const text = trimmed.endsWith("\\") ? line.slice(0, trimmed.length + 1) : trimmed;
  if (text === "" || text.startsWith("#")) return [];
  const negated = text.startsWith("!");
  const body = negated ? text.slice(1) : text;
  const folderOnly = body.endsWith("/");
  const { matches, problem } = compileGlob(folderOnly ? body.slice(0, -1) : body);
  return problem === undefined ? [{ base, matches, negated, folderOnly }] : [];
}

export async function rulesOf(folder: string, pace: Pace): Promise<readonly IgnoreRule[]> {
  const bytes = await searchableBytes(join(folder, ".gitignore"), largestFile);
  const rules: IgnoreRule[] = [];
  for (const line of bytes?.toString("utf8").split("\n") ?? []) {
    for (const rule of parseRule(line, folder)) rules.push(rule);
    await pace.rest();
  }
  return rules;
}

/** Rules of the folders above, from the repository's root down. Empty outside a repository. */
export async function inheritedRules(folder: string, pace: Pace): Promise<readonly IgnoreRule[]> {
  const above: string[] = [];
  for (let at = folder; !existsSync(onDisk(join(at, ".git"))); at = dirname(at)) {
    if (at === dirname(at)) return [];
    above.unshift(dirname(at));
  }
  return (await Promise.all(above.map((at) => rulesOf(at, pace)))).flat();
}

/** The last rule that matches decides. */
export async function isIgnored(
  path: string,
  isFolder: boolean,
  rules: readonly IgnoreRule[],
  pace: Pace,
): Promise<boolean> {
  for (let at = rules.length - 1; at >= 0; at -= 1) {
    const rule = rules[at];
    if (rule === undefined || (rule.folderOnly && !isFolder)) continue;
    if (rule.matches(path.slice(rule.base.length + 1))) return !rule.negated;
    const rest = pace.rest();
    if (rest !== undefined) await rest;
  }
  return false;
}
