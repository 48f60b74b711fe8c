import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { liesBelow, whereItLeads } from "../files/where-it-leads.ts";
import { parseSettings, type Setting } from "./git-settings.ts";
import { leadsTo, looksLikeGit, type Repository, readSmall } from "./repository.ts";

/** Addresses of other repositories, used only for fetching. */
const addresses = /^(?:url|pushurl|fetch|push|insteadof|pushinsteadof|merge|remote)$/;
/** They name a file, even if the value does not look like a path. Git prints its lines, or quotes them in an error. */
const fileKeys =
  /^(?:ignorerevsfile|skiplist|excludesfile|attributesfile|file|template|orderfile|\w*allowedsignersfile|revocationfile|ssl\w*)$/;
/** Git writes a server's data to this file, which may not exist yet. */
const writtenKeys = /^(?:cookiefile|savecookies)$/;

/** Whether a repository's settings make git read a file outside the repository and its working tree. */
export function settingsNameFilesElsewhere(repository: Repository, config: string): boolean {
  const settings = parseSettings(config);
  return settings === undefined || settings.some((setting) => namesFileElsewhere(setting, repository));
}

function namesFileElsewhere({ section, key, value = "" }: Setting, { root, folder, common }: Repository): boolean {
  if (writtenKeys.test(key)) return true;
  if (addresses.test(key) || (section === "core" && /^(?:worktree|hookspath)$/.test(key))) return false;
  if (!fileKeys.test(key) && !/^[~/%:]|(?:^|\/)\.\.(?:\/|$)/.test(value)) return false;
  // Git's own prefixes, and other users' homes.
  if (/^[%:]|^~[^/]/.test(value)) return true;
  const path = value.replace(/^~(?=\/)/, process.env.HOME || homedir());
  const places = [root, folder, common].flatMap((place) => leadsTo(place, "/") ?? []);
  const found = [root, folder].map((base) => leadsTo(path, base));
  return found.some((file) => file !== undefined && !places.some((place) => liesBelow(file, place)));
}

/** Git does not show the content of links in these. */
const passedOver = new Set(["hooks", "modules", "lfs"]);
/** Logs and refs are as deep as branch names. A deeper folder counts as too large. */
const deepest = 30;
/** For `objects`, which has many files. Git creates links only in its upper two levels. */
const deepestObjects = 3;
const mostEntries = 40_000;
const mostAlternates = 20;

/**
 * Other repositories from which git gets data besides a repository and its working tree. `undefined` if the
 * repository's folder links to any other file, which git would show as its own, or is too large.
 */
export async function placesElsewhere(
  repository: Repository,
  worktrees: readonly string[],
): Promise<readonly string[] | undefined> {
  const { root, folder, common } = repository;
  const own = [root, folder, common].flatMap((place) => leadsTo(place, "/") ?? []);
  const isElsewhere = (place: string): boolean => !own.some((known) => liesBelow(place, known));
  const linked = await linkedPlaces([...new Set([folder, common])], isElsewhere);
  const alternates = await alternatesOf(join(common, "objects"));
  if (linked === undefined || alternates === undefined) return undefined;
  const isCommon = common === folder || dirname(dirname(folder)) === common;
  const borrowed = [
    ...((await belongsTo(repository, worktrees)) ? [] : [folder]),
    ...(isCommon ? [] : [common]),
    ...linked,
    ...alternates.filter(isElsewhere),
  ];
  return borrowed.flatMap((place) => leadsTo(place, "/") ?? []);
}

/** Whether a repository's folder is in the working tree, or names this as its working tree. */
async function belongsTo({ root, folder }: Repository, worktrees: readonly string[]): Promise<boolean> {
  const [tree, place] = [leadsTo(root, "/"), leadsTo(folder, "/")];
  if (tree === undefined || place === undefined || liesBelow(place, tree)) return true;
  const pointer = (await readSmall(join(folder, "gitdir")))?.trim();
  if (pointer !== undefined && leadsTo(pointer, folder) === leadsTo(join(root, ".git"), "/")) return true;
  return worktrees.some((path) => leadsTo(path, folder) === tree);
}

/**
 * Targets in other repositories of the links in these folders. `undefined` if a link leads anywhere else. A dangling link
 * counts too, because git would create its target.
 */
async function linkedPlaces(
  folders: readonly string[],
  isElsewhere: (place: string) => boolean,
): Promise<readonly string[] | undefined> {
  const places: string[] = [];
  let left = mostEntries;
  const look = async (folder: string, depth: number, most: number): Promise<boolean> => {
    for (const entry of entriesOf(folder)) {
      left -= 1;
      if (left < 0) return false;
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) {
        const targets = await whereItLeads(path);
        const outside = targets.filter(isElsewhere);
        if (targets.some(startsPrograms) || !outside.every(isInRepository)) return false;
        places.push(...outside);
      } else if (entry.isDirectory() && !passedOver.has(entry.name)) {
        const deepestHere = depth === 1 && entry.name === "objects" ? deepestObjects : most;
        if (depth < deepestHere ? !(await look(path, depth + 1, deepestHere)) : most === deepest) return false;
      }
    }
    return true;
  };
  for (const folder of folders) if (!(await look(folder, 1, deepest))) return undefined;
  return places;
}

/** The object folders that a repository borrows from, recursively. */
async function alternatesOf(objects: string): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  const waiting = [objects];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const file = join(at, "info", "alternates");
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const text = stats.isFile() ? await readSmall(file) : undefined;
    if (text === undefined) return undefined;
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    // Some are quoted and escaped.
    if (lines.some((line) => line.startsWith('"')) || found.length + lines.length > mostAlternates) return undefined;
    for (const place of lines.map((line) => resolve(at, line))) {
      found.push(place);
      waiting.push(place);
    }
  }
  return found;
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

/** Files from which git starts programs, so nothing must be written to them through a link. */
function startsPrograms(path: string): boolean {
  return /\/(?:config|config\.worktree|hooks(?:\/.*)?)$/.test(path);
}

function isInRepository(path: string): boolean {
  const above = [path, dirname(path), dirname(dirname(path)), dirname(dirname(dirname(path)))];
  return above.some(looksLikeGit);
}
