import { isPlainName } from "../files/links-below.ts";
import { repositoriesAround } from "./repository.ts";
import { trackedFiles } from "./tracked-files.ts";

/** Nothing, when every name that git tracks around a folder is surely one plain word and no flag; else no answer. */
export async function trackedNames(folder: string): Promise<readonly string[] | undefined> {
  const { repositories, unclear } = await repositoriesAround(folder);
  if (unclear) return undefined;
  for (const repository of repositories) {
    const tracked = await trackedFiles(repository);
    if (tracked?.entries.every(({ path }) => isPlainName(path)) !== true) return undefined;
  }
  return [];
}
