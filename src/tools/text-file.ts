import { decodeText } from "../async/long-texts.ts";
import type { Files } from "../engine/files.ts";
import { createPace } from "./pace.ts";

/** Limit for a file shown to an approver. */
export const previewLimit = 1024 * 1024;

/** The bytes of a file, or `undefined` if it has more than `maxBytes`. */
export async function readWhole(files: Files, path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for (;;) {
    const part = await files.read(path, { from: size, maxBytes: maxBytes + 1 - size });
    if (part.length === 0) return Buffer.concat(parts, size);
    parts.push(part);
    size += part.length;
    if (size > maxBytes) return undefined;
  }
}

/** The file's text for an approver: `undefined` if it is missing, too large, or not text. */
export async function previewText(files: Files, path: string): Promise<string | undefined> {
  const stat = await files.stat(path);
  if (stat?.kind !== "file" || stat.size > previewLimit) return undefined;
  const bytes = await readWhole(files, path, previewLimit);
  return bytes && decodeText(bytes, createPace());
}
