/** Names inside a `.git` folder, at any depth: submodules have them too. */
const namesOfGit = ["config", "config.worktree", "hooks"] as const;

/** Processes and devices: their files hold secrets, never end, or block. */
const systemTrees = ["/proc", "/sys", "/dev"] as const;

/** Why a folder is not searched; `undefined` if it is. */
export function whyNotSearched(folder: string): string | undefined {
  const tree = systemTrees.find((root) => `${folder}/`.startsWith(`${root}/`));
  return tree && `${tree} contains processes and devices, and is not searched. Use Read for one file.`;
}

/**
 * Globs that a folder's search excludes: protected places and system trees below it, Tinman's own folders, and in
 * `.git` folders what starts programs or holds credentials. Empty without protected places.
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
