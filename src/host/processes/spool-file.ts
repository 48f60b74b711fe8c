import { type FileHandle, mkdir, open, unlink } from "node:fs/promises";
import { dirname } from "node:path";

export interface SpoolFile {
  /** Resolves once the system has the bytes. Await it, so that output cannot outrun the disk. Never rejects. */
  write(bytes: Uint8Array): Promise<void>;
  /** Closes the file. False if it could not be written completely. */
  finish(): Promise<boolean>;
}

/** A private file (0600) of at most `capBytes`. The rest is dropped, and a last line says how much. */
export function createSpoolFile(path: string, capBytes: number): SpoolFile {
  let opening: Promise<FileHandle> | undefined;
  let written = 0;
  let leftOut = 0;
  let failed = false;

  async function openOnce(): Promise<FileHandle> {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    return open(path, "w", 0o600);
  }

  async function put(bytes: Uint8Array): Promise<void> {
    if (failed) return;
    try {
      opening ??= openOnce();
      const file = await opening;
      for (let done = 0; done < bytes.length; ) {
        done += (await file.write(bytes, done)).bytesWritten;
      }
    } catch {
      await giveUp();
    }
  }

  /** On a full disk, frees the space for the session's log. */
  async function giveUp(): Promise<void> {
    failed = true;
    const file = await opening?.catch(() => undefined);
    if (file === undefined) return;
    await file.truncate(0).catch(() => {});
    await unlink(path).catch(() => {});
  }

  return {
    async write(bytes) {
      const room = Math.max(0, capBytes - written);
      const part = bytes.length <= room ? bytes : bytes.subarray(0, room);
      written += part.length;
      leftOut += bytes.length - part.length;
      if (part.length > 0) await put(part);
    },
    async finish() {
      if (leftOut > 0) await put(Buffer.from(`\n[${leftOut} more bytes were dropped]\n`));
      try {
        await (await opening)?.close();
      } catch {
        failed = true;
      }
      return opening !== undefined && !failed;
    },
  };
}
