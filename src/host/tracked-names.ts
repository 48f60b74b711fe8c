import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathsInIndex } from "./git-index.ts";
import { isPlainName } from "./links-below.ts";
import { isThere, readSmall, repositoriesAround } from "./repository.ts";

const largestIndex = 64 * 1024 * 1024;

/** Nothing, when every name that git tracks around a folder is surely one plain word and no flag; else no answer. */
export async function trackedNames(folder: string): Promise<readonly string[] | undefined> {
  const { repositories, unclear } = await repositoriesAround(folder);
  if (unclear) return undefined;
  for (const repository of repositories) {
    const index = join(repository.folder, "index");
    if (!isThere(index)) continue;
    const stats = await stat(index);
    if (!stats.isFile() || stats.size > largestIndex) return undefined;
    const settings = (await readSmall(join(repository.common, "config"))) ?? "";
    const idBytes = /\bobjectformat\s*=\s*"?sha256/i.test(settings) ? 32 : 20;
    const paths = pathsInIndex(await readFile(index), idBytes, () => true);
    if (paths === undefined || !paths.every(isPlainName)) return undefined;
  }
  return [];
}
