import { constants, openSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open, stat } from "node:fs/promises";

const maxDocumentBytes = 4 * 1024 * 1024;

/**
 * The text of a plain file of at most 4 MiB. Rejects with Node's own errors, and in words for anything else. Never waits for
 * somebody to write into a pipe, and opens no device: others may have chosen the name.
 */
export async function readPlainText(path: string): Promise<string> {
  // Opening is an act for some devices, so it is looked at before, and once more in case that it was changed meanwhile.
  if (!(await stat(path)).isFile()) throw new Error("is not a plain file");
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw new Error("is not a plain file");
    const bytes = await readBoundedFrom(file, maxDocumentBytes);
    if (bytes.length > maxDocumentBytes) throw new Error("is larger than 4 MiB");
    return bytes.toString("utf8");
  } finally {
    await file.close();
  }
}

/**
 * A file's bytes, or one more than `most` of them when it is larger: a device or a pipe may have no end. Rejects with Node's
 * own errors.
 */
export async function readBounded(path: string, most: number): Promise<Buffer> {
  if ((await stat(path)).isFIFO()) return readPipe(path, most);
  const file = await open(path, "r");
  try {
    return await readBoundedFrom(file, most);
  } finally {
    await file.close();
  }
}

/** Waits for a writer, but not inside `open`: a thread that sits there would keep the process from ending at a signal. */
async function readPipe(path: string, most: number): Promise<Buffer> {
  const { Socket } = await import("node:net");
  const end = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of new Socket({ fd: end, readable: true, writable: false })) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > most) break;
  }
  return Buffer.concat(chunks).subarray(0, most + 1);
}

export async function readBoundedFrom(file: FileHandle, most: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  while (length <= most) {
    const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(64 * 1024), 0, 64 * 1024, null);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks).subarray(0, most + 1);
}
