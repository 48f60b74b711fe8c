import { lstatSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseSettings } from "../../git/git-settings.ts";
import {
  isThere,
  leadsTo,
  looksLikeGit,
  type Repository,
  readSmall,
  repositoriesAround,
} from "../../git/repository.ts";

type Environment = Readonly<Record<string, string>>;

/** Whether a git folder outside its working tree names that tree. Only git writes that name. */
async function namesTree({ root, folder }: Repository): Promise<boolean> {
  const pointer = await readSmall(join(folder, "gitdir"));
  if (pointer !== undefined) return leadsTo(pointer.trimEnd(), folder) === join(root, ".git");
  const settings = parseSettings((await readSmall(join(folder, "config"))) ?? "") ?? [];
  const tree = settings.findLast(({ section, key }) => section === "core" && key === "worktree")?.value;
  return tree !== undefined && leadsTo(tree, folder) === root;
}

/** Those of the given folders that the workspace's git really uses. The others may be planted. */
export async function ownGitFolders(given: readonly string[], cwd: string): Promise<readonly string[]> {
  if (given.length === 0) return [];
  const { repositories } = await repositoriesAround(cwd);
  const own = await Promise.all(
    repositories.map(async (repository) => {
      const isPlain = repository.folder === join(repository.root, ".git") && isFolder(repository.folder);
      return isPlain || (await namesTree(repository)) ? [repository.folder, repository.common] : [];
    }),
  );
  return given.filter((path) => own.flat().includes(path));
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Variables that make git run no hooks. */
export function withoutHooks({ GIT_CONFIG_COUNT: count }: Environment): Environment {
  const at = Number(count) || 0;
  return {
    GIT_CONFIG_COUNT: String(at + 1),
    [`GIT_CONFIG_KEY_${at}`]: "core.hooksPath",
    [`GIT_CONFIG_VALUE_${at}`]: "/dev/null",
  };
}

/** Removes the files that a command was not allowed to create. Returns those that it created. */
export function removeNew(absent: readonly string[]): readonly string[] {
  const made = absent.filter(isThere);
  for (const path of made) rmSync(path, { recursive: true, force: true });
  return made;
}

/** Files through which git reads settings from elsewhere. Ordinary names, so commands can create them. */
export function redirectionsIn(folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) => [
    ...(!isThere(join(folder, ".git")) && looksLikeGit(folder) ? [join(folder, "HEAD")] : []),
    ...(isThere(join(folder, "commondir")) ? [join(folder, "commondir")] : []),
  ]);
}
