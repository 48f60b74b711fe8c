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

/** Places that start programs or configure Tinman, wherever a repository lies. */
const protectedAnywhere = [/\/\.git\/hooks(\/|$)/, /\/\.git\/config$/, /\/\.tinman(\/|$)/];
const protectedSystem = [
  /^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|maps|auxv|cmdline|fd)(\/|$)/,
  /^\/etc\/g?shadow-?$/,
];

/** Names are compared in lower case too, because some file systems do not tell the cases apart. */
export function scopeOf(
  path: string,
  context: Pick<DecisionContext, "cwd" | "home" | "ownHome" | "readable">,
): PathScope {
  if (context.readable.some((folder) => isInside(path, folder))) return "workspace";
  if (isProtected(path, context)) return "protected";
  return isInside(path, context.cwd) ? "workspace" : "outside";
}

/** The protected places that are known by name. */
export function protectedPlaces({ home, ownHome }: Pick<DecisionContext, "home" | "ownHome">): readonly string[] {
  return [ownHome, ...protectedUnderHome.map((name) => `${home}/${name}`)];
}

function isProtected(path: string, { home, ownHome }: Pick<DecisionContext, "home" | "ownHome">): boolean {
  const folded = path.toLowerCase();
  if (protectedPlaces({ home, ownHome }).some((place) => isInside(folded, place.toLowerCase()))) return true;
  return [...protectedAnywhere, ...protectedSystem].some((pattern) => pattern.test(folded));
}

/** Whether a path is a folder or lies in it; `/a-b` is not inside `/a`. */
export function isInside(path: string, folder: string): boolean {
  const base = folder.endsWith("/") ? folder : `${folder}/`;
  return path === folder || `${path}/` === base || path.startsWith(base);
}
