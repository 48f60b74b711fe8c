import { stat } from "node:fs/promises";
import { dirname, join, parse } from "node:path";

/** The root of the repository around a folder, or the folder itself. */
export async function repositoryRoot(cwd: string): Promise<string> {
  if (await hasRepository(cwd)) return cwd;
  // In parallel, because this runs with every prompt.
  const above = foldersBetween(parse(cwd).root, dirname(cwd));
  const found = await Promise.all(above.map(hasRepository));
  return above[found.lastIndexOf(true)] ?? cwd;
}

/** From `root` down to `cwd`, inclusive. */
export function foldersBetween(root: string, cwd: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = cwd; ; folder = dirname(folder)) {
    folders.unshift(folder);
    if (folder === root || dirname(folder) === folder) return folders;
  }
}

async function hasRepository(folder: string): Promise<boolean> {
  try {
    await stat(join(folder, ".git"));
    return true;
  } catch {
    return false;
  }
}
