import { lstatSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { errorCode } from "../../text/system-errors.ts";
import { canonicalPath } from "../files/canonical-path.ts";
import type { Walls } from "./walls.ts";

export interface HeldPlaces {
  /** Mount points of this command, parents first. */
  readonly folders: readonly string[];
  /** Places that could not be created, so that the command cannot create them either. */
  readonly impossible: ReadonlySet<string>;
  /** Kept places that have appeared or changed although no contained command can do that. */
  release(): Promise<readonly string[]>;
}

/** Folders that we created for mounts, and how many commands use each. */
const uses = new Map<string, number>();

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

function isEmptyOrGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined || readdirSync(path).length === 0;
  } catch {
    return false;
  }
}

/**
 * Creates the folders that the mounts of missing places need, and removes them with the last command that uses them. A
 * folder with content is never removed.
 */
export function holdPlaces({ missing, missingKept, links }: Walls): HeldPlaces {
  const folders = missing.filter((path) => {
    const known = uses.get(path);
    if (known === undefined && !made(path)) return false;
    uses.set(path, (known ?? 0) + 1);
    return true;
  });
  const impossible = missing.filter((path) => lstatSync(path, { throwIfNoEntry: false }) === undefined);
  return {
    folders,
    impossible: new Set(impossible),
    async release() {
      const appeared = missingKept.filter((path) => !isEmptyOrGone(path));
      for (const [path, target] of links) {
        if ((await canonicalPath(path, "/").catch(() => undefined)) !== target) appeared.push(path);
      }
      for (const path of [...folders].reverse()) {
        const left = (uses.get(path) ?? 1) - 1;
        if (left > 0) {
          uses.set(path, left);
          continue;
        }
        uses.delete(path);
        try {
          rmdirSync(path);
        } catch {
          // It has content or is gone.
        }
      }
      return appeared;
    },
  };
}
