import { statSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { liesBelow } from "../files/where-it-leads.ts";
import { configRunsPrograms, configRunsProgramsUnhindered, plainValues } from "./git-config.ts";
import { submodulePaths } from "./git-index.ts";
import type { Setting } from "./git-settings.ts";
import {
  checksSignatures,
  environmentStartsRepositoryFile,
  hookFoldersOf,
  sortsBySignature,
  startsRepositoryFile,
  userSettings,
} from "./git-user-settings.ts";
import { isThere, leadsTo, type Repository, readSmall, repositoriesAround, repositoryIn } from "./repository.ts";
import { placesElsewhere, settingsNameFilesElsewhere } from "./repository-files.ts";

const largestIndex = 64 * 1024 * 1024;
/** Including submodules. */
const mostRepositories = 100;

/** Hooks that run on reading. The last two exist in one vendor's git. */
const readingHooks = ["post-index-change", "pre-command", "post-command"] as const;

/** Variables that make git use another repository. */
const elsewhere = ["GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] as const;

/** The repository's own settings; `undefined` if some cannot be read. */
async function settingsOf({ common, folder }: Repository): Promise<string | undefined> {
  const paths = [join(common, "config"), join(folder, "config.worktree")].filter(isThere);
  const texts = await Promise.all(paths.map(readSmall));
  return texts.some((text) => text === undefined) ? undefined : texts.join("\n");
}

/** Whether git shows another folder's files as the working tree. */
function showsAnotherFolder({ root, folder, common }: Repository, settings: string): boolean {
  // A linked working tree ignores the setting, unless each has its own settings.
  if (common !== folder && !/worktreeconfig/i.test(settings)) return false;
  const folders = plainValues(settings, "worktree");
  return folders === undefined || folders.some((path) => leadsTo(path, folder) !== leadsTo(root, "/"));
}

/** Whether git is safe to start here with hooks, file-system monitor and fetching switched off. Never rejects. */
export async function isTrusted(repository: Repository): Promise<boolean> {
  const [settings, user] = await Promise.all([settingsOf(repository), userSettings()]);
  if (settings === undefined || user === undefined || configRunsPrograms(settings)) return false;
  const isSwitchedOff = ({ section, key }: Setting): boolean => section === "core" && key === "fsmonitor";
  if (user.some((setting) => !isSwitchedOff(setting) && startsRepositoryFile(setting, [repository.root]))) return false;
  const elsewhere = await placesElsewhere(repository, plainValues(settings, "worktree") ?? []);
  return elsewhere?.length === 0 && !showsAnotherFolder(repository, settings);
}

/** Whether a hook that runs on reading is the repository's. `everywhere`: hook folders named by the user. */
function hasReadingHook(repository: Repository, settings: string, cwd: string, everywhere: readonly string[]): boolean {
  const named = plainValues(settings, "hookspath");
  if (named === undefined || named.some((path) => !/^[\w./ -]+$/.test(path) || path.includes(".."))) return true;
  const { root, folder, common } = repository;
  // A relative folder is inside the repository. One elsewhere is the user's own.
  const usersHere = everywhere.filter((path) => !isAbsolute(path) || [root, common].some((at) => liesBelow(path, at)));
  const folders = [
    join(common, "hooks"),
    ...[...named, ...usersHere].flatMap((path) => [root, folder, cwd].map((at) => resolve(at, path))),
  ];
  return folders.some((hooks) => readingHooks.some((hook) => isThere(join(hooks, hook))));
}

async function submoduleFolders(
  { root, folder }: Repository,
  settings: string,
): Promise<readonly string[] | undefined> {
  const path = join(folder, "index");
  if (!isThere(path)) return [];
  const stats = statSync(path);
  if (!stats.isFile() || stats.size > largestIndex) return undefined;
  const idBytes = /\bobjectformat\s*=\s*"?sha256/i.test(settings) ? 32 : 20;
  return submodulePaths(await readFile(path), idBytes)?.map((name) => join(root, name));
}

/** Settings of the submodules in the repository; `undefined` if there are too many or some cannot be read. */
async function settingsBelow(modules: string, left = { repositories: mostRepositories }): Promise<string | undefined> {
  if (!isThere(modules)) return "";
  const texts: string[] = [];
  for (const entry of await readdir(modules, { withFileTypes: true })) {
    left.repositories -= 1;
    if (left.repositories < 0) return undefined;
    const folder = join(modules, entry.name);
    const config = join(folder, "config");
    // A submodule's name may contain slashes.
    const text = isThere(config) ? await readSmall(config) : "";
    const below = entry.isDirectory() ? await settingsBelow(text === "" ? folder : join(folder, "modules"), left) : "";
    if (text === undefined || below === undefined) return undefined;
    texts.push(text, below);
  }
  return texts.join("\n");
}

/** The submodules in which git's status would start git; `undefined` if unclear. */
async function submodulesOf(repository: Repository, settings: string): Promise<readonly Repository[] | undefined> {
  const folders = await submoduleFolders(repository, settings);
  if (folders === undefined || folders.length > mostRepositories) return undefined;
  const found = await Promise.all(folders.map(repositoryIn));
  const clear = found.filter((submodule) => submodule !== "unclear");
  return clear.length < found.length ? undefined : clear.filter((submodule) => submodule !== undefined);
}

/** Whether a folder that is not called `.git` inside a repository counts as one: any files may form it. */
async function isEmbedded(repositories: readonly Repository[]): Promise<boolean> {
  const bare = repositories.find(({ root, folder }) => root === folder && basename(root) !== ".git");
  if (bare === undefined) return false;
  for (let above = dirname(bare.root); above !== dirname(above); above = dirname(above)) {
    if ((await repositoryIn(above)) !== undefined) return true;
  }
  return false;
}

/** Whether an interrupted rebase has commands among its next steps. `git rebase --continue` would run them. */
async function runsPreparedSteps({ folder }: Repository): Promise<boolean> {
  const path = join(folder, "rebase-merge", "git-rebase-todo");
  if (!isThere(path)) return false;
  const steps = await readSmall(path);
  return steps === undefined || /^[ \t]*(?:x|exec)\b/m.test(steps);
}

/**
 * Repositories from which git in this folder also gets data. `undefined` if it might run a program that the repository's
 * files name, or show any other file, or if that is unclear. Never rejects.
 */
export async function shownPlaces(cwd: string): Promise<readonly string[] | undefined> {
  try {
    if (elsewhere.some((name) => process.env[name] !== undefined)) return undefined;
    const [{ repositories, unclear }, user] = await Promise.all([repositoriesAround(cwd), userSettings()]);
    if (unclear || user === undefined || (await isEmbedded(repositories))) return undefined;
    const folders = [cwd, ...repositories.map(({ root }) => root)];
    if (environmentStartsRepositoryFile(folders)) return undefined;
    if (user.some((setting) => startsRepositoryFile(setting, folders) || sortsBySignature(setting))) return undefined;
    const places: string[] = [];
    const everywhere = hookFoldersOf(user);
    const found = [...repositories];
    for (const repository of found) {
      const settings = await settingsOf(repository);
      const ofModules = await settingsBelow(join(repository.common, "modules"));
      if (settings === undefined || ofModules === undefined) return undefined;
      if (configRunsProgramsUnhindered(settings) || configRunsPrograms(ofModules)) return undefined;
      if (await runsPreparedSteps(repository)) return undefined;
      const borrowed = await placesElsewhere(repository, plainValues(settings, "worktree") ?? []);
      if (borrowed === undefined || settingsNameFilesElsewhere(repository, settings)) return undefined;
      places.push(...borrowed);
      if (hasReadingHook(repository, settings, cwd, everywhere) || showsAnotherFolder(repository, settings))
        return undefined;
      const submodules = await submodulesOf(repository, settings);
      if (submodules === undefined || found.push(...submodules) > mostRepositories) return undefined;
    }
    return places;
  } catch {
    return undefined;
  }
}

/** Whether the user's settings make git check signatures with another program. True if that is unclear. */
export async function showsSignatures(): Promise<boolean> {
  const user = await userSettings().catch(() => undefined);
  return user === undefined || user.some(checksSignatures);
}
