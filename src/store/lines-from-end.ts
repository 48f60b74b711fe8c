import { open } from "node:fs/promises";
import { readFlags } from "./listing/line-scanner.ts";
import { maxRecordBytes } from "./listing/listed-records.ts";

const newline = 0x0a;
const firstChunk = 64 * 1024;
const largestChunk = 4 * 1024 * 1024;

/**
 * Calls `visit` with a file's lines from the last one back, until it stops. Bytes are valid only during the call.
 * `start`: only the first line is left. `torn`: the last line has no newline, or a line is too long.
 */
export async function linesFromEnd(
  path: string,
  visit: (line: Buffer) => "enough" | undefined,
): Promise<"enough" | "start" | "torn"> {
  const file = await open(path, readFlags);
  try {
    const { size } = await file.stat();
    let chunkBytes = firstChunk;
    /** The end of a line whose start is not read yet. */
    let rest: Buffer | undefined;
    for (let position = size; position > 0; ) {
      const chunk = Buffer.allocUnsafe(Math.min(chunkBytes, position));
      position -= chunk.length;
      const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
      if (bytesRead < chunk.length || (rest === undefined && chunk.at(-1) !== newline)) return "torn";
      const bytes = rest === undefined ? chunk.subarray(0, -1) : Buffer.concat([chunk, rest]);
      let end = bytes.length;
      for (let at = lastBefore(bytes, end); at !== -1; at = lastBefore(bytes, end)) {
        if (visit(bytes.subarray(at + 1, end)) === "enough") return "enough";
        end = at;
      }
      rest = bytes.subarray(0, end);
      if (rest.length > maxRecordBytes) return "torn";
      chunkBytes = Math.min(chunkBytes * 2, largestChunk);
    }
    return size === 0 ? "torn" : "start";
  } finally {
    await file.close();
  }
}

function lastBefore(bytes: Buffer, end: number): number {
  return end === 0 ? -1 : bytes.lastIndexOf(newline, end - 1);
}
