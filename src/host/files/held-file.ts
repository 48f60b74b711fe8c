import type { BigIntStats } from "node:fs";
import { lstat } from "node:fs/promises";
import { basename } from "node:path";
import { errorCode } from "../../text/system-errors.ts";
import { aboutFolder, type HeldFolder, type HoldFolder, leadsElsewhere, type Meant } from "./open-decided.ts";
import { onDisk } from "./system-path.ts";

export function versionOf(stats: BigIntStats): string {
  return `${stats.ino}-${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`;
}

/** Rejects pipes, which may block, and devices, where opening alone can have effects. */
export function requireRegular(stats: BigIntStats, path: string, action: "read" | "write" | "move" | "remove"): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) {
    throw Object.assign(new Error(`EISDIR: illegal operation on a directory, ${action} '${path}'`), {
      code: "EISDIR",
      path,
    });
  }
  const what = stats.isFIFO() ? "a named pipe" : stats.isSocket() ? "a socket" : "a device";
  throw Object.assign(new Error(`EINVAL: ${what} is not a regular file, ${action} '${path}'`), {
    code: "EINVAL",
    path,
  });
}

/** Acts in a folder while it is open. */
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
    // The path has become a link, which is never followed.
    if (errorCode(error) === "ELOOP") throw leadsElsewhere(meant);
    throw aboutFolder(error, held.reach, folder);
  } finally {
    await held.close();
  }
}

/** The attributes of the path's last name in the open folder; for the root, its own. */
export function lookAt(held: HeldFolder, meant: Meant): Promise<BigIntStats> {
  return lstat(onDisk(`${held.reach}/${basename(meant.path)}`), { bigint: true }).then((stats) => {
    if (stats.isSymbolicLink()) throw leadsElsewhere(meant);
    return stats;
  });
}

/** Throws after an abort. Call it right before a change, because changes are never stopped halfway. */
export function requireGoing(signal: AbortSignal | undefined, { path, use }: Meant): void {
  if (signal?.aborted !== true) return;
  throw Object.assign(new Error(`Stopped before ${path} was ${use}.`), { name: "AbortError", code: "ABORT_ERR" });
}
