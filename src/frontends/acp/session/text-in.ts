import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

const mostBytes = 1024 * 1024;

/**
 * The current content of a file; undefined if it is missing, not text, or too large. Synchronous, because the file is about
 * to change. Reads no more than its size, because some system files are endless and report size 0.
 */
export function textIn(path: string): string | undefined {
  let file: number | undefined;
  try {
    // Otherwise opening a pipe without a writer would block.
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
