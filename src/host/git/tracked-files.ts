import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isPlainName } from "../files/links-below.ts";
import { entriesInIndex, type IndexEntry } from "./git-index.ts";
import { isThere, type Repository, readSmall, repositoriesAround } from "./repository.ts";

const largestIndex = 64 * 1024 * 1024;

interface TrackedFiles {
  readonly entries: readonly IndexEntry[];
  readonly algorithm: "sha1" | "sha256";
}

/** The files that git tracks in a repository; `undefined` if its index is not fully understood. */
export async function trackedFiles({ folder, common }: Repository): Promise<TrackedFiles | undefined> {
  const settings = (await readSmall(join(common, "config"))) ?? "";
  const algorithm = /\bobjectformat\s*=\s*"?sha256/i.test(settings) ? "sha256" : "sha1";
  const index = join(folder, "index");
  if (!isThere(index)) return { entries: [], algorithm };
  const stats = await stat(index);
  if (!stats.isFile() || stats.size > largestIndex) return undefined;
  const entries = entriesInIndex(await readFile(index), algorithm === "sha256" ? 32 : 20, () => true);
  return entries && { entries, algorithm };
}

/** Empty if every name that git tracks around a folder is one plain word and not a flag; otherwise `undefined`. */
export async function trackedNames(folder: string): Promise<readonly string[] | undefined> {
  const { repositories, unclear } = await repositoriesAround(folder);
  if (unclear) return undefined;
  for (const repository of repositories) {
    const tracked = await trackedFiles(repository);
    if (tracked?.entries.every(({ path }) => isPlainName(path)) !== true) return undefined;
  }
  return [];
}
