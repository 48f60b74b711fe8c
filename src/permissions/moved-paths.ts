import type { CommandPart, Lookup } from "../core/permission.ts";
import { classed } from "./parts.ts";

/**
 * Paths that a part of a command may make lead somewhere else: by a new link, or by files that it unpacks or puts in place.
 * What is looked up before the command runs says nothing about them. One that ends with a slash stands for everything below.
 */
export interface MovedPaths {
  add(paths: readonly string[]): void;
  /** The same part, `high` when it uses such a path. */
  guard(part: CommandPart): CommandPart;
  /** Told of parts that may run at the same time as others, or again. */
  overlaps(): void;
  /** For a second look, in which the order does not count; `undefined` when there is no need for it. */
  readonly again: MovedPaths | undefined;
}

/** Files that make a repository of a folder. */
const partOfRepository = /\/(HEAD|config|objects|refs|commondir|\.git)(\/|$)/i;

export function createMovedPaths(known: readonly string[] = []): MovedPaths {
  const moved = new Set(known);
  const names = new Set<string>();
  const before = known.length;
  let isOrdered = true;
  return {
    add: (paths) => paths.forEach((path) => void moved.add(path)),
    guard(part) {
      const used = part.touches.find(({ lookup }) => [...moved].some((entry) => passes(lookup, entry)));
      for (const { use, lookup } of part.touches) {
        if (use !== "write") continue;
        names.add(lookup.path.split("/").at(-1) ?? "");
        if (partOfRepository.test(lookup.path)) moved.add(lookup.path);
      }
      const runs = part.touches.find(({ use, lookup }) => use === "run" && names.has(lookup.path));
      if (runs !== undefined && part.class !== "high") {
        return classed(part, "high", "moved-path", `runs ${runs.lookup.path}, which the command writes itself`);
      }
      if (used === undefined || part.class === "high") return part;
      const why = `uses ${used.lookup.path}, which an earlier part of the command may have changed; it would have to be run by itself`;
      return classed(part, "high", "moved-path", why);
    },
    overlaps: () => {
      isOrdered = false;
    },
    get again() {
      return isOrdered || moved.size === before ? undefined : createMovedPaths([...moved]);
    },
  };
}

/** Whether a path goes through another one, or a pattern may. */
function passes({ what, path }: Lookup, entry: string): boolean {
  if (what === "program") return false;
  const isBelow = entry.endsWith("/");
  const base = isBelow ? entry.slice(0, -1) : entry;
  const reached: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    if (what === "matches" && /[*?[\]\\+@!(]/.test(name))
      return `${base}/`.startsWith(`/${[...reached, ""].join("/")}`);
    if (name === "..") reached.pop();
    else reached.push(name);
    const at = `/${reached.join("/")}`;
    if (isBelow ? at.startsWith(`${base}/`) : at === base) return true;
  }
  // Of a folder that is looked through, what was put into it counts as well.
  return what !== "path" && `${base}/`.startsWith(`/${[...reached, ""].join("/")}`);
}
