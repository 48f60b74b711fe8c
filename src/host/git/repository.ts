import { accessSync, constants, lstatSync, realpathSync, statSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { dirname, isAbsolute, join } from "node:path";
import { errorCode } from "../../text/system-errors.ts";
import { withoutTrailing } from "../../text/text-cut.ts";

const largestFile = 256 * 1024;

export interface Repository {
  /** The folder around `.git`; of a bare repository, the repository. */
  readonly root: string;
  /** The folder with `HEAD`. */
  readonly folder: string;
  /** The folder with `config`, which differs in a linked working tree. */
  readonly common: string;
}

/** One of git's files. `undefined` if missing, not regular (a pipe may never end) or far too large. */
export async function readSmall(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path);
    return stats.isFile() && stats.size <= largestFile ? await readFile(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return errorCode(error) !== "ENOTDIR";
  }
}

/** The target of one of git's paths, resolved as the system does: `link/..` is the parent of the link's target. */
export function leadsTo(path: string, base: string): string | undefined {
  try {
    return realpathSync.native(isAbsolute(path) ? path : `${base}/${path}`);
  } catch {
    return undefined;
  }
}

/** The folder that one of git's files names, read as git does; `undefined` if unclear. */
async function pathIn(file: string, intro: string): Promise<string | undefined> {
  const read = await readSmall(file);
  const text = read === undefined ? undefined : withoutTrailing(read, "\r\n");
  if (text === undefined || !text.startsWith(intro)) return undefined;
  const path = text.slice(intro.length);
  return path === "" || /[\0\r\n\uFFFD]/.test(path) ? undefined : leadsTo(path, dirname(file));
}

/** The repository in this folder. `unclear`: its files are not as git writes them. */
export async function repositoryAt(root: string, folder: string): Promise<Repository | "unclear"> {
  const pointer = join(folder, "commondir");
  const common = isThere(pointer) ? await pathIn(pointer, "") : folder;
  return common === undefined ? "unclear" : { root, folder, common };
}

/** The repository of a folder's `.git`; `undefined` without one. */
export async function repositoryIn(root: string): Promise<Repository | "unclear" | undefined> {
  const dotGit = join(root, ".git");
  if (!isThere(dotGit)) return undefined;
  const stats = statSync(dotGit, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return repositoryAt(root, dotGit);
  const folder = await pathIn(dotGit, "gitdir: ");
  return folder === undefined ? "unclear" : repositoryAt(root, folder);
}

/** Whether git would treat a folder as a repository, whatever its name. */
export function looksLikeGit(folder: string): boolean {
  const has = (name: string): boolean => isThere(join(folder, name));
  return has("HEAD") && (has("commondir") || (has("objects") && has("refs")));
}

/** A repository in a folder with another name than `.git`. */
async function bareRepository(folder: string): Promise<Repository | "unclear" | undefined> {
  return looksLikeGit(folder) ? repositoryAt(folder, folder) : undefined;
}

function isOpenFolder(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Whether git certainly uses this repository and looks no further up. */
async function isWhole({ folder, common }: Repository): Promise<boolean> {
  const head = (await readSmall(join(folder, "HEAD"))) ?? "";
  if (!/^(?:ref: refs\/\S+|[0-9a-f]{40}|[0-9a-f]{64})\n?$/.test(head)) return false;
  return isOpenFolder(join(common, "objects")) && isOpenFolder(join(common, "refs"));
}

/**
 * The repositories that git might use in a folder, the likeliest first. Several if the lower ones are incomplete, because git
 * then looks further up. `unclear`: there may be others.
 */
export async function repositoriesAround(
  cwd: string,
): Promise<{ readonly repositories: readonly Repository[]; readonly unclear: boolean }> {
  const repositories: Repository[] = [];
  if (!isAbsolute(cwd)) return { repositories, unclear: true };
  for (let root = cwd; ; root = dirname(root)) {
    for (const found of [await repositoryIn(root), await bareRepository(root)]) {
      if (found === "unclear") return { repositories, unclear: true };
      if (found === undefined) continue;
      repositories.push(found);
      if (await isWhole(found)) return { repositories, unclear: false };
    }
    if (root === dirname(root)) return { repositories, unclear: false };
  }
}
