import { isBuilt } from "../../engine/build-folders.ts";
import type { DecisionContext } from "../../engine/permission.ts";
import { liesIn } from "./path-names.ts";

/**
 * Whether a build can regenerate something, or this session created it. Files moved there count as neither, because
 * they came from elsewhere.
 */
export function isExpendable(path: string, { cwd, made }: Pick<DecisionContext, "cwd" | "made">): boolean {
  const isMoved = [...(made?.moved ?? [])].some((place) => liesIn(path, place) || liesIn(place, path));
  return !isMoved && (isBuilt(path, cwd) || made?.created.has(path) === true);
}
