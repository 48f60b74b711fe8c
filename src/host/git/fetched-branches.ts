import { join } from "node:path";
import { parseSettings, type Setting } from "./git-settings.ts";
import { userSettings } from "./git-user-settings.ts";
import { isThere, readSmall, repositoriesAround } from "./repository.ts";

/** See the lookup `fetched-branches`. */
export async function fetchesOnlyRemoteBranches(cwd: string): Promise<readonly string[] | undefined> {
  const { repositories, unclear } = await repositoriesAround(cwd);
  if (unclear) return undefined;
  const settings: Setting[] = [...((await userSettings()) ?? [])];
  for (const { common, folder } of repositories) {
    for (const path of new Set([join(common, "config"), join(folder, "config.worktree")])) {
      const own = isThere(path) ? parseSettings((await readSmall(path)) ?? "[") : [];
      if (own === undefined) return undefined;
      settings.push(...own);
    }
  }
  return settings.every(staysRemote) ? [] : undefined;
}

/** Whether a remote's setting names no place for fetched branches but remote-tracking ones. */
function staysRemote({ section, key, value = "" }: Setting): boolean {
  if (!/^remote(\.|$)/.test(section)) return true;
  if (key === "mirror") return /^(false|no|off|0|)$/i.test(value);
  const target = key === "fetch" ? value.split(":")[1] : undefined;
  return target === undefined || target.startsWith("refs/remotes/");
}
