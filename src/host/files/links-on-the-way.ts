import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { createPace, type Pace } from "../../async/pace.ts";
import { nameOfBytes } from "../../text/shown-name.ts";
import { longestPath } from "./canonical-path.ts";
import { onDisk } from "./system-path.ts";
import { liesBelow } from "./where-it-leads.ts";

/** Linux's limit for one path. */
const maxLinks = 40;

interface Way {
  /** The target; in a loop, the link where following stopped. */
  readonly end: string;
  /** The links followed, each as its canonical folder plus its name. */
  readonly links: readonly string[];
  /** Whether `end` exists. */
  readonly isThere: boolean;
}

type Seen = { readonly target: string } | "plain" | "missing";

function look(path: string): Seen {
  try {
    const place = onDisk(path);
    const stats = lstatSync(place, { throwIfNoEntry: false });
    if (stats === undefined) return "missing";
    return stats.isSymbolicLink() ? { target: nameOfBytes(readlinkSync(place, { encoding: "buffer" })) } : "plain";
  } catch {
    // Keep an unreadable part by its name: commands cannot follow it either.
    return "plain";
  }
}

export type Walk = (path: string) => Promise<Way>;

/**
 * Resolves absolute paths as the system does, checking each part once. Checks synchronously, because there are many paths and
 * each check takes microseconds, but yields in between. Does not follow links in `/proc`, which differ for every process.
 */
export function createWalk(pace: Pace = createPace()): Walk {
  const known = new Map<string, Seen>();
  const seenAt = (path: string): Seen => {
    let seen = known.get(path);
    if (seen !== undefined) return seen;
    if (liesBelow(path, "/proc")) seen = "plain";
    else seen = known.get(dirname(path)) === "missing" ? "missing" : look(path);
    known.set(path, seen);
    return seen;
  };
  return async (path) => {
    // The system rejects longer paths, so it follows no link in them.
    if (path.length > longestPath) return { end: path, links: [], isThere: false };
    const names = path.split("/").reverse();
    const links: string[] = [];
    let end = "/";
    let isThere = true;
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === "" || name === ".") continue;
      if (name === "..") {
        end = dirname(end);
        continue;
      }
      const next = join(end, name);
      const pause = pace.rest();
      if (pause !== undefined) await pause;
      const seen = seenAt(next);
      isThere = seen !== "missing";
      if (typeof seen === "string") {
        end = next;
        continue;
      }
      links.push(next);
      if (links.length > maxLinks) return { end: next, links: [...new Set(links)], isThere };
      if (isAbsolute(seen.target)) end = "/";
      names.push(...seen.target.split("/").reverse());
    }
    return { end, links, isThere };
  };
}
