import { lstat, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { errorCode } from "../../text/system-errors.ts";
import { inFolder, lookAt, requireGoing, requireRegular, versionOf } from "./held-file.ts";
import type { HeldFolder, HoldFolder } from "./open-decided.ts";
import { onDisk } from "./system-path.ts";

/** See the port: the same file under another name. */
export async function moveFile(hold: HoldFolder, from: string, to: string, signal?: AbortSignal): Promise<string> {
  const source = { path: from, use: "moved" } as const;
  const target = { path: to, use: "written", make: true } as const;
  return inFolder(hold, dirname(from), source, (heldFrom) =>
    inFolder(hold, dirname(to), target, async (heldTo) => {
      const stats = await lookAt(heldFrom, source);
      requireRegular(stats, from, "move");
      await requireNothing(heldTo, to);
      await heldFrom.confirm({ name: basename(from), stats });
      await heldTo.confirm();
      requireGoing(signal, source);
      await rename(onDisk(join(heldFrom.reach, basename(from))), onDisk(join(heldTo.reach, basename(to))));
      return versionOf(await lookAt(heldTo, target));
    }),
  );
}

async function requireNothing(held: HeldFolder, path: string): Promise<void> {
  const found = await lstat(onDisk(join(held.reach, basename(path)))).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return;
  throw Object.assign(new Error(`EEXIST: file already exists, rename '${path}'`), { code: "EEXIST", path });
}
