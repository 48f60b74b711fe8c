import { constants } from "node:fs";
import { mkdir, open, realpath } from "node:fs/promises";
import { dirname } from "node:path";
import type { Containment } from "../../../engine/containment.ts";

/** A folder may have become a link since the decision. */
async function isReal(folder: string): Promise<boolean> {
  return (await realpath(folder).catch(() => undefined)) === folder;
}

/** Creates these folders, and returns those that were missing. */
export async function makeFolders(paths: readonly string[]): Promise<readonly string[]> {
  const made: string[] = [];
  for (const path of paths) {
    if (!(await isReal(dirname(path)))) continue;
    await mkdir(path).then(
      () => made.push(path),
      () => undefined,
    );
  }
  return made;
}

/** A mount needs an existing place. A place that cannot be created stays closed, and the command reports it. */
export async function makePlaces({ caches, outputs }: Containment): Promise<void> {
  for (const path of caches) await mkdir(path, { recursive: true }).catch(() => undefined);
  for (const path of outputs) {
    if (!(await isReal(dirname(path)))) continue;
    // Opening a pipe without a reader must not block.
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;
    const file = await open(path, flags, 0o666).catch(() => undefined);
    await file?.close();
  }
}
