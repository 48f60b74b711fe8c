import type { DecisionContext } from "../core/permission.ts";

/** Where a canonical path lies, as far as a decision cares. */
export type PathScope = "workspace" | "outside" | "protected";

/** Folders and files under the user's home that hold keys or start programs at log-in. */
const protectedUnderHome = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".config/gcloud",
  ".config/gh",
  ".config/git/credentials",
  ".docker/config.json",
  ".git-credentials",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".factory",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".config/fish",
] as const;

/** Places that start programs or configure Tinman, wherever a repository lies; also those of its submodules. */
const protectedAnywhere = [
  /\/\.git\/((modules|worktrees)\/(.+\/)?)?(hooks(\/|$)|config(\.worktree)?$)/,
  /\/\.tinman(\/|$)/,
];
/** Whatever is written into a repository may decide what git runs. */
const protectedFromWriting = /\/\.git(\/|$)/;
const protectedSystem = [
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|maps|auxv|cmdline|fd|cwd|root)(\/|$)/,
  /^\/etc\/g?shadow-?$/,
];

/** Names are compared in lower case too, because some file systems do not tell the cases apart. */
export function scopeOf(
  path: string,
  context: Pick<DecisionContext, "cwd" | "home" | "ownHome" | "readable">,
  use: "read" | "write" = "read",
): PathScope {
  if (context.readable.some((folder) => isInside(path, folder))) return "workspace";
  if (isProtected(path, context) || (use === "write" && protectedFromWriting.test(path.toLowerCase()))) {
    return "protected";
  }
  return isInside(path, context.cwd) ? "workspace" : "outside";
}

/** The protected places that are known by name. */
export function protectedPlaces({ home, ownHome }: Pick<DecisionContext, "home" | "ownHome">): readonly string[] {
  return [plain(ownHome), ...protectedUnderHome.map((name) => plain(`${home}/${name}`))];
}

/** A protected place that is read with all of a folder. */
export function protectedIn(folder: string, homes: Pick<DecisionContext, "home" | "ownHome">): string | undefined {
  const path = plain(folder);
  if (isInside(path, "/proc")) return "the environments of processes";
  if (/\/\.git(\/(modules|worktrees)(\/.*)?)?$/i.test(path)) return "the configuration of git";
  return protectedPlaces(homes).find((place) => isInside(place, path));
}

function isProtected(path: string, homes: Pick<DecisionContext, "home" | "ownHome">): boolean {
  const folded = plain(path).toLowerCase();
  if (protectedPlaces(homes).some((place) => isInside(folded, place.toLowerCase()))) return true;
  return [...protectedAnywhere, ...protectedSystem].some((pattern) => pattern.test(folded));
}

/** Whether a path is a folder or lies in it; `/a-b` is not inside `/a`. */
export function isInside(path: string, folder: string): boolean {
  const base = plain(folder);
  return base === "/" || `${plain(path)}/`.startsWith(`${base}/`);
}

/** Without doubled slashes, and without one at the end. */
function plain(path: string): string {
  return path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
}
