import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** More than anybody reads in a diff. */
const mostBytes = 1024 * 1024;

/**
 * What a file holds now; `undefined` when it is not there, is no text, or is too large. At once, because it is about to
 * change, and no more than it says to be long: some files of the system have no end, and say that they are empty.
 */
export function textIn(path: string): string | undefined {
  let file: number | undefined;
  try {
    // A pipe without a writer would not open otherwise.
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const found = fstatSync(file);
    if (!found.isFile() || found.size > mostBytes) return undefined;
    const bytes = Buffer.alloc(found.size);
    const length = readSync(file, bytes, 0, found.size, 0);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(0, length));
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
