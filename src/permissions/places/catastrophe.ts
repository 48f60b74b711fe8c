import type { DecisionContext } from "../../engine/permission.ts";
import { liesIn } from "./path-names.ts";
import type { KnownPlaces } from "./protected-paths.ts";

const systemFolder =
  /^\/(?:bin|boot|dev|etc|home|lib\w*|mnt|media|opt|private|proc|root|run|sbin|srv|sys|usr(?:\/\w+)?|var(?:\/\w+)?|Applications|Library|System|Users|Volumes)$/;

/** Why a path must never be deleted, moved or replaced unasked; `undefined` if there is no such reason. */
export function catastropheOf(
  path: string,
  { cwd, home, loginHome = home, foldsCase }: KnownPlaces & Pick<DecisionContext, "foldsCase">,
): string | undefined {
  const holds = (folder: string): boolean => liesIn(folder, path, foldsCase);
  if (holds(home) || holds(loginHome)) return "which is or contains a home folder";
  if (holds(cwd)) return "which is or contains the whole workspace";
  return systemFolder.test(path) ? "a system folder" : undefined;
}
