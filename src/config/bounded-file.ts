import { constants, openSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { open, stat } from "node:fs/promises";

const maxDocumentBytes = 4 * 1024 * 1024;

/**
 * The text of a regular file of at most 4 MiB. Rejects with Node's errors, or a message. The path is untrusted: never waits for
 * a pipe's writer, and opens no device.
 */
export async function readPlainText(path: string): Promise<string> {
  // Opening has effects on some devices, so check before, and again after, in case the file was swapped.
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
 * A file's bytes, at most `most` + 1, because a device or a pipe may be endless. Rejects with Node's errors.
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

/** Waits for a writer outside `open`, where a blocked thread would keep the process from ending. */
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
