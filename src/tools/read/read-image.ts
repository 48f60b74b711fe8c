import type { Files } from "../../engine/files.ts";
import type { ImageBlock } from "../../engine/message.ts";
import { failed, type ToolOutput } from "../../engine/tool.ts";
import { shownName } from "../../text/shown-name.ts";
import { readWhole } from "../text-file.ts";
import { type ImageKind, imageKind, measureImage, type PixelSize } from "./image-structure.ts";
import { sizeWords } from "./size-words.ts";

/**
 * The strictest provider's limit: 5 MiB of base64 text. A larger image would stay in the conversation and fail every
 * later request.
 */
const mostBase64Bytes = 5 * 1024 * 1024;
const mostBytes = (mostBase64Bytes / 4) * 3;
const mostPixels = 8000;

const mediaTypes: Readonly<Record<ImageKind, string>> = {
  PNG: "image/png",
  JPEG: "image/jpeg",
  GIF: "image/gif",
  WebP: "image/webp",
};

interface CheckedImage {
  readonly kind: ImageKind;
  readonly size: PixelSize;
  readonly bytes: number;
  readonly block: ImageBlock;
}

interface ImageProblem {
  /** Completes "it cannot be shown: …". */
  readonly why: string;
  readonly isTooLarge: boolean;
}

/** An image that every provider accepts, or why not. */
export function checkImage(bytes: Buffer): CheckedImage | ImageProblem {
  const kind = imageKind(bytes);
  if (kind === undefined) return { why: "it is not a PNG, JPEG, GIF or WebP image", isTooLarge: false };
  if (bytes.length > mostBytes) return tooManyBytes;
  const size = measureImage(bytes, kind);
  if (typeof size === "string") return { why: size, isTooLarge: false };
  if (Math.max(size.width, size.height) > mostPixels)
    return {
      why: `it has ${size.width} x ${size.height} pixels; the limit is ${mostPixels} per side`,
      isTooLarge: true,
    };
  const block = { type: "image", mediaType: mediaTypes[kind], data: bytes.toString("base64") } as const;
  return { kind, size, bytes: bytes.length, block };
}

const tooManyBytes: ImageProblem = { why: `it has more than ${sizeWords(mostBytes)}`, isTooLarge: true };

/** `undefined` if the file, which starts with `start`, is not an image of a supported type. */
export async function readImage(files: Files, path: string, start: Uint8Array): Promise<ToolOutput | undefined> {
  const kind = imageKind(start);
  if (kind === undefined) return undefined;
  const bytes = await readWhole(files, path, mostBytes);
  const image =
    bytes === undefined ? tooManyBytes : checkImage(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if ("why" in image) {
    const help = image.isTooLarge
      ? "Make it smaller with Execute (with ImageMagick: magick IN -resize 1600x1600 OUT.jpg) and Read the result."
      : "Execute with `file` or `identify` may show more.";
    return failed(
      `Error reading file: ${shownName(path)} is a ${kind} image that cannot be shown: ${image.why}. ${help}`,
    );
  }
  const { width, height } = image.size;
  return {
    text: `${shownName(path)}: ${image.kind} image, ${width} x ${height} pixels, ${sizeWords(image.bytes)}.`,
    status: "ok",
    media: [image.block],
  };
}

/** Image types that no provider accepts, by their bytes and offset. */
const otherKinds: readonly (readonly [kind: string, at: number, signs: readonly string[]])[] = [
  ["TIFF", 0, ["II*\0", "MM\0*", "II+\0", "MM\0+"]],
  ["ICO", 0, ["\0\0\x01\0"]],
  ["AVIF", 4, ["ftypavif", "ftypavis"]],
  ["HEIC", 4, ["ftyphei", "ftyphev", "ftypmif1", "ftypmsf1"]],
  ["JPEG XL", 0, ["\xff\x0a", "\0\0\0\x0cJXL "]],
  ["JPEG 2000", 0, ["\0\0\0\x0cjP  ", "\xff\x4f\xff\x51"]],
  ["Photoshop", 0, ["8BPS\0"]],
];

const imageName = /\.(?:png|jpe?g|jpe|gif|webp|bmp|ico|tiff?|heic|heif|avif|jxl|jp2|psd)$/i;

/** The message for a file that is neither text nor a supported image; `undefined` if it is not an image. */
export function whyNoImage(path: string, start: Uint8Array): string | undefined {
  const kind = otherKind(Buffer.from(start.buffer, start.byteOffset, start.byteLength).toString("latin1", 0, 32));
  if (kind !== undefined)
    return `is a ${kind} image. Only PNG, JPEG, GIF and WebP are shown: convert it with Execute (with ImageMagick: magick IN OUT.png) and Read the result.`;
  if (!imageName.test(path)) return undefined;
  return "has an image's name, but not the content of a supported type (PNG, JPEG, GIF, WebP): it is damaged, or of another type.";
}

function otherKind(first: string): string | undefined {
  // Two letters are ambiguous; the four zero bytes are part of the format.
  if (first.startsWith("BM") && first.startsWith("\0\0\0\0", 6)) return "BMP";
  return otherKinds.find(([, at, signs]) => signs.some((sign) => first.startsWith(sign, at)))?.[0];
}
