import { stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The top of the repository that a folder lies in; the folder itself where there is none. */
export async function repositoryRoot(cwd: string): Promise<string> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    if (await exists(join(folder, ".git"))) return folder;
    if (dirname(folder) === folder) return cwd;
  }
}

/** From `root` down to `cwd`, both of them too. */
export function foldersBetween(root: string, cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === root || dirname(folder) === folder) return folders;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
