import type { DecisionContext } from "../core/permission.ts";
import { folded, liesIn, plain } from "./path-names.ts";
import { isProtected, type KnownPlaces } from "./protected-paths.ts";

/** Where a canonical path lies, as far as a decision cares. */
export type PathScope = "workspace" | "outside" | "protected";

/**
 * Protected names are always compared as a file system would that does not tell cases apart; whether something lies in the
 * workspace, only where the file system is of that kind.
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

/** What belongs to the machine and not to its user. */
const systemPlaces = /^\/(bin|boot|dev|etc|lib\w*|opt|proc|sbin|sys|usr|var|system|library|applications)(\/|$)/;

/** Whether writing there changes the system. Temporary files lie there on some machines, and do not. */
export function isSystemPlace(path: string, { temp, foldsCase }: Pick<DecisionContext, "temp" | "foldsCase">): boolean {
  return systemPlaces.test(folded(plain(path))) && !liesIn(path, temp, foldsCase) && !liesIn(path, "/var/tmp");
}
