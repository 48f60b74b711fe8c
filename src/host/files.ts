import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink, rename, stat as statPath, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { DirectoryEntry, FileStat, Files } from "../core/ports.ts";
import { nameOfBytes } from "../core/shown-name.ts";
import { canonicalPath } from "./canonical-path.ts";
import {
  aboutFolder,
  codeOf,
  createHoldFolder,
  type HeldFolder,
  type HoldFolder,
  leadsElsewhere,
  type Meant,
} from "./open-decided.ts";
import { onDisk } from "./system-path.ts";

const largestReadStep = 1024 * 1024;
const permissionBits = 0o7777n;
/** Entries of a folder that are looked at together. */
const listStep = 256;

function versionOf(stats: BigIntStats): string {
  return `${stats.ino}-${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`;
}

function kindOf(stats: BigIntStats): FileStat["kind"] {
  return stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other";
}

async function statIfThere(path: string): Promise<BigIntStats | undefined> {
  try {
    return await statPath(onDisk(path), { bigint: true });
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}

/** A pipe has no end that we could wait for and a device may do anything when it is opened, so neither is touched. */
function requireRegular(stats: BigIntStats, path: string, action: "read" | "write" | "remove"): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) {
    throw Object.assign(new Error(`EISDIR: illegal operation on a directory, ${action} '${path}'`), { code: "EISDIR" });
  }
  const what = stats.isFIFO() ? "a named pipe" : stats.isSocket() ? "a socket" : "a device";
  throw Object.assign(new Error(`EINVAL: ${what} is not a regular file, ${action} '${path}'`), { code: "EINVAL" });
}

async function readRange(file: FileHandle, size: number, from: number, maxBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  // Files of the kernel say that they are empty and are not, so the size is only a hint.
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

/** Does something in a folder that is held meanwhile. */
async function inFolder<T>(
  hold: HoldFolder,
  folder: string,
  meant: Meant & { readonly make?: true },
  act: (held: HeldFolder) => Promise<T>,
): Promise<T> {
  const held = await hold(folder, meant, meant.make ?? false);
  try {
    return await act(held);
  } catch (error) {
    // A link that is met where none is followed.
    if (codeOf(error) === "ELOOP") throw leadsElsewhere(meant);
    throw aboutFolder(error, held.reach, folder);
  } finally {
    await held.close();
  }
}

/** What lies in a held folder under the last name of a path; for the root, itself. */
function lookAt(held: HeldFolder, meant: Meant): Promise<BigIntStats> {
  return lstat(onDisk(`${held.reach}/${basename(meant.path)}`), { bigint: true }).then((stats) => {
    if (stats.isSymbolicLink()) throw leadsElsewhere(meant);
    return stats;
  });
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
    // It may have been swapped for a pipe since: then opening must not wait, and the second look refuses it.
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

/** Gives the new file the mode of the old one, and its owner where we may. */
async function keepAttributes(file: FileHandle, old: BigIntStats): Promise<void> {
  const fresh = await file.stat({ bigint: true });
  if (fresh.uid !== old.uid || fresh.gid !== old.gid) {
    await file.chown(Number(old.uid), Number(old.gid)).catch(() => undefined);
  }
  await file.chmod(Number(old.mode & permissionBits));
}

async function oldFile(held: HeldFolder, meant: Meant): Promise<BigIntStats | undefined> {
  try {
    const old = await lookAt(held, meant);
    requireRegular(old, meant.path, "write");
    return old;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function write(hold: HoldFolder, path: string, text: string, mode?: number): Promise<string> {
  const meant = { path, use: "written", make: true } as const;
  return inFolder(hold, dirname(path), meant, async (held) => {
    const old = await oldFile(held, meant);
    const name = `.tinman-${crypto.randomUUID()}.tmp`;
    const temporary = join(held.reach, name);
    // Nobody but us reads it before it has the mode of the file that it replaces.
    const file = await open(onDisk(temporary), "wx", old === undefined ? 0o666 : 0o600);
    try {
      await held.confirm({ name, stats: await file.stat({ bigint: true }) });
      await file.writeFile(text, "utf8");
      if (old !== undefined) await keepAttributes(file, old);
      else if (mode !== undefined) await file.chmod(mode & 0o777);
      await file.datasync();
      // A link that was put there meanwhile is replaced, and not followed.
      await rename(onDisk(temporary), onDisk(join(held.reach, basename(path))));
      return versionOf(await file.stat({ bigint: true }));
    } catch (error) {
      await unlink(onDisk(temporary)).catch(() => undefined);
      throw error;
    } finally {
      await file.close();
    }
  });
}

async function remove(hold: HoldFolder, path: string): Promise<void> {
  const meant: Meant = { path, use: "removed" };
  return inFolder(hold, dirname(path), meant, async (held) => {
    const name = basename(path);
    const stats = await lookAt(held, meant);
    requireRegular(stats, path, "remove");
    await held.confirm({ name, stats });
    // A link that was put there meanwhile is removed itself, and not followed.
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
    if (codeOf(error) === "ENOENT") return undefined;
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

export interface FilesOptions {
  /** How a folder is opened that a decision was made on. */
  readonly holdFolder?: HoldFolder;
}

/**
 * Files of this machine. What is read, written, removed or listed is meant by its canonical path: where a part of it has become a
 * link, it is refused. Only `stat` follows links.
 */
export function createFiles(options: FilesOptions = {}): Files {
  const hold = options.holdFolder ?? createHoldFolder();
  return {
    canonical: (path, base) => canonicalPath(path, base),
    async stat(path) {
      const stats = await statIfThere(path);
      if (stats === undefined) return undefined;
      return {
        kind: kindOf(stats),
        size: Number(stats.size),
        mtimeMs: Number(stats.mtimeMs),
        mode: Number(stats.mode & permissionBits),
        version: versionOf(stats),
      };
    },
    list: (path) => list(hold, path),
    read: (path, range) => read(hold, path, range),
    write: (path, text, options) => write(hold, path, text, options?.mode),
    remove: (path) => remove(hold, path),
  };
}
