/** Names inside a `.git` folder, at any depth: submodules have them too. */
const namesOfGit = ["config", "config.worktree", "hooks"] as const;

/**
 * Globs for what a search of a folder leaves out: the places that lie below it, anchored there; every folder of Tinman's
 * own; and inside a `.git` folder what starts programs or holds credentials. Without protected places, nothing.
 */
export function placesBelow(folder: string, places: readonly string[]): readonly string[] {
  if (places.length === 0) return [];
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  const below = places
    .filter((place) => place.startsWith(base))
    .map((place) => `/${place.slice(base.length).replace(/[*?[\]{}!\\]/g, "\\$&")}`);
  return [...below, ".tinman", ...(/\/\.git\//i.test(base) ? namesOfGit : [])];
}
