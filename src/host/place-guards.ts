import { type Dir, lstatSync, opendirSync } from "node:fs";
import { dirname, join } from "node:path";
import { createPace, type Pace } from "../async/pace.ts";
import { isBuildFolder } from "../engine/build-folders.ts";
import type { Guards } from "../engine/ports.ts";
import { createWalk, type Walk } from "./files/links-on-the-way.ts";
import { liesBelow, sortedUnique } from "./files/where-it-leads.ts";
import { namedHookFolders } from "./git/git-config.ts";
import { expandHome, hookFoldersOf, userSettings } from "./git/git-user-settings.ts";
import { isThere, looksLikeGit, type Repository, readSmall, repositoryAt, repositoryIn } from "./git/repository.ts";

const mostEntries = 300;
const deepest = 2;
const mostFoldersBelow = 200;
const deepestBelow = 4;

/** At most `most` entries of a folder. Empty if it is not a readable folder. */
function entriesOf(folder: string, most: number): readonly { readonly name: string; readonly kind: string }[] {
  let dir: Dir;
  try {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return [];
    dir = opendirSync(folder, { bufferSize: 64 });
  } catch {
    return [];
  }
  const found: { name: string; kind: string }[] = [];
  try {
    for (let entry = dir.readSync(); entry !== null && found.length < most; entry = dir.readSync()) {
      const kind = entry.isSymbolicLink() ? "link" : entry.isDirectory() ? "folder" : "other";
      found.push({ name: entry.name, kind });
    }
  } catch {
    // Keep the entries read so far.
  } finally {
    dir.closeSync();
  }
  return found;
}

/** The links in a folder and in those below it. */
function linksIn(place: string): readonly string[] {
  const links: string[] = [];
  let level = [place];
  let left = mostEntries;
  for (let depth = 0; depth < deepest; depth += 1) {
    const next: string[] = [];
    for (const folder of level) {
      const entries = entriesOf(folder, left);
      left -= entries.length;
      links.push(...entries.filter(({ kind }) => kind === "link").map(({ name }) => join(folder, name)));
      next.push(...entries.filter(({ kind }) => kind === "folder").map(({ name }) => join(folder, name)));
    }
    level = next;
  }
  return links;
}

/** Excludes devices and processes, and folders that contain the place itself. */
function isMeant(target: string, place: string): boolean {
  return !liesBelow(target, "/dev") && !liesBelow(target, "/proc") && !liesBelow(place, target);
}

interface Reached {
  readonly ends: readonly string[];
  readonly turns: readonly string[];
}

/** A place's targets, and the links on the way, which could be redirected. */
async function reachedFrom(place: string, inside: boolean, walk: Walk): Promise<Reached> {
  const ends: string[] = [];
  const turns: string[] = [];
  const follow = async (path: string, within: string): ReturnType<Walk> => {
    const way = await walk(path);
    const { end, links } = way;
    if (isMeant(end, within) && !liesBelow(end, within)) ends.push(end);
    // Links in the root belong to the system.
    turns.push(...links.filter((link) => dirname(link) !== "/" && !liesBelow(link, within)));
    return way;
  };
  const { end, isThere } = await follow(place, place);
  if (inside && isThere && (end === place || isMeant(end, place)))
    for (const link of linksIn(end)) await follow(link, end);
  return { ends, turns };
}

/** See the port. */
export const leadTo: Guards["leadTo"] = async (places) => {
  const walk = createWalk();
  const all = async (each: readonly string[], inside: boolean): Promise<readonly Reached[]> => {
    const reached: Reached[] = [];
    for (const place of each) reached.push(await reachedFrom(place, inside, walk));
    return reached;
  };
  const closed = await all(places.closed, true);
  const kept = await all(places.kept, true);
  const programs = await all(places.programs, false);
  return {
    closed: sortedUnique(closed.flatMap(({ ends }) => ends)),
    kept: sortedUnique(kept.flatMap(({ ends }) => ends)),
    programs: sortedUnique(programs.flatMap(({ ends }) => ends)),
    links: sortedUnique([...closed, ...kept, ...programs].flatMap(({ turns }) => turns)),
  };
};

/** See the port. */
export const way: Guards["way"] = async (path) => {
  const { links, end } = await createWalk()(path);
  return [...links, end];
};

interface Found {
  readonly closed: Set<string>;
  readonly kept: Set<string>;
  /** Hook folders that the user's settings name for every repository. */
  readonly everywhere: readonly string[];
  readonly walk: Walk;
}

async function settingsIn(paths: readonly string[]): Promise<string> {
  const texts = await Promise.all(paths.filter(isThere).map(readSmall));
  return texts.map((text) => text ?? "").join("\n");
}

/** The path of a named hook folder. If it does not exist, its first missing parent. */
async function hookFolder(path: string, base: string, walk: Walk): Promise<string> {
  const expanded = expandHome(path);
  let { end } = await walk(expanded.startsWith("/") ? expanded : `${base}/${expanded}`);
  // Husky keeps the hooks beside the folder that it configures.
  if (end.endsWith("/_")) end = dirname(end);
  while (!isThere(end) && !isThere(dirname(end))) end = dirname(end);
  return end;
}

async function addRepository({ root, folder, common }: Repository, found: Found): Promise<void> {
  const own = new Set([folder, (await found.walk(folder)).end, common, (await found.walk(common)).end]);
  for (const path of own) {
    found.kept.add(path);
    for (const name of ["hooks", "config", "config.worktree"]) {
      const place = join(path, name);
      const { end } = await found.walk(place);
      found.closed.add(place);
      if (isMeant(end, place)) found.closed.add(end);
    }
  }
  const settings = await settingsIn([join(common, "config"), join(folder, "config.worktree")]);
  for (const name of [...namedHookFolders(settings), ...found.everywhere]) {
    for (const base of new Set([root, folder])) {
      const hooks = await hookFolder(name, base, found.walk);
      if (isMeant(hooks, root)) found.kept.add(hooks);
    }
  }
}

/** Adds the repository in a canonical folder, and the targets of its `.tinman`. */
async function addFolder(folder: string, found: Found): Promise<void> {
  const has = (name: string): boolean => isThere(join(folder, name));
  const isGit = has("HEAD") && looksLikeGit(folder);
  if (isGit) found.kept.add(folder);
  // The file of a submodule or working tree, which says where its repository is.
  if (has(".git")) found.kept.add(join(folder, ".git"));
  for (const repository of [
    has(".git") ? await repositoryIn(folder) : undefined,
    isGit ? await repositoryAt(folder, folder) : undefined,
  ]) {
    if (repository !== undefined && repository !== "unclear") await addRepository(repository, found);
  }
  const own = join(folder, ".tinman");
  if (!has(".tinman")) return;
  for (const place of [own, join(own, "config.yaml")]) {
    for (const end of (await reachedFrom(place, false, found.walk)).ends) found.closed.add(end);
  }
}

/** The existing part of a canonical path: each folder from the root down. */
async function existing(path: string, pace: Pace): Promise<readonly string[]> {
  const folders = ["/"];
  for (let end = path.indexOf("/", 1); path !== "/"; end = path.indexOf("/", end + 1)) {
    const folder = end < 0 ? path : path.slice(0, end);
    await pace.rest();
    if (!isThere(folder)) break;
    folders.push(folder);
    if (end < 0) break;
  }
  return folders;
}

/** The folders right below a folder, and the nearest ones below them, except in build folders. */
function foldersBelow(folder: string): readonly string[] {
  const inside = (path: string) =>
    entriesOf(path, mostFoldersBelow).flatMap(({ name, kind }) =>
      kind === "folder" ? [{ name, path: join(path, name) }] : [],
    );
  let level = inside(folder);
  const found = level.map(({ path }) => path);
  let left = mostFoldersBelow;
  for (let depth = 2; depth <= deepestBelow && left > 0; depth += 1) {
    const parents = level.filter(({ name }) => name !== ".git" && !isBuildFolder(name)).slice(0, left);
    left -= parents.length;
    level = parents.flatMap(({ path }) => inside(path));
    found.push(...level.map(({ path }) => path));
  }
  return found;
}

/** See the port. */
export const repositories: Guards["repositories"] = async (paths, { below = false } = {}) => {
  const everywhere = hookFoldersOf((await userSettings()) ?? []);
  const pace = createPace();
  const found: Found = { closed: new Set(), kept: new Set(), everywhere, walk: createWalk(pace) };
  const plain = paths.filter((path) => path.startsWith("/") && !path.includes("\0") && !liesBelow(path, "/proc"));
  const folders = new Set<string>();
  for (const path of plain) for (const folder of await existing(path, pace)) folders.add(folder);
  if (below) for (const path of plain) for (const folder of foldersBelow(path)) folders.add(folder);
  for (const folder of folders) {
    await pace.rest();
    try {
      await addFolder(folder, found);
    } catch {
      // Git cannot run anything from a folder that we cannot read.
    }
  }
  return { closed: sortedUnique(found.closed), kept: sortedUnique(found.kept), programs: [], links: [] };
};
