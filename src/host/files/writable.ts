import type { BigIntStats } from "node:fs";
import { access, constants } from "node:fs/promises";
import { errorCode } from "../../text/system-errors.ts";
import { onDisk } from "./system-path.ts";

const anyoneWrites = 0o222n;

/**
 * Why a file cannot be written to, as words that follow its name; `undefined` when it can. Root may write to everything, but
 * a file whose mode lets nobody write was closed on purpose, so root is refused as well.
 */
export async function notWritable(path: string, stats: BigIntStats): Promise<string | undefined> {
  if (isReadOnly(stats)) return refusalOf("EACCES", stats);
  return access(onDisk(path), constants.W_OK).then(
    () => undefined,
    (error: unknown) => refusalOf(errorCode(error), stats),
  );
}

export function isReadOnly({ mode }: BigIntStats): boolean {
  return (mode & anyoneWrites) === 0n;
}

/** The words for one of the system's errors about writing to a file; `undefined` when it is about something else. */
export function refusalOf(code: unknown, stats: BigIntStats): string | undefined {
  const mode = (stats.mode & 0o7777n).toString(8).padStart(4, "0");
  if (code === "EROFS") return "is on a read-only file system";
  if (code === "EPERM") return "is protected against changes";
  if (code !== "EACCES") return undefined;
  return isReadOnly(stats)
    ? `is read-only (mode ${mode})`
    : `cannot be written by this user (mode ${mode}, owner ${stats.uid})`;
}
