import { lstat, opendir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../../text/system-errors.ts";
import { sortedUnique, whereItLeads } from "../files/where-it-leads.ts";
import { type PatternSegment, parseNamePattern } from "./name-pattern.ts";

const mostEntries = 10_000;

/** A match as the shell writes it: nothing of it is resolved, not even `..`. */
interface Match {
  readonly folder: string;
  readonly name: string;
  /** Unknown for a name that was not found in a listing. */
  readonly isLink?: boolean;
}

interface Budget {
  left: number;
}

async function namesIn(folder: string, test: (name: string) => boolean, budget: Budget): Promise<readonly Match[]> {
  // Before version 5.2 bash took these two for matches as well.
  const found: Match[] = [".", ".."].filter(test).map((name) => ({ folder, name }));
  try {
    for await (const entry of await opendir(folder === "" ? "/" : folder, { bufferSize: 512 })) {
      budget.left -= 1;
      if (budget.left < 0) throw new Error("There are too many files to look at.");
      // Bytes that are no text are part of a name that could not be asked for again.
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

/** The match with what it is; `undefined` when it is nothing. */
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

/** What a pattern matches, each by its own name in its canonical folder. Rejects as below. */
export async function matchedPaths(pattern: string): Promise<readonly string[]> {
  const { segments, foldersOnly } = parseNamePattern(pattern);
  const found = new Set<string>();
  for (const candidate of await expand(segments)) {
    const match = await look(candidate, foldersOnly);
    if (match === undefined || /^\.\.?$/.test(match.name)) continue;
    const [folder] = await whereItLeads(match.folder === "" ? "/" : match.folder);
    const path = folder === undefined ? undefined : join(folder, match.name);
    // With a slash behind it, a link is what it leads to.
    const ends = path !== undefined && foldersOnly && match.isLink ? await whereItLeads(path) : [path];
    for (const end of ends) if (end !== undefined) found.add(end);
  }
  return sortedUnique(found);
}

/**
 * The canonical folders that hold what a pattern matches and where each match leads; for a pattern that matches nothing,
 * where it leads when it is taken by its letters. Rejects when that cannot be found out, or not without looking at very
 * many files.
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
 * Nothing, when no name begins with a dash among those that the first pattern in a path matches; else no answer. Rejects as
 * above.
 */
export async function noDashes(pattern: string): Promise<readonly string[] | undefined> {
  const { segments } = parseNamePattern(pattern);
  const first = segments.findIndex(({ type }) => type !== "name");
  if (first === -1) return undefined;
  const matches = await expand(segments.slice(0, first + 1));
  return matches.some(({ name }) => name.startsWith("-")) ? undefined : [];
}
