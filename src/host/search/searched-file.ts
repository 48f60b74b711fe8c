import { readFile, stat } from "node:fs/promises";
import { isMissing } from "../../text/system-errors.ts";
import { onDisk } from "../files/system-path.ts";

const binarySample = 8192;

/**
 * The bytes of a searchable file. `undefined` for missing, large and binary files, and for pipes, which may never end.
 * Rejects if reading fails.
 */
export async function searchableBytes(path: string, largest: number): Promise<Buffer | undefined> {
  try {
    const stats = await stat(onDisk(path));
    if (!stats.isFile() || stats.size > largest) return undefined;
    const bytes = await readFile(onDisk(path));
    return bytes.subarray(0, binarySample).includes(0) ? undefined : bytes;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
