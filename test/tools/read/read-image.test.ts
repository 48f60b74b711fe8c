import { describe, expect, it } from "vitest";
import { readTool } from "../../../src/tools/read/read.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";
import { extended, gifOf, jpegOf, lossless, lossy, pngOf, webpOf } from "../image-files.ts";

async function read(bytes: Buffer, name = "picture", input: object = {}) {
  const context = createContext(createMemoryHost({ [`/project/${name}`]: bytes }));
  const output = await call(readTool, { file_path: name, ...input }, context);
  return output;
}

const cannotBeShown = (kind: string, why: string, help = "Execute with `file` or `identify` may show more.") => ({
  status: "failed",
  text: `Error: Error reading file: /project/picture is a ${kind} image that cannot be shown: ${why}. ${help}`,
});

const smaller =
  "Make it smaller with Execute (with ImageMagick: magick IN -resize 1600x1600 OUT.jpg) and Read the result.";

describe("Read of an image", () => {
  it("shows the four types by their bytes, whatever the file is called", async () => {
    const files = [
      [pngOf(31, 17), "PNG", "image/png", "31 x 17"],
      [jpegOf(640, 480), "JPEG", "image/jpeg", "640 x 480"],
      [gifOf(300, 2), "GIF", "image/gif", "300 x 2"],
      [webpOf(lossy(320, 240)), "WebP", "image/webp", "320 x 240"],
      [webpOf(lossless(16_000 / 2, 5)), "WebP", "image/webp", "8000 x 5"],
      [webpOf(extended(70, 80), ["ANMF", Buffer.alloc(24)]), "WebP", "image/webp", "70 x 80"],
      [webpOf(extended(70, 80), ["ALPH", Buffer.alloc(3)], lossy(70, 80)), "WebP", "image/webp", "70 x 80"],
    ] as const;
    for (const [bytes, kind, mediaType, size] of files) {
      expect(await read(bytes, "notes.txt", { image_quality: "high", offset: 3 })).toEqual({
        status: "ok",
        text: `/project/notes.txt: ${kind} image, ${size} pixels, ${bytes.length} bytes.`,
        media: [{ type: "image", mediaType, data: bytes.toString("base64") }],
      });
    }
  });

  it("detects an image that is truncated anywhere", async () => {
    const whole = [pngOf(31, 17), jpegOf(640, 480), gifOf(300, 2), webpOf(extended(70, 80), lossy(70, 80))];
    for (const bytes of whole) {
      const statuses = new Set<string>();
      for (let length = 12; length < bytes.length; length += 1) {
        const output = await read(bytes.subarray(0, length));
        statuses.add(output.status);
        expect(output.media).toBeUndefined();
      }
      expect([...statuses]).toEqual(["failed"]);
    }
    expect(await read(pngOf(31, 17).subarray(0, 40))).toEqual(cannotBeShown("PNG", "it is truncated"));
    expect(await read(jpegOf(9, 9).subarray(0, -1))).toEqual(cannotBeShown("JPEG", "it is truncated"));
  });

  it("walks through as many parts as fit into a file", async () => {
    const most = 3.75 * 1024 * 1024 - 1024;
    const fill = (part: string) => Buffer.alloc(most - (most % part.length), part, "latin1");
    const png = pngOf(31, 17);
    const emptyParts = fill("\0\0\0\0teSt\x12\x34\x56\x78");
    expect((await read(Buffer.concat([png.subarray(0, 33), emptyParts, png.subarray(33)]))).status).toBe("ok");
    const gif = gifOf(300, 2);
    const comments = fill("\x21\xfe\x01x\0");
    expect((await read(Buffer.concat([gif.subarray(0, 19), comments, gif.subarray(19)]))).status).toBe("ok");
    const jpeg = jpegOf(640, 480);
    for (const marks of [fill("\xff"), fill("\xff\xd0"), fill("\xff\xfe\0\x02")])
      expect((await read(Buffer.concat([jpeg.subarray(0, 2), marks, jpeg.subarray(2)]))).status).toBe("ok");
    const webp = webpOf(extended(70, 80), lossy(70, 80));
    const longer = Buffer.concat([webp.subarray(0, 30), fill("JUNK\0\0\0\0"), webp.subarray(30)]);
    longer.writeUInt32LE(longer.length - 8, 4);
    expect((await read(longer)).status).toBe("ok");
  });

  it("detects an image whose parts do not fit together", async () => {
    const flipped = (bytes: Buffer, at: number) => Buffer.from(bytes).fill((bytes[at] ?? 0) ^ 0x40, at, at + 1);
    const noPixels = Buffer.concat([pngOf(3, 3).subarray(0, 33), pngOf(3, 3).subarray(-12)]);
    expect([
      await read(flipped(pngOf(31, 17), 18)),
      await read(flipped(pngOf(31, 17), 12)),
      await read(noPixels),
      await read(pngOf(0, 17)),
      await read(flipped(jpegOf(640, 480), 10)),
      await read(Buffer.from([0xff, 0xd8, 0xff, 0xd9])),
      await read(flipped(gifOf(3, 3), 19)),
      await read(Buffer.concat([gifOf(3, 3).subarray(0, 19), Buffer.from(";")])),
      await read(webpOf(["EXIF", Buffer.alloc(4)])),
      await read(webpOf(["VP8 ", Buffer.alloc(10)])),
    ]).toEqual([
      cannotBeShown("PNG", "the checksum of its IHDR part is wrong"),
      cannotBeShown("PNG", "its header is malformed"),
      cannotBeShown("PNG", "it has no pixel data"),
      cannotBeShown("PNG", "it claims to have 0 x 17 pixels"),
      cannotBeShown("JPEG", "its parts are out of order"),
      cannotBeShown("JPEG", "it has no pixel data"),
      cannotBeShown("GIF", "its parts are out of order"),
      cannotBeShown("GIF", "it has no pixel data"),
      cannotBeShown("WebP", "it has no pixel data"),
      cannotBeShown("WebP", "its header is malformed"),
    ]);
  });

  it("accepts the strictest provider's limit, and says how to shrink a larger one", async () => {
    const most = (5 * 1024 * 1024 * 3) / 4;
    const rest = most - pngOf(50, 50).length - 12;
    const largest = await read(pngOf(50, 50, Buffer.alloc(rest)));
    expect({ text: largest.text, base64: largest.media?.[0]?.data.length }).toEqual({
      text: "/project/picture: PNG image, 50 x 50 pixels, 3.75 MB.",
      base64: 5 * 1024 * 1024,
    });
    expect([
      await read(pngOf(50, 50, Buffer.alloc(rest + 1))),
      await read(pngOf(8001, 5)),
      await read(jpegOf(5, 8001)),
    ]).toEqual([
      cannotBeShown("PNG", "it has more than 3.75 MB", smaller),
      cannotBeShown("PNG", "it has 8001 x 5 pixels; the limit is 8000 per side", smaller),
      cannotBeShown("JPEG", "it has 5 x 8001 pixels; the limit is 8000 per side", smaller),
    ]);
  });

  it("says how to convert other types", async () => {
    const kinds: readonly (readonly [string, string])[] = [
      ["BMP", "BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0"],
      ["TIFF", "II*\0\x08\0\0\0"],
      ["TIFF", "MM\0*\0\0\0\x08"],
      ["ICO", "\0\0\x01\0\x01\0\x10\x10"],
      ["HEIC", "\0\0\0\x18ftypheic\0\0\0\0"],
      ["HEIC", "\0\0\0\x18ftypmif1\0\0\0\0"],
      ["AVIF", "\0\0\0\x1cftypavif\0\0\0\0"],
      ["JPEG XL", "\0\0\0\x0cJXL \r\n\x87\n"],
      ["Photoshop", "8BPS\0\x01"],
    ];
    for (const [kind, start] of kinds)
      expect(await read(Buffer.from(start, "latin1"))).toEqual({
        status: "failed",
        text: `Error: Error reading file: /project/picture is a ${kind} image. Only PNG, JPEG, GIF and WebP are shown: convert it with Execute (with ImageMagick: magick IN OUT.png) and Read the result.`,
      });
  });

  it("does not mistake another file for an image because of its first bytes", async () => {
    expect([await read(Buffer.from("RIFF\x24\0\0\0WAVEfmt ", "latin1")), await read(Buffer.from("GIF80\0"))]).toEqual(
      [1, 2].map(() => ({
        status: "failed",
        text: "Error: Error reading file: /project/picture is a binary file (or text that is not UTF-8). Use Execute with a program that understands it.",
      })),
    );
  });

  it("reads an SVG, and text with an image's name, as text", async () => {
    for (const name of ["a.svg", "a.png"]) {
      const host = createMemoryHost({ [`/project/${name}`]: "<svg/>\n" });
      expect(await call(readTool, { file_path: name }, createContext(host))).toEqual({
        status: "ok",
        text: "<svg/>\n",
        forModel: "1→<svg/>\n",
      });
    }
  });
});
