import { isBuilt } from "../../engine/build-folders.ts";
import type { DecisionContext } from "../../engine/permission.ts";
import { folded, liesIn, plain } from "./path-names.ts";
import { isProtected, type KnownPlaces } from "./protected-paths.ts";

type Folding = Pick<DecisionContext, "foldsCase">;

/** Where a canonical path is, for a decision. */
export type PathScope = "workspace" | "outside" | "protected";

/**
 * Protected names are always compared ignoring case. Whether a path is in the workspace ignores case only if the file
 * system does.
 */
export function scopeOf(
  path: string,
  context: KnownPlaces & Pick<DecisionContext, "readable"> & Folding,
  use: "read" | "write" = "read",
): PathScope {
  const lies = (folder: string): boolean => liesIn(path, folder, context.foldsCase);
  if (context.readable.some(lies)) return "workspace";
  if (isProtected(path, context, use)) return "protected";
  return lies(context.cwd) ? "workspace" : "outside";
}

/** Paths that belong to the system rather than its user. */
const systemPlaces = /^\/(bin|boot|dev|etc|lib\w*|opt|proc|sbin|sys|usr|var|system|library|applications)(\/|$)/;

/** Folders in a home where programs keep their settings, scripts and installed files. */
const settingsFolders = [".config", ".local", "Library/Preferences", "Library/Scripts", "Library/Application Support"];

/** Whether writing there may change what the user's programs do. Some settings name programs to run. */
export function isSettingsPlace(path: string, { home, loginHome = home, foldsCase }: KnownPlaces & Folding): boolean {
  return settingsFolders.some((name) =>
    [home, loginHome].some((folder) => liesIn(path, `${folder}/${name}`, foldsCase)),
  );
}

/** Whether writing there changes the system. On some machines temporary folders are below system paths. */
export function isSystemPlace(path: string, { temp, foldsCase }: Pick<DecisionContext, "temp"> & Folding): boolean {
  return systemPlaces.test(folded(plain(path))) && !liesIn(path, temp, foldsCase) && !liesIn(path, "/var/tmp");
}

const systemFolder =
  /^\/(?:bin|boot|dev|etc|home|lib\w*|mnt|media|opt|private|proc|root|run|sbin|srv|sys|usr(?:\/\w+)?|var(?:\/\w+)?|Applications|Library|System|Users|Volumes)$/;

/** Why a path must never be deleted, moved or replaced unasked; `undefined` if there is no such reason. */
export function catastropheOf(
  path: string,
  { cwd, home, loginHome = home, foldsCase }: KnownPlaces & Folding,
): string | undefined {
  const holds = (folder: string): boolean => liesIn(folder, path, foldsCase);
  if (holds(home) || holds(loginHome)) return "which is or contains a home folder";
  if (holds(cwd)) return "which is or contains the whole workspace";
  return systemFolder.test(path) ? "a system folder" : undefined;
}

/**
 * Whether a build can regenerate something, or this session created it. Files moved there count as neither, because
 * they came from elsewhere.
 */
export function isExpendable(path: string, { cwd, made }: Pick<DecisionContext, "cwd" | "made">): boolean {
  const isMoved = [...(made?.moved ?? [])].some((place) => liesIn(path, place) || liesIn(place, path));
  return !isMoved && (isBuilt(path, cwd) || made?.created.has(path) === true);
}
