/** Names inside a `.git` folder, at any depth: submodules have them too. */
const namesOfGit = ["config", "config.worktree", "hooks"] as const;

/** Processes and devices: their files hold secrets, have no end or wait for ever. */
const systemTrees = ["/proc", "/sys", "/dev"] as const;

/** Why a folder is not searched; `undefined` when it is. */
export function whyNotSearched(folder: string): string | undefined {
  const tree = systemTrees.find((root) => `${folder}/`.startsWith(`${root}/`));
  return tree && `${tree} holds processes and devices, and is not searched. Use Read for one file.`;
}

/**
 * Globs for what a search of a folder leaves out: the places and the system's trees that lie below it, anchored there; every folder of Tinman's
 * own; and inside a `.git` folder what starts programs or holds credentials. Without protected places, nothing.
 */
export function placesBelow(folder: string, places: readonly string[]): readonly string[] {
  if (places.length === 0) return [];
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  const [, homes = "", user = "*"] = /^(\/[^/]+\/)([^/]+)\//.exec(base) ?? [];
  const below = [...places, ...systemTrees]
    .map((place) => (place.startsWith(`${homes}*/`) ? homes + user + place.slice(homes.length + 1) : place))
    .filter((place) => place.startsWith(base))
    .map((place) => `/${place.slice(base.length).replace(/[?[\]{}!\\]|\*(?!\/)/g, "\\$&")}`);
  return [...below, ".tinman", ...(/\/\.git\//i.test(base) ? namesOfGit : [])];
}
