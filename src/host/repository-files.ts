import { type Dirent, readdirSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parseSettings, type Setting } from "./git-settings.ts";
import { leadsTo, looksLikeGit, type Repository } from "./repository.ts";
import { liesBelow } from "./where-it-leads.ts";

/** Addresses of other repositories, which are only looked at when something is fetched. */
const addresses = /^(?:url|pushurl|fetch|push|insteadof|pushinsteadof|merge|remote)$/;
/** They name a file, also where the value does not look like a path. Git shows lines of it, or of what is wrong with it. */
const fileKeys =
  /^(?:ignorerevsfile|skiplist|excludesfile|attributesfile|file|template|orderfile|cookiefile|\w*allowedsignersfile|revocationfile|ssl\w*)$/;

/** Whether a repository's settings make git read a file that is neither the repository's nor its working tree's. */
export function settingsNameFilesElsewhere(repository: Repository, config: string): boolean {
  const settings = parseSettings(config);
  return settings === undefined || settings.some((setting) => namesFileElsewhere(setting, repository));
}

function namesFileElsewhere({ section, key, value = "" }: Setting, { root, folder, common }: Repository): boolean {
  if (addresses.test(key) || (section === "core" && /^(?:worktree|hookspath)$/.test(key))) return false;
  if (!fileKeys.test(key) && !/^[~/%:]|(?:^|\/)\.\.(?:\/|$)/.test(value)) return false;
  // Prefixes of git's own, and other people's homes.
  if (/^[%:]|^~[^/]/.test(value)) return true;
  const path = value.replace(/^~(?=\/)/, process.env.HOME || homedir());
  const places = [root, folder, common].flatMap((place) => leadsTo(place, "/") ?? []);
  const found = [root, folder].map((base) => leadsTo(path, base));
  return found.some((file) => file !== undefined && !places.some((place) => liesBelow(file, place)));
}

/** In these, links are no files that git shows, or there are too many. */
const passedOver = new Set(["refs", "logs", "hooks", "modules", "lfs", "pack"]);
const deepest = 3;
const mostEntries = 5_000;

/**
 * Whether something in a repository's own folder is a link to a file elsewhere, which git would show as its own. Links into
 * other repositories are left alone: some tools share parts of several that way. Also when there is too much in it.
 */
export function linksElsewhere({ root, folder, common }: Repository): boolean {
  const places = [root, folder, common].flatMap((place) => leadsTo(place, "/") ?? []);
  let left = mostEntries;
  const leadsAway = (link: string): boolean => {
    const target = leadsTo(link, "/");
    return target !== undefined && !places.some((place) => liesBelow(target, place)) && !isInRepository(target);
  };
  const look = (place: string, depth: number): boolean =>
    entriesOf(place).some((entry) => {
      left -= 1;
      const path = join(place, entry.name);
      if (left < 0) return true;
      if (entry.isSymbolicLink()) return leadsAway(path);
      const isObjects = /^[0-9a-f]{2}$/.test(entry.name);
      return (
        entry.isDirectory() && depth < deepest && !passedOver.has(entry.name) && !isObjects && look(path, depth + 1)
      );
    });
  return [...new Set([folder, common])].some((place) => look(place, 1));
}

function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function isInRepository(path: string): boolean {
  return [path, dirname(path), dirname(dirname(path))].some(looksLikeGit);
}
