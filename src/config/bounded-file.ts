import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";

/**
 * A file's bytes, or one more than `most` of them when it is larger: a device or a pipe may have no end. Rejects with Node's
 * own errors.
 */
export async function readBounded(path: string, most: number): Promise<Buffer> {
  const file = await open(path, "r");
  try {
    return await readBoundedFrom(file, most);
  } finally {
    await file.close();
  }
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
