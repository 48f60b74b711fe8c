import type { BigIntStats } from "node:fs";
import { access, constants } from "node:fs/promises";
import { errorCode } from "../../text/system-errors.ts";
import { onDisk } from "./system-path.ts";

const anyoneWrites = 0o222n;

/**
 * Why a file is not writable, to follow its name; `undefined` if it is. A file without any write permission was closed on
 * purpose, so root is refused too.
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

/** The same for a system error on writing; `undefined` for other errors. */
export function refusalOf(code: unknown, stats: BigIntStats): string | undefined {
  const mode = (stats.mode & 0o7777n).toString(8).padStart(4, "0");
  if (code === "EROFS") return "is on a read-only file system";
  if (code === "EPERM") return "is protected against changes";
  if (code !== "EACCES") return undefined;
  return isReadOnly(stats)
    ? `is read-only (mode ${mode})`
    : `cannot be written by this user (mode ${mode}, owner ${stats.uid})`;
}
