import { crc32 } from "node:zlib";

/** The types that every provider accepts. */
export type ImageKind = "PNG" | "JPEG" | "GIF" | "WebP";

export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** The type according to the first twelve bytes, whatever the file's name. */
export function imageKind(start: Uint8Array): ImageKind | undefined {
  const text = Buffer.from(start.buffer, start.byteOffset, start.byteLength).toString("latin1", 0, 12);
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "PNG";
  if (text.startsWith("\xff\xd8\xff")) return "JPEG";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "GIF";
  if (text.startsWith("RIFF") && text.slice(8) === "WEBP") return "WebP";
  return undefined;
}

/** An image that violates its format. The message completes "the image cannot be shown: …". */
class BrokenImage extends Error {}

/**
 * Walks through an image's parts without decoding it, so that a truncated or malformed one is noticed before a provider
 * rejects it. Returns the fault as a string.
 */
export function measureImage(bytes: Buffer, kind: ImageKind): PixelSize | string {
  try {
    const size = walkers[kind](bytes);
    if (size.width === 0 || size.height === 0) return `it claims to have ${size.width} x ${size.height} pixels`;
    return size;
  } catch (error) {
    if (error instanceof BrokenImage) return error.message;
    // A number past the last byte.
    if (error instanceof RangeError) return "it is truncated";
    throw error;
  }
}

const walkers: Readonly<Record<ImageKind, (bytes: Buffer) => PixelSize>> = {
  PNG: walkPng,
  JPEG: walkJpeg,
  GIF: walkGif,
  WebP: walkWebp,
};

function walkPng(bytes: Buffer): PixelSize {
  if (bytes.readUInt32BE(8) !== 13 || name(bytes, 12) !== "IHDR") throw new BrokenImage("its header is malformed");
  let hasPixels = false;
  for (let at = 8; ; ) {
    const length = bytes.readUInt32BE(at);
    const type = name(bytes, at + 4);
    const end = at + 8 + length;
    const sum = bytes.readUInt32BE(end);
    // Lower case marks parts that a decoder can skip.
    if (/^[A-Z]/.test(type) && crc32(bytes.subarray(at + 4, end)) !== sum)
      throw new BrokenImage(`the checksum of its ${type} part is wrong`);
    if (type === "IDAT") hasPixels = true;
    if (type === "IEND") break;
    at = end + 4;
  }
  if (!hasPixels) throw new BrokenImage("it has no pixel data");
  return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
}

function walkJpeg(bytes: Buffer): PixelSize {
  let size: PixelSize | undefined;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) throw new BrokenImage("its parts are out of order");
    while (bytes.readUInt8(at) === 0xff) at += 1;
    const marker = bytes.readUInt8(at);
    at += 1;
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) continue;
    if (marker === 0xd9) throw new BrokenImage("it has no pixel data");
    const length = bytes.readUInt16BE(at);
    if (length < 2) throw new BrokenImage("its parts are out of order");
    // All "start of frame" markers; the three missing ones have other meanings.
    if (marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc)
      size = { height: bytes.readUInt16BE(at + 3), width: bytes.readUInt16BE(at + 5) };
    at += length;
    if (marker !== 0xda) continue;
    if (size === undefined) throw new BrokenImage("its header is malformed");
    if (bytes.indexOf("\xff\xd9", at, "latin1") === -1) throw new BrokenImage("it is truncated");
    return size;
  }
}

function walkGif(bytes: Buffer): PixelSize {
  let hasPixels = false;
  let at = 13 + colourTableBytes(bytes.readUInt8(10));
  const passSubBlocks = (): void => {
    for (let length = bytes.readUInt8(at); ; length = bytes.readUInt8(at)) {
      at += 1 + length;
      if (length === 0) return;
    }
  };
  for (;;) {
    const block = bytes.readUInt8(at);
    if (block === 0x3b) break;
    if (block === 0x21) {
      at += 2;
    } else if (block === 0x2c) {
      at += 11 + colourTableBytes(bytes.readUInt8(at + 9));
      hasPixels = true;
    } else {
      throw new BrokenImage("its parts are out of order");
    }
    passSubBlocks();
  }
  if (!hasPixels) throw new BrokenImage("it has no pixel data");
  return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
}

function colourTableBytes(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

function walkWebp(bytes: Buffer): PixelSize {
  const end = 8 + bytes.readUInt32LE(4);
  if (end > bytes.length) throw new BrokenImage("it is truncated");
  let canvas: PixelSize | undefined;
  let picture: PixelSize | undefined;
  for (let at = 12; at + 8 <= end; ) {
    const type = name(bytes, at);
    const length = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (body + length > end) throw new BrokenImage("it is truncated");
    if (type === "VP8X")
      canvas = { width: 1 + bytes.readUIntLE(body + 4, 3), height: 1 + bytes.readUIntLE(body + 7, 3) };
    if (type === "VP8 ") picture ??= lossySize(bytes, body);
    if (type === "VP8L") picture ??= losslessSize(bytes, body);
    if (type === "ANMF") picture ??= canvas;
    at = body + length + (length % 2);
  }
  if (picture === undefined) throw new BrokenImage("it has no pixel data");
  return canvas ?? picture;
}

function lossySize(bytes: Buffer, body: number): PixelSize {
  if (bytes.readUIntBE(body + 3, 3) !== 0x9d012a) throw new BrokenImage("its header is malformed");
  return { width: bytes.readUInt16LE(body + 6) & 0x3fff, height: bytes.readUInt16LE(body + 8) & 0x3fff };
}

function losslessSize(bytes: Buffer, body: number): PixelSize {
  if (bytes.readUInt8(body) !== 0x2f) throw new BrokenImage("its header is malformed");
  const sizes = bytes.readUInt32LE(body + 1);
  return { width: 1 + (sizes & 0x3fff), height: 1 + ((sizes >>> 14) & 0x3fff) };
}

function name(bytes: Buffer, at: number): string {
  return bytes.toString("latin1", at, at + 4);
}
