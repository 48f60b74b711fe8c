import { constants, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { isMissing } from "../../text/system-errors.ts";
import { maxRecordBytes } from "./listed-records.ts";

const newline = 0x0a;
const largestChunk = 4 * 1024 * 1024;

/** Doesn't follow links or block on pipes. */
export const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Calls `visit` with each line, numbered from 1, until it returns "enough". Lines end only at a line feed. The bytes are valid
 * only during the call; `undefined` is a line longer than a record can be. Memory is bounded by one chunk and one line.
 *
 * Resolves to the file's stats at opening, or `undefined` for a missing file. Rejects with file system errors and whatever
 * `visit` throws.
 */
export async function scanLines(
  path: string,
  visit: (line: Buffer | undefined, number: number) => "enough" | undefined,
  chunkBytes = largestChunk,
): Promise<Stats | undefined> {
  let number = 1;
  let pieces: Buffer[] = [];
  let pending = 0;

  const keep = (piece: Buffer): "enough" | undefined => {
    const wasLonger = pending > maxRecordBytes;
    pending += piece.length;
    if (pending <= maxRecordBytes) pieces.push(Buffer.from(piece));
    else pieces = [];
    return pending > maxRecordBytes && !wasLonger ? visit(undefined, number) : undefined;
  };
  const finish = (rest: Buffer): "enough" | undefined => {
    const wasLonger = pending > maxRecordBytes;
    const isLonger = pending + rest.length > maxRecordBytes;
    const line = isLonger ? undefined : pending === 0 ? rest : Buffer.concat([...pieces, rest]);
    pieces = [];
    pending = 0;
    number += 1;
    return wasLonger ? undefined : visit(line, number - 1);
  };

  try {
    const file = await open(path, readFlags);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return undefined;
      const { size } = stats;
      const buffer = Buffer.allocUnsafe(Math.min(size, chunkBytes));
      // Stop at the current end, because another process may still be writing.
      for (let position = 0; position < size; ) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - position), position);
        if (bytesRead === 0) break;
        position += bytesRead;
        const chunk = buffer.subarray(0, bytesRead);
        let from = 0;
        for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
          if (finish(chunk.subarray(from, end)) === "enough") return stats;
          from = end + 1;
        }
        if (from < bytesRead && keep(chunk.subarray(from)) === "enough") return stats;
      }
      if (pending > 0) finish(Buffer.alloc(0));
      return stats;
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
