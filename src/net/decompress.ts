import type { Readable, Transform } from "node:stream";

export type Coding = "gzip" | "deflate" | "br";

/** How the body is compressed; undefined when it is not, or in a way that we cannot undo and that nobody asked for. */
export function codingOf(header: string | undefined): Coding | undefined {
  const name = header?.trim().toLowerCase();
  if (name === "x-gzip") return "gzip";
  return name === "gzip" || name === "deflate" || name === "br" ? name : undefined;
}

/** Resolves when the first bytes are there (or it is clear that none come) to a stream that undoes the coding. */
export async function createDecompressor(coding: Coding, source: Readable): Promise<Transform> {
  const zlib = process.getBuiltinModule("node:zlib");
  // Gives out what it has at once, and is content with an end that the sender flushed but did not finish: HTTP frames the body.
  const options = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (coding === "gzip") return zlib.createGunzip(options);
  if (coding === "br") {
    const { BROTLI_OPERATION_FLUSH: flush } = zlib.constants;
    return zlib.createBrotliDecompress({ flush, finishFlush: flush });
  }
  // Servers disagree on whether "deflate" has zlib's two bytes in front; the first one tells.
  return ((await firstByte(source)) & 0x0f) === 8 ? zlib.createInflate(options) : zlib.createInflateRaw(options);
}

function firstByte(source: Readable): Promise<number> {
  return new Promise((resolve) => {
    const look = () => {
      const piece: Buffer | null = source.read();
      if (piece === null && !source.readableEnded && !source.destroyed) return;
      for (const event of ["readable", "end", "close"]) source.off(event, look);
      if (piece !== null) source.unshift(piece);
      resolve(piece?.[0] ?? 8);
    };
    for (const event of ["readable", "end", "close"]) source.on(event, look);
  });
}
