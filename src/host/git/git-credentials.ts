import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isBuildFolder } from "../../engine/build-folders.ts";
import { isMissing } from "../../text/system-errors.ts";
import { sortedUnique, whereItLeads } from "../files/where-it-leads.ts";
import type { Setting } from "./git-settings.ts";
import { isThere, readSmall, repositoryIn } from "./repository.ts";

const mostFolders = 2000;
/** Of folders that are searched for repositories. Enough for a very large workspace, without its build output. */
const mostSearched = 20_000;
const atOnce = 32;

/** `scheme://user:password@host`. */
const passwordInUrl = /[a-z][a-z0-9+.-]*:\/\/[^/?#\s@:]*:[^/?#\n]+@/i;
/** A user alone may be a token, unless the scheme requires a user, as in `ssh://git@host`. */
const userInWebUrl = /https?:\/\/[^/?#\n]+@/i;
/** The scheme is optional. */
const userOfProxy = /proxy\s*=\s*[^/?#\n]+@/i;
/** Settings whose value is a credential, by the ends of their names. `askPass` is a program. */
const secretSetting =
  /(?:^|[\s\]])[a-z0-9-]*(?:extraheader|(?<!ask)pass|password|passwd|passphrase|token|secret|api-?key)\s*=\s*\S/im;
/** A helper written as a command that contains the credential. */
const speakingHelper = /helper\s*=\s*!.*(?:password|token|secret)/i;
const inclusion = /\[\s*include/i;

/** Whether git's settings contain a credential. When in doubt, true. `undefined` if they include another file. */
function configHoldsCredential(config: string): boolean | undefined {
  // Join lines as git does, and ignore quotes and backslashes.
  const text = config.replace(/\\\r?\n/g, "").replace(/["\\]/g, "");
  const signs = [passwordInUrl, userInWebUrl, userOfProxy, secretSetting, speakingHelper];
  if (signs.some((pattern) => pattern.test(text))) return true;
  return inclusion.test(text) ? undefined : false;
}

/** The paths of git settings without a credential. Ignores included files. */
export async function harmlessGitSettings(paths: readonly string[]): Promise<readonly string[]> {
  const files = paths.filter((path) => /\/(?:\.gitconfig|git\/config)$/.test(path));
  const texts = await Promise.all(files.map(readSmall));
  return files.filter((_, at) => {
    const text = texts[at];
    return text !== undefined && configHoldsCredential(text) !== true;
  });
}

/** Whether the user's settings put a credential into remotes' addresses: `url.https://token@host/.insteadOf`. */
export function addressesHoldCredential(settings: readonly Setting[]): boolean {
  return settings.some(({ section, sub = "", key, value = "" }) => {
    const isRewritten = section === "url" && /^(push)?insteadof$/.test(key);
    const isRemote = section === "remote" && /^(push)?url$/.test(key);
    return (isRewritten || isRemote) && configHoldsCredential(isRewritten ? sub : value) !== false;
  });
}

async function foldersIn(folder: string): Promise<readonly string[]> {
  try {
    const entries: Dirent[] = await readdir(folder, { withFileTypes: true });
    return entries.filter((entry) => !entry.isFile()).map((entry) => join(folder, entry.name));
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

/** Folders with a repository's settings: its own, and those of its submodules and linked working trees. */
async function settingFolders(repository: readonly string[]): Promise<readonly string[] | undefined> {
  const found: string[] = [];
  const waiting = [...repository];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    if (found.push(folder) > mostFolders) return undefined;
    // A submodule's name may contain slashes, so look inside folders that are not repositories.
    const inside = isThere(join(folder, "HEAD"))
      ? await Promise.all([foldersIn(join(folder, "modules")), foldersIn(join(folder, "worktrees"))])
      : [await foldersIn(folder)];
    waiting.push(...inside.flat());
  }
  return found;
}

/**
 * The settings files of the repository in a folder, its submodules and working trees that contain a credential. `undefined`
 * if some cannot be read, or there are too many.
 */
export async function gitCredentials(folder: string): Promise<readonly string[] | undefined> {
  const repository = await repositoryIn(folder);
  if (repository === undefined) return [];
  if (repository === "unclear") return undefined;
  const folders = await settingFolders([...new Set([repository.folder, repository.common])]);
  if (folders === undefined) return undefined;
  const files = folders.flatMap((at) => [join(at, "config"), join(at, "config.worktree")]).filter(isThere);
  const found: string[] = [];
  for (const file of files) {
    const text = await readSmall(file);
    const holds = text === undefined ? undefined : configHoldsCredential(text);
    if (holds === undefined) return undefined;
    if (holds) found.push(...(await whereItLeads(file)));
  }
  return sortedUnique(found);
}

/**
 * The same for the repositories below a folder too, except in build folders. `undefined` also if there are more than `most`
 * folders to search.
 */
export async function credentialsBelow(folder: string, most = mostSearched): Promise<readonly string[] | undefined> {
  const own = await gitCredentials(folder);
  if (own === undefined) return undefined;
  const found = [...own];
  const searchIn = async (at: string): Promise<readonly string[]> => {
    const entries = await readdir(at, { withFileTypes: true }).catch(() => []);
    const inside = entries
      .filter((entry) => entry.isDirectory() && entry.name !== ".git" && !isBuildFolder(entry.name))
      .map((entry) => join(at, entry.name));
    for (const path of inside) if (isThere(join(path, ".git"))) found.push(...((await gitCredentials(path)) ?? []));
    return inside;
  };
  const waiting = [folder];
  let searched = 0;
  while (searched < waiting.length) {
    if (waiting.length > most) return found.length > 0 ? sortedUnique(found) : undefined;
    const some = waiting.slice(searched, searched + atOnce);
    searched += some.length;
    waiting.push(...(await Promise.all(some.map(searchIn))).flat());
  }
  return sortedUnique(found);
}
