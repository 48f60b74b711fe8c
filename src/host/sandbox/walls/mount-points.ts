import { lstatSync, mkdirSync, readdirSync, readlinkSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "../../../text/system-errors.ts";
import { canonicalPath } from "../../files/canonical-path.ts";
import { statusNow } from "../../processes/process-status.ts";
import type { Walls } from "./wall-plan.ts";

export interface HeldPlaces {
  /** Folders to remove when this command ends, parents first. */
  readonly folders: readonly string[];
  /** Places that could not be created, so that the command cannot create them either. */
  readonly impossible: ReadonlySet<string>;
  /** Protected places that appeared or changed meanwhile. No contained command can do that. */
  release(): Promise<readonly string[]>;
}

/** `owner`: we created the folder. `guest`: it existed before, and stays. */
type Use = "owner" | "guest";

/** Folders that we use for mounts, and how many commands use each. */
const uses = new Map<string, { readonly as: Use; count: number }>();

const markPrefix = ".tinman-holds-";
let ownMark: string | undefined;

/** Identifies our PID namespace, because process ids are only unique within one. */
function processes(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  } catch {
    return "0";
  }
}

/**
 * An empty folder in a mount point, one for each process that uses it. Removing a mount point would remove the mounts of
 * other processes as well, so the last one does it. Git does not see empty folders.
 */
function markOf(place: string): string {
  ownMark ??= `${markPrefix}${processes()}-${process.pid}-${statusNow(process.pid)?.startTicks ?? 0}`;
  return join(place, ownMark);
}

/** A process in another PID namespace counts as alive. */
function isLeftOver(mark: string): boolean {
  const [namespace, pid, ticks] = mark.slice(markPrefix.length).split("-");
  return namespace === processes() && statusNow(Number(pid))?.startTicks !== Number(ticks);
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It has content or is gone.
  }
}

/** The marks in a folder; `undefined` if it holds anything else. */
function marksIn(place: string): readonly string[] | undefined {
  try {
    const names = readdirSync(place);
    return names.every((name) => name.startsWith(markPrefix)) ? names : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a folder is empty, apart from marks. Another process may remove it before our mount. */
export function mayVanish(place: string): boolean {
  return marksIn(place) !== undefined;
}

/** False if it already exists, or the command could not create it either. */
function made(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o755 });
    return true;
  } catch (error) {
    if (["EEXIST", "EACCES", "EPERM", "EROFS", "ENOENT"].includes(String(errorCode(error)))) return false;
    throw error;
  }
}

/** Another process may remove its mount point between our check and our mark, so we retry. */
const markTries = 20;

/** `undefined` if neither we nor the command can create or use it. */
function take(path: string, isKept: boolean): Use | undefined {
  if (!isKept) return made(path) ? "owner" : undefined;
  for (let tries = 0; tries < markTries; tries += 1) {
    const marks = made(path) ? undefined : (marksIn(path) ?? []);
    if (made(markOf(path))) return marks?.length === 0 ? "guest" : "owner";
  }
  return undefined;
}

function give(path: string, isKept: boolean, use: Use): void {
  if (isKept) {
    removeEmpty(markOf(path));
    for (const mark of marksIn(path) ?? []) if (isLeftOver(mark)) removeEmpty(join(path, mark));
  }
  // It stays while it has content, or another process uses it.
  if (use === "owner") removeEmpty(path);
}

function isEmptyOrGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined || marksIn(path) !== undefined;
  } catch {
    return false;
  }
}

/**
 * Creates the folders that the mounts of missing places need, and removes them with the last command that uses them, also
 * of other processes. A folder with content is never removed.
 */
export function holdPlaces({ missing, missingKept, links }: Omit<Walls, "mounts">): HeldPlaces {
  const kept = new Set(missingKept);
  const folders = missing.filter((path) => {
    const known = uses.get(path);
    const as = known?.as ?? take(path, kept.has(path));
    if (as === undefined) return false;
    uses.set(path, { as, count: (known?.count ?? 0) + 1 });
    return true;
  });
  const impossible = missing.filter((path) => lstatSync(path, { throwIfNoEntry: false }) === undefined);
  return {
    folders: folders.flatMap((path) => [
      ...(uses.get(path)?.as === "owner" ? [path] : []),
      ...(kept.has(path) ? [markOf(path)] : []),
    ]),
    impossible: new Set(impossible),
    async release() {
      const appeared = missingKept.filter((path) => !isEmptyOrGone(path));
      for (const [path, target] of links) {
        if ((await canonicalPath(path, "/").catch(() => undefined)) !== target) appeared.push(path);
      }
      for (const path of [...folders].reverse()) {
        const use = uses.get(path);
        if (use === undefined) continue;
        use.count -= 1;
        if (use.count > 0) continue;
        uses.delete(path);
        give(path, kept.has(path), use.as);
      }
      return appeared;
    },
  };
}
