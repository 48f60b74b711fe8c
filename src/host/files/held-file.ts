import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { errorCode } from "../../text/system-errors.ts";
import { aboutFolder, type HeldFolder, type HoldFolder, leadsElsewhere, type Meant } from "./open-decided.ts";
import { onDisk } from "./system-path.ts";

export function versionOf(stats: BigIntStats): string {
  return `${stats.ino}-${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`;
}

/** A pipe has no end that we could wait for and a device may do anything when it is opened, so neither is touched. */
export function requireRegular(stats: BigIntStats, path: string, action: "read" | "write" | "move" | "remove"): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) {
    throw Object.assign(new Error(`EISDIR: illegal operation on a directory, ${action} '${path}'`), { code: "EISDIR" });
  }
  const what = stats.isFIFO() ? "a named pipe" : stats.isSocket() ? "a socket" : "a device";
  throw Object.assign(new Error(`EINVAL: ${what} is not a regular file, ${action} '${path}'`), { code: "EINVAL" });
}

/** Does something in a folder that is held meanwhile. */
export async function inFolder<T>(
  hold: HoldFolder,
  folder: string,
  meant: Meant & { readonly make?: true },
  act: (held: HeldFolder) => Promise<T>,
): Promise<T> {
  const held = await hold(folder, meant, meant.make ?? false);
  try {
    return await act(held);
  } catch (error) {
    // A link that is met where none is followed.
    if (errorCode(error) === "ELOOP") throw leadsElsewhere(meant);
    throw aboutFolder(error, held.reach, folder);
  } finally {
    await held.close();
  }
}

/** What lies in a held folder under the last name of a path; for the root, itself. */
export function lookAt(held: HeldFolder, meant: Meant): Promise<BigIntStats> {
  return lstat(onDisk(`${held.reach}/${basename(meant.path)}`), { bigint: true }).then((stats) => {
    if (stats.isSymbolicLink()) throw leadsElsewhere(meant);
    return stats;
  });
}

/** Asked right before something is changed: from there on it is carried through. */
export function requireGoing(signal: AbortSignal | undefined, { path, use }: Meant): void {
  if (signal?.aborted !== true) return;
  throw Object.assign(new Error(`Stopped before ${path} was ${use}.`), { name: "AbortError", code: "ABORT_ERR" });
}
