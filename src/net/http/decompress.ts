import type { Readable, Transform } from "node:stream";

export type Coding = "gzip" | "deflate" | "br";

/** The body's compression. `undefined` for none, or for an unsupported one, which we never request. */
export function codingOf(header: string | undefined): Coding | undefined {
  const name = header?.trim().toLowerCase();
  if (name === "x-gzip") return "gzip";
  return name === "gzip" || name === "deflate" || name === "br" ? name : undefined;
}

/** Resolves to a decompressing stream once the first byte has arrived or the source has ended. */
export async function createDecompressor(coding: Coding, source: Readable): Promise<Transform> {
  const zlib = process.getBuiltinModule("node:zlib");
  // Flushes output at once. Accepts a flushed but unfinished end, because HTTP already frames the body.
  const options = { flush: zlib.constants.Z_SYNC_FLUSH, finishFlush: zlib.constants.Z_SYNC_FLUSH };
  if (coding === "gzip") return zlib.createGunzip(options);
  if (coding === "br") {
    const { BROTLI_OPERATION_FLUSH: flush } = zlib.constants;
    return zlib.createBrotliDecompress({ flush, finishFlush: flush });
  }
  // Servers disagree on whether "deflate" has a zlib header. The first byte shows it.
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
