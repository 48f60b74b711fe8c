import { Readable } from "node:stream";
import { createInflate } from "node:zlib";

/**
 * The PDF library unpacks a stream as far as it goes, in memory and in one go. A few hundred kilobytes can be made to unpack
 * to gigabytes, so how far each goes is tried out first, without keeping what comes out.
 */
const mostUnpackedBytes = 256 * 1024 * 1024;
/** How often a stream may be packed into itself. Honest files do it once. */
const mostLayers = 3;
const pieceBytes = 64 * 1024;

/** True when a packed stream of the file would take too much memory. Rejects when `signal` is aborted. */
export async function unpacksTooFar(file: Buffer, signal: AbortSignal): Promise<boolean> {
  for (let found = file.indexOf("stream"); found !== -1; found = file.indexOf("stream", found + 6)) {
    let start = found + 6;
    while (file[start] === 0x0d || file[start] === 0x0a) start += 1;
    if (isPacked(file, start) && (await goesTooFar(() => slices(file, start), mostLayers, signal))) return true;
  }
  return false;
}

/** The two bytes that a zlib stream begins with. */
function isPacked(bytes: Buffer, at: number): boolean {
  const first = bytes[at] ?? 0;
  return (first & 0x0f) === 8 && first >> 4 <= 7 && ((first << 8) | (bytes[at + 1] ?? 0)) % 31 === 0;
}

async function goesTooFar(
  open: () => Iterable<Buffer> | AsyncIterable<Buffer>,
  layers: number,
  signal: AbortSignal,
): Promise<boolean> {
  if (layers === 0) return true;
  let bytes = 0;
  let isPackedAgain = false;
  for await (const piece of unpack(open())) {
    signal.throwIfAborted();
    if (bytes === 0) isPackedAgain = isPacked(piece, 0);
    bytes += piece.length;
    if (bytes > mostUnpackedBytes) return true;
  }
  return isPackedAgain && goesTooFar(() => unpack(open()), layers - 1, signal);
}

/** Ends where the packed data ends or is damaged: there the library ends as well. */
async function* unpack(packed: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = Readable.from(packed);
  const unpacked = source.pipe(createInflate());
  try {
    for await (const piece of unpacked) yield piece;
  } catch {
    // Not packed after all, or cut short.
  } finally {
    source.destroy();
  }
}

function* slices(file: Buffer, start: number): Generator<Buffer> {
  for (let at = start; at < file.length; at += pieceBytes) yield file.subarray(at, at + pieceBytes);
}
