import { lstat, opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../../text/system-errors.ts";
import { sortedUnique, whereItLeads } from "../files/where-it-leads.ts";
import { type PatternSegment, parseNamePattern } from "./name-pattern.ts";

const mostEntries = 10_000;

/** A match as the shell writes it: unresolved, even `..`. */
interface Match {
  readonly folder: string;
  readonly name: string;
  /** Unknown if the name did not come from a listing. */
  readonly isLink?: boolean;
}

interface Budget {
  left: number;
}

async function namesIn(folder: string, test: (name: string) => boolean, budget: Budget): Promise<readonly Match[]> {
  // Before version 5.2, bash also matched these two.
  const found: Match[] = [".", ".."].filter(test).map((name) => ({ folder, name }));
  try {
    for await (const entry of await opendir(folder === "" ? "/" : folder, { bufferSize: 512 })) {
      budget.left -= 1;
      if (budget.left < 0) throw new Error("Too many files to check.");
      // A name that is not UTF-8 cannot be looked up again.
      if (entry.name.includes("\uFFFD")) throw new Error("A name cannot be read.");
      if (test(entry.name)) found.push({ folder, name: entry.name, isLink: entry.isSymbolicLink() });
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
  return found;
}

async function expand(segments: readonly PatternSegment[]): Promise<readonly Match[]> {
  const budget: Budget = { left: mostEntries };
  let matches: readonly Match[] = [{ folder: "", name: "" }];
  for (const segment of segments) {
    const next: Match[] = [];
    for (const { folder, name } of matches) {
      const path = name === "" ? folder : `${folder}/${name}`;
      if (segment.type === "name") next.push({ folder: path, name: segment.name });
      else for (const match of await namesIn(path, (text) => segment.matches(text), budget)) next.push(match);
    }
    matches = next;
  }
  return matches;
}

/** The match with its kind; `undefined` if it does not exist. */
async function look(match: Match, foldersOnly: boolean): Promise<Required<Match> | undefined> {
  const path = `${match.folder}/${match.name}`;
  try {
    if (foldersOnly && !(await stat(path)).isDirectory()) return undefined;
    return { ...match, isLink: match.isLink ?? (await lstat(path)).isSymbolicLink() };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** A pattern's matches, each as its canonical folder plus its name. Rejects as below. */
export async function matchedPaths(pattern: string): Promise<readonly string[]> {
  const { segments, foldersOnly } = parseNamePattern(pattern);
  const found = new Set<string>();
  for (const candidate of await expand(segments)) {
    const match = await look(candidate, foldersOnly);
    if (match === undefined || /^\.\.?$/.test(match.name)) continue;
    const [folder] = await whereItLeads(match.folder === "" ? "/" : match.folder);
    const path = folder === undefined ? undefined : join(folder, match.name);
    // Followed by a slash, a link means its target.
    const ends = path !== undefined && foldersOnly && match.isLink ? await whereItLeads(path) : [path];
    for (const end of ends) if (end !== undefined) found.add(end);
  }
  return sortedUnique(found);
}

/**
 * The canonical folders of a pattern's matches, and where each match leads. Without matches, where the literal pattern leads.
 * Rejects if that is unknown, or there are too many files to check.
 */
export async function matchingFiles(pattern: string): Promise<readonly string[]> {
  const { segments, foldersOnly, literal, isLoose } = parseNamePattern(pattern);
  const folders = new Map<string, readonly string[]>();
  const found = new Set<string>();
  let matched = 0;
  for (const candidate of await expand(segments)) {
    const match = await look(candidate, foldersOnly);
    if (match === undefined) continue;
    matched += 1;
    const holding = folders.get(match.folder) ?? (await whereItLeads(match.folder === "" ? "/" : match.folder));
    folders.set(match.folder, holding);
    const leadsOn = match.isLink || match.name === "." || match.name === "..";
    const targets = leadsOn
      ? await whereItLeads(`${match.folder}/${match.name}`)
      : holding.map((folder) => join(folder, match.name));
    for (const path of [...holding, ...targets]) found.add(path);
  }
  if (matched === 0 || isLoose) for (const path of await whereItLeads(literal)) found.add(path);
  return sortedUnique(found);
}

/**
 * Empty if the path's first pattern matches no name with a leading dash; otherwise `undefined`. Rejects as above.
 */
export async function noDashes(pattern: string): Promise<readonly string[] | undefined> {
  const { segments } = parseNamePattern(pattern);
  const first = segments.findIndex(({ type }) => type !== "name");
  if (first === -1) return undefined;
  const matches = await expand(segments.slice(0, first + 1));
  return matches.some(({ name }) => name.startsWith("-")) ? undefined : [];
}
