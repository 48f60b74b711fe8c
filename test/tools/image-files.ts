import { crc32, deflateSync } from "node:zlib";

/** A grey picture. */
export function pngOf(width: number, height: number, extra = Buffer.alloc(0)): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  const rows = Buffer.alloc(Math.min(height, 100) * (1 + Math.min(width, 100)), 0);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    pngPart("IHDR", header),
    ...(extra.length === 0 ? [] : [pngPart("teSt", extra)]),
    pngPart("IDAT", deflateSync(rows)),
    pngPart("IEND", Buffer.alloc(0)),
  ]);
}

function pngPart(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** An EXIF part with an end mark in it, the frame's header, a scan, the end mark. */
export function jpegOf(width: number, height: number): Buffer {
  const frame = Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 0, 0, 0, 1, 1, 0x11, 0]);
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 6, 0xff, 0xd9, 0, 0]),
    frame,
    Buffer.from([0xff, 0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0x12, 0x34, 0xff, 0xd9]),
  ]);
}

/** Two colours, a comment, one frame. */
export function gifOf(width: number, height: number): Buffer {
  const screen = Buffer.alloc(7);
  screen.writeUInt16LE(width, 0);
  screen.writeUInt16LE(height, 2);
  screen[4] = 0x80;
  return Buffer.concat([
    Buffer.from("GIF89a"),
    screen,
    Buffer.from([0, 0, 0, 255, 255, 255]),
    Buffer.from([0x21, 0xfe, 2, 0x68, 0x69, 0]),
    Buffer.from([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]),
    Buffer.from([0x3b]),
  ]);
}

export function webpOf(...parts: readonly (readonly [type: string, body: Buffer])[]): Buffer {
  const bodies = parts.map(([type, body]) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(body.length);
    return Buffer.concat([Buffer.from(type), length, body, Buffer.alloc(body.length % 2)]);
  });
  const all = Buffer.concat([Buffer.from("WEBP"), ...bodies]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(all.length);
  return Buffer.concat([Buffer.from("RIFF"), length, all]);
}

export function lossy(width: number, height: number): readonly [string, Buffer] {
  const body = Buffer.from([0, 0, 0, 0x9d, 0x01, 0x2a, 0, 0, 0, 0, 7]);
  body.writeUInt16LE(width, 6);
  body.writeUInt16LE(height, 8);
  return ["VP8 ", body];
}

export function lossless(width: number, height: number): readonly [string, Buffer] {
  const body = Buffer.alloc(6);
  body[0] = 0x2f;
  body.writeUInt32LE(((height - 1) << 14) | (width - 1), 1);
  return ["VP8L", body];
}

export function extended(width: number, height: number): readonly [string, Buffer] {
  const body = Buffer.alloc(10);
  body.writeUIntLE(width - 1, 4, 3);
  body.writeUIntLE(height - 1, 7, 3);
  return ["VP8X", body];
}
