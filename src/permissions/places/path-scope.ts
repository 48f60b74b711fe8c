import type { DecisionContext } from "../../engine/permission.ts";
import { folded, liesIn, plain } from "./path-names.ts";
import { isProtected, type KnownPlaces } from "./protected-paths.ts";

/** Where a canonical path is, for a decision. */
export type PathScope = "workspace" | "outside" | "protected";

/**
 * Protected names are always compared ignoring case. Whether a path is in the workspace ignores case only if the file
 * system does.
 */
export function scopeOf(
  path: string,
  context: KnownPlaces & Pick<DecisionContext, "readable" | "foldsCase">,
  use: "read" | "write" = "read",
): PathScope {
  const lies = (folder: string): boolean => liesIn(path, folder, context.foldsCase);
  if (context.readable.some(lies)) return "workspace";
  if (isProtected(path, context, use)) return "protected";
  return lies(context.cwd) ? "workspace" : "outside";
}

/** Paths that belong to the system rather than its user. */
const systemPlaces = /^\/(bin|boot|dev|etc|lib\w*|opt|proc|sbin|sys|usr|var|system|library|applications)(\/|$)/;

/** Whether writing there changes the system. On some machines temporary folders are below system paths. */
export function isSystemPlace(path: string, { temp, foldsCase }: Pick<DecisionContext, "temp" | "foldsCase">): boolean {
  return systemPlaces.test(folded(plain(path))) && !liesIn(path, temp, foldsCase) && !liesIn(path, "/var/tmp");
}
