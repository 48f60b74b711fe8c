import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { entriesInIndex, type IndexEntry } from "./git-index.ts";
import { isThere, type Repository, readSmall } from "./repository.ts";

const largestIndex = 64 * 1024 * 1024;

export interface TrackedFiles {
  readonly entries: readonly IndexEntry[];
  readonly algorithm: "sha1" | "sha256";
}

/** What git tracks in a repository; `undefined` when its index is not wholly understood. */
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
