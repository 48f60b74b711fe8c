import type { DecisionContext } from "../core/permission.ts";

type Homes = Pick<DecisionContext, "home" | "ownHome" | "loginHome">;

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

const passwordFiles = ["/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-"] as const;

/** Places that start programs or configure Tinman, wherever a repository lies; also those of its submodules. */
const protectedAnywhere = [
  /\/\.git\/((modules|worktrees)\/(.+\/)?)?(hooks(\/|$)|config(\.worktree)?$)/,
  /\/\.tinman(\/|$)/,
];
/** Whatever is written into a repository may decide what git runs. */
const protectedFromWriting = /\/\.git(\/|$)/;
const protectedSystem = [/^\/proc\/[^/]+\/(task\/[^/]+\/)?(environ|mem|maps|auxv|cmdline|fd|cwd|root)(\/|$)/];

/**
 * Protected names are always compared as a file system would that does not tell cases apart; whether something lies in the
 * workspace, only where the file system is of that kind.
 */
export function scopeOf(
  path: string,
  context: Pick<DecisionContext, "cwd" | "home" | "ownHome" | "loginHome" | "readable" | "foldsCase">,
  use: "read" | "write" = "read",
): PathScope {
  const lies = (folder: string): boolean => liesIn(path, folder, context.foldsCase);
  if (context.readable.some(lies)) return "workspace";
  if (isProtected(path, context) || (use === "write" && protectedFromWriting.test(folded(path)))) return "protected";
  return lies(context.cwd) ? "workspace" : "outside";
}

/** What belongs to the machine and not to its user. */
const systemPlaces = /^\/(bin|boot|dev|etc|lib\w*|opt|proc|sbin|sys|usr|var|system|library|applications)(\/|$)/;

/** Whether writing there changes the system. Temporary files lie there on some machines, and do not. */
export function isSystemPlace(path: string, { temp, foldsCase }: Pick<DecisionContext, "temp" | "foldsCase">): boolean {
  return systemPlaces.test(folded(plain(path))) && !liesIn(path, temp, foldsCase) && !liesIn(path, "/var/tmp");
}

export function liesIn(path: string, folder: string, foldsCase = false): boolean {
  return foldsCase ? isInside(folded(path), folded(folder)) : isInside(path, folder);
}

/** The protected places that are known by name. */
export function protectedPlaces(homes: Homes): readonly string[] {
  return namedPlaces(homes).written;
}

interface NamedPlaces {
  readonly of: Homes;
  readonly written: readonly string[];
  readonly folded: readonly string[];
}

/** The homes of a process do not change, and every path of every command is compared with these. */
let lastPlaces: NamedPlaces | undefined;

function namedPlaces({ home, ownHome, loginHome }: Homes): NamedPlaces {
  const { of } = lastPlaces ?? {};
  const isSame = of?.home === home && of.ownHome === ownHome && of.loginHome === loginHome;
  if (lastPlaces !== undefined && isSame) return lastPlaces;
  const homes = loginHome === undefined || loginHome === home ? [home] : [home, loginHome];
  const underHomes = homes.flatMap((folder) => protectedUnderHome.map((name) => plain(`${folder}/${name}`)));
  const written = [plain(ownHome), ...underHomes, ...passwordFiles];
  lastPlaces = {
    of: { home, ownHome, ...(loginHome === undefined ? {} : { loginHome }) },
    written,
    folded: written.map(folded),
  };
  return lastPlaces;
}

/** A protected place that is read with all of a folder. */
export function protectedIn(folder: string, homes: Homes): string | undefined {
  const path = plain(folder);
  if (isInside(path, "/proc")) return "the environments of processes";
  if (/\/\.git(\/(modules|worktrees)(\/.*)?)?$/i.test(path)) return "the configuration of git";
  return protectedPlaces(homes).find((place) => isInside(place, path));
}

function isProtected(path: string, homes: Homes): boolean {
  const name = folded(plain(path));
  if (namedPlaces(homes).folded.some((place) => isInside(name, place))) return true;
  return [...protectedAnywhere, ...protectedSystem].some((pattern) => pattern.test(name));
}

/** Whether a path is a folder or lies in it; `/a-b` is not inside `/a`. */
export function isInside(path: string, folder: string): boolean {
  const base = plain(folder);
  return base === "/" || `${plain(path)}/`.startsWith(`${base}/`);
}

/** What some file systems pass over in names. */
const ignorable = /\p{Default_Ignorable_Code_Point}/gu;

/** A name as the least exact file system compares it: `.SSH`, and `.ſsh` with the long s, are `.ssh`. */
function folded(path: string): string {
  if (/^[ -@[-~]*$/.test(path)) return path;
  return path.normalize("NFKC").replace(ignorable, "").toUpperCase().toLowerCase();
}

/** Without doubled slashes, and without one at the end. */
function plain(path: string): string {
  if (!path.includes("//") && !path.endsWith("/")) return path;
  return path.replace(/\/{2,}/g, "/").replace(/(?<=.)\/$/, "");
}
