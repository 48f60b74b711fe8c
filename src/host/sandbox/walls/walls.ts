import { lstatSync, realpathSync, type Stats } from "node:fs";
import { dirname } from "node:path";
import type { Containment } from "../../../engine/containment.ts";
import { canonicalPath } from "../../files/canonical-path.ts";
import { liesBelow } from "../../files/where-it-leads.ts";
import { mayVanish } from "./mount-points.ts";
import type { Mount, Walls } from "./wall-plan.ts";

/** A command's access to a place and everything below it. */
type Rule = "write" | "keep" | "hide" | "show";

function depthOrder(left: string, right: string): number {
  const [a, b] = [left.split("/"), right.split("/")];
  for (let at = 0; at < a.length && at < b.length; at += 1) {
    const [one = "", other = ""] = [a[at], b[at]];
    if (one !== other) return one < other ? -1 : 1;
  }
  return a.length - b.length;
}

/** Inspects paths on this machine. Skips everything below a missing folder, because most of hundreds are missing. */
function createLook(): (path: string) => Stats | undefined {
  const seen = new Map<string, Stats | undefined>();
  const look = (path: string): Stats | undefined => {
    if (seen.has(path)) return seen.get(path);
    let found: Stats | undefined;
    try {
      const parent = dirname(path);
      if (parent === path || look(parent) !== undefined) found = lstatSync(path, { throwIfNoEntry: false });
    } catch {
      // A folder that we cannot read is closed for the command too.
    }
    seen.set(path, found);
    return found;
  };
  return look;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

interface Found {
  readonly rules: ReadonlyMap<string, Rule>;
  readonly links: ReadonlyMap<string, string>;
}

/**
 * The rules for the current paths. If a protected place is a link, or below one, its target is protected as well. A path
 * to open that has become a link since the decision stays closed.
 */
async function findRules(walls: Containment, look: ReturnType<typeof createLook>): Promise<Found> {
  const rules = new Map<string, Rule>();
  const links = new Map<string, string>();
  const isReal = (path: string) => look(path) !== undefined && realPath(path) === path;
  const close = async (paths: readonly string[], rule: Rule, bars = false) => {
    for (const path of paths) {
      if (!bars && look(path) === undefined) continue;
      let at = path;
      while (look(at) === undefined && at !== dirname(at)) at = dirname(at);
      const real = realPath(at) === at ? path : await canonicalPath(path, "/");
      rules.set(real, rule);
      if (real !== path && rule === "keep") links.set(path, real);
    }
  };
  for (const named of walls.writable) {
    let path = named;
    while (look(path) === undefined && path !== dirname(path)) path = dirname(path);
    if (path !== "/" && isReal(path)) rules.set(path, "write");
  }
  for (const path of [...walls.caches, ...walls.outputs]) if (isReal(path)) rules.set(path, "write");
  await close(walls.kept, "keep");
  await close(walls.barred, "keep", true);
  await close(walls.hidden, "hide");
  for (const named of walls.shown) {
    // Open a link only if its target was hidden when the decision was made. Otherwise it was swapped since.
    const path = look(named)?.isSymbolicLink() === true ? (realPath(named) ?? named) : named;
    if (path !== named && !walls.hidden.includes(path)) continue;
    if ((rules.get(path) ?? "hide") === "hide" && isReal(path)) rules.set(path, "show");
  }
  return { rules, links };
}

/** Whether a place already has the rule's access through the rule around it. */
function isNeedless(rule: Rule, outer: Rule | undefined): boolean {
  if (rule === "write" || rule === "hide") return rule === outer;
  if (rule === "show") return outer !== "hide";
  return outer !== "write";
}

/** The mounts that build these walls on a read-only disk. Rejects if a path has a loop of links. */
export async function planWalls(walls: Containment): Promise<Walls> {
  const look = createLook();
  const { rules, links } = await findRules(walls, look);
  const mounts = new Map<string, Mount["as"]>();
  const missing: string[] = [];
  const missingKept: string[] = [];
  const around: { readonly path: string; readonly rule: Rule }[] = [];

  const isOpen = (rule: Rule | undefined) => rule === "write";
  /** Anchors from the outermost writable folder down to the folder of `path`. */
  const anchor = (path: string) => {
    let outermost = around.length - 1;
    while (outermost > 0 && isOpen(around[outermost - 1]?.rule)) outermost -= 1;
    const top = around[outermost]?.path ?? "/";
    for (let at = dirname(path); at !== top && liesBelow(at, top); at = dirname(at)) {
      if (!mounts.has(at)) mounts.set(at, "anchor");
    }
  };
  const make = (path: string) => {
    const chain: string[] = [];
    for (let at = path; look(at) === undefined && at !== dirname(at); at = dirname(at)) chain.unshift(at);
    for (const folder of new Set([...chain, path])) if (!missing.includes(folder)) missing.push(folder);
    missingKept.push(path);
  };

  for (const path of [...rules.keys()].sort(depthOrder)) {
    const rule = rules.get(path) ?? "hide";
    while (around.length > 0 && !liesBelow(path, around.at(-1)?.path ?? "/")) around.pop();
    const outer = around.at(-1)?.rule;
    const stat = look(path);
    if (stat === undefined || (rule === "keep" && stat.isDirectory() && isOpen(outer) && mayVanish(path))) {
      if (!isOpen(outer)) continue;
      anchor(path);
      make(path);
      around.push({ path, rule });
      mounts.set(path, "empty folder");
      continue;
    }
    if (isNeedless(rule, outer)) continue;
    if (isOpen(outer)) anchor(path);
    around.push({ path, rule });
    if (rule === "write") mounts.set(path, "write");
    else if (rule === "hide") mounts.set(path, stat.isDirectory() ? "empty folder" : "empty file");
    else mounts.set(path, "read");
  }
  const ordered = [...mounts.keys()].sort(depthOrder);
  return { mounts: ordered.map((path) => ({ path, as: mounts.get(path) ?? "read" })), missing, missingKept, links };
}
