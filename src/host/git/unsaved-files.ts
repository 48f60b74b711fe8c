import { createHash } from "node:crypto";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { isBuildFolder } from "../../engine/build-folders.ts";
import { whereItLeads } from "../files/where-it-leads.ts";
import { matchedPaths } from "../search/matching-files.ts";
import { isThere, readSmall, repositoriesAround } from "./repository.ts";
import { trackedFiles } from "./tracked-files.ts";

const mostFiles = 2000;
const mostBytes = 64 * 1024 * 1024;

/** The object ids of a working tree's tracked files, by path below its root. Folders around them have no id. */
interface Saved {
  readonly root: string;
  readonly algorithm: string;
  readonly ids: ReadonlyMap<string, string | undefined>;
}

/** Thrown if something would or might be lost. */
class NotSaved extends Error {}

/** See the lookup `unsaved`. */
export async function unsavedFiles(pattern: string, from?: string): Promise<readonly string[] | undefined> {
  const left = { files: mostFiles, bytes: mostBytes };
  const trees = new Map<string, Promise<Saved | undefined>>();
  try {
    const found: string[] = [];
    const matched = await matchedPaths(pattern);
    if (matched.length === 0) {
      // It does not exist yet. A dot is never among the matches.
      const places = await whereItLeads(pattern.replace(/\\(.)/gs, "$1"));
      return from === "existing" ? places.filter(isThere) : places;
    }
    for (const path of matched) {
      const folder = dirname(path);
      const tree = trees.get(folder) ?? savedAround(folder);
      trees.set(folder, tree);
      found.push(...(await unsavedIn(path, await tree, left)));
    }
    return found;
  } catch (error) {
    if (error instanceof NotSaved) return undefined;
    throw error;
  }
}

/** The tracked files around a folder; `undefined` without a repository. */
async function savedAround(folder: string): Promise<Saved | undefined> {
  const { repositories, unclear } = await repositoriesAround(folder);
  if (unclear) throw new NotSaved();
  const [repository] = repositories;
  if (repository === undefined) return undefined;
  const settings = await readSmall(join(repository.common, "config"));
  const tracked = await trackedFiles(repository);
  // Its files may be in another folder.
  if (tracked === undefined || settings === undefined || /\bworktree\s*=/i.test(settings)) throw new NotSaved();
  const ids = new Map<string, string | undefined>();
  for (const { path, id } of tracked.entries) {
    ids.set(path, id);
    for (let at = dirname(path); at !== "."; at = dirname(at)) ids.set(at, undefined);
  }
  return { root: repository.root, algorithm: tracked.algorithm, ids };
}

async function unsavedIn(
  path: string,
  saved: Saved | undefined,
  left: { files: number; bytes: number },
): Promise<readonly string[]> {
  const name = saved === undefined ? "" : relative(saved.root, path);
  if (saved === undefined) return filesIn(path, left);
  if (!saved.ids.has(name)) {
    if (isAmongSources(name, saved)) throw new NotSaved();
    return filesIn(path, left);
  }
  left.files -= 1;
  if (left.files < 0) throw new NotSaved();
  const id = saved.ids.get(name);
  const stats = await lstat(path);
  if (stats.isDirectory() && id === undefined) {
    const found: string[] = [];
    for (const entry of await readdir(path)) found.push(...(await unsavedIn(join(path, entry), saved, left)));
    return found;
  }
  left.bytes -= stats.size;
  if (id === undefined || left.bytes < 0) throw new NotSaved();
  const content = stats.isSymbolicLink() ? Buffer.from(await readlink(path)) : stats.isFile() && (await readFile(path));
  if (content === false || idOf(content, saved.algorithm) !== id) throw new NotSaved();
  return [];
}

/** The untracked files below a path. Of a build folder, which may be very large, only the folder. */
async function filesIn(path: string, left: { files: number }): Promise<readonly string[]> {
  left.files -= 1;
  if (left.files < 0) throw new NotSaved();
  if (isBuildFolder(basename(path)) || !(await lstat(path)).isDirectory()) return [path];
  const found: string[] = [];
  for (const entry of await readdir(path)) found.push(...(await filesIn(join(path, entry), left)));
  return found;
}

/** Whether an untracked file is in a folder that is named like a build folder but has tracked files. No build recreates it. */
function isAmongSources(name: string, { ids }: Saved): boolean {
  const parts = name.split("/");
  const folders = parts.flatMap((part, at) => (isBuildFolder(part) ? [parts.slice(0, at + 1).join("/")] : []));
  return folders.length > 0 && folders.every((folder) => ids.has(folder));
}

/** Git's object id for a file's content. */
function idOf(content: Buffer, algorithm: string): string {
  return createHash(algorithm).update(`blob ${content.length}\0`).update(content).digest("hex");
}
