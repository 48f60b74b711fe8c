import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, stat as statPath, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DirectoryEntry, FileStat, Files } from "../../engine/files.ts";
import { nameOfBytes } from "../../text/shown-name.ts";
import { errorCode } from "../../text/system-errors.ts";
import { canonicalPath } from "./canonical-path.ts";
import { inFolder, lookAt, requireGoing, requireRegular, versionOf } from "./held-file.ts";
import { moveFile } from "./move-file.ts";
import { createHoldFolder, type HoldFolder, type Meant } from "./open-decided.ts";
import { onDisk } from "./system-path.ts";
import { notWritable } from "./writable.ts";
import { writeFile } from "./write-file.ts";

const largestReadStep = 1024 * 1024;
const permissionBits = 0o7777n;
/** Entries of a folder to stat at once. */
const listStep = 256;

function kindOf(stats: BigIntStats): FileStat["kind"] {
  return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
}

async function statIfThere(path: string): Promise<BigIntStats | undefined> {
  try {
    return await statPath(onDisk(path), { bigint: true });
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

async function readRange(file: FileHandle, size: number, from: number, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  // The size is only a hint: the kernel's files report 0.
  const expected = Math.max(size - from + 1, 4096);
  let length = 0;
  while (length < maxBytes) {
    const buffer = Buffer.allocUnsafe(Math.min(maxBytes - length, expected, largestReadStep));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, from + length);
    if (bytesRead === 0) break;
    parts.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts, length);
}

async function read(
  hold: HoldFolder,
  path: string,
  range: { readonly from?: number; readonly maxBytes: number },
): Promise<Uint8Array> {
  const meant: Meant = { path, use: "read" };
  return inFolder(hold, dirname(path), meant, async (held) => {
    const name = basename(path);
    requireRegular(await lookAt(held, meant), path, "read");
    // If it was replaced by a pipe meanwhile, opening must not block. The second check rejects it.
    const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    const file = await open(onDisk(join(held.reach, name)), flags);
    try {
      const stats = await file.stat({ bigint: true });
      requireRegular(stats, path, "read");
      await held.confirm({ name, stats });
      return await readRange(file, Number(stats.size), range.from ?? 0, range.maxBytes);
    } finally {
      await file.close();
    }
  });
}

async function remove(hold: HoldFolder, path: string, signal?: AbortSignal): Promise<void> {
  const meant: Meant = { path, use: "removed" };
  return inFolder(hold, dirname(path), meant, async (held) => {
    const name = basename(path);
    const stats = await lookAt(held, meant);
    requireRegular(stats, path, "remove");
    await held.confirm({ name, stats });
    requireGoing(signal, meant);
    // A link placed there meanwhile is removed, not followed.
    await unlink(onDisk(join(held.reach, name)));
  });
}

async function describe(folder: string, name: string): Promise<DirectoryEntry | undefined> {
  const path = onDisk(join(folder, name));
  try {
    const stats = await lstat(path);
    const common = { name, size: stats.size, mtimeMs: stats.mtimeMs, mode: stats.mode & 0o7777 };
    if (stats.isSymbolicLink()) {
      return { ...common, kind: "link", linkTarget: nameOfBytes(await readlink(path, { encoding: "buffer" })) };
    }
    return { ...common, kind: stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other" };
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function list(hold: HoldFolder, path: string): Promise<readonly DirectoryEntry[]> {
  return inFolder(hold, path, { path, use: "read" }, async (held) => {
    const found = (await readdir(onDisk(held.reach), { encoding: "buffer" })).map(nameOfBytes);
    found.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    const entries: DirectoryEntry[] = [];
    for (let at = 0; at < found.length; at += listStep) {
      const described = await Promise.all(found.slice(at, at + listStep).map((name) => describe(held.reach, name)));
      entries.push(...described.filter((entry) => entry !== undefined));
    }
    await held.confirm();
    return entries;
  });
}

interface FilesOptions {
  /** Opens the folder that was decided on. */
  readonly holdFolder?: HoldFolder;
  /** Keeps a file's new text until it is in place. Default: beside the file. */
  readonly unfinishedDir?: string;
}

/**
 * This machine's files. Paths must be canonical: if a part has become a link, the operation fails. Only `stat` follows links.
 */
export function createFiles(options: FilesOptions = {}): Files {
  const hold = options.holdFolder ?? createHoldFolder();
  return {
    canonical: (path, base) => canonicalPath(path, base),
    async stat(path) {
      const stats = await statIfThere(path);
      if (stats === undefined) return undefined;
      const refusal = stats.isFile() ? await notWritable(path, stats) : undefined;
      return {
        kind: kindOf(stats),
        size: Number(stats.size),
        mtimeMs: Number(stats.mtimeMs),
        mode: Number(stats.mode & permissionBits),
        version: versionOf(stats),
        ...(refusal === undefined ? {} : { notWritable: refusal }),
      };
    },
    list: (path) => list(hold, path),
    read: (path, range) => read(hold, path, range),
    write: (path, text, how) => writeFile({ hold, unfinishedDir: options.unfinishedDir }, path, text, how),
    move: (from, to, how) => moveFile(hold, from, to, how?.signal),
    remove: (path, how) => remove(hold, path, how?.signal),
  };
}
