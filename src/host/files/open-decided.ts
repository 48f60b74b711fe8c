import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, stat } from "node:fs/promises";
import { isAbsolute, join, parse, sep } from "node:path";
import { nameOfBytes } from "../../text/shown-name.ts";
import { errorCode } from "../../text/system-errors.ts";
import { onDisk } from "./system-path.ts";

/*
 * A path that was decided on is canonical: no part of it is a link. A link placed there before the file is opened would lead
 * to another file. So the folder is opened first, without following links, and everything happens inside the open folder.
 */

/** For error messages: the path that was decided on, and the operation. */
export interface Meant {
  readonly path: string;
  readonly use: "read" | "written" | "moved" | "removed";
}

/** An open folder, which stays the same whatever happens to its path. */
export interface HeldFolder {
  /** A path that leads to this folder. */
  readonly reach: string;
  /** Rejects if the path now leads to another folder, or to another file than the opened one. */
  confirm(opened?: { readonly name: string; readonly stats: BigIntStats }): Promise<void>;
  close(): Promise<void>;
}

/** Opens a folder by its canonical path, without following links. With `make`, creates missing folders. */
export type HoldFolder = (folder: string, meant: Meant, make: boolean) => Promise<HeldFolder>;

export function leadsElsewhere({ path, use }: Meant): Error {
  const message = `${path} now leads elsewhere than when it was allowed. Nothing was ${use}.`;
  return Object.assign(new Error(message), { code: "ESTALE", path });
}

/** Replaces `reach` in a system error with the folder's own path. */
export function aboutFolder(error: unknown, reach: string, folder: string): unknown {
  if (!(error instanceof Error) || reach === folder) return error;
  const named = (text: string): string => text.replaceAll(`${reach}/`, folder.endsWith(sep) ? folder : folder + sep);
  error.message = named(error.message).replaceAll(reach, folder);
  if ("path" in error && typeof error.path === "string") error.path = named(error.path).replace(reach, folder);
  if ("dest" in error && typeof error.dest === "string") error.dest = named(error.dest);
  return error;
}

/** The path's names, from the root down. */
function namesOf(path: string): readonly string[] {
  return path
    .slice(parse(path).root.length)
    .split(sep)
    .filter((name) => name !== "");
}

function requireCanonical(path: string): void {
  if (isAbsolute(path) && !namesOf(path).some((name) => name === "." || name === "..")) return;
  throw Object.assign(new Error(`EINVAL: not a canonical path, '${path}'`), { code: "EINVAL", path });
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(onDisk(path)).catch((error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
}

/** Linux's `O_PATH`, which needs no read permission. Node does not export it. */
const asPlace = 0o10000000;

async function isFile(path: string): Promise<boolean> {
  return lstat(onDisk(path)).then(
    (stats) => !stats.isSymbolicLink() && !stats.isDirectory(),
    () => false,
  );
}

function pathOf(folder: FileHandle): string {
  return `/proc/self/fd/${folder.fd}`;
}

async function openInside(parent: string, name: string, make: boolean, meant: Meant): Promise<FileHandle> {
  const path = `${parent}/${name}`;
  try {
    return await open(onDisk(path), asPlace | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT" && make) {
      await makeFolder(path);
      return openInside(parent, name, false, meant);
    }
    // ENOTDIR can also mean a link. Only a file proves that nothing was swapped.
    if (code === "ELOOP" || (code === "ENOTDIR" && !(await isFile(path)))) throw leadsElsewhere(meant);
    throw error;
  }
}

/** Opens the folder in one step. `undefined` if the system reports another path, as it does behind a link. */
async function openAtOnce(folder: string): Promise<FileHandle | undefined> {
  const held = await open(onDisk(folder), asPlace | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    () => undefined,
  );
  if (held === undefined) return undefined;
  const actual = await readlink(pathOf(held), { encoding: "buffer" }).catch(() => undefined);
  if (actual !== undefined && nameOfBytes(actual) === folder) return held;
  await held.close();
  return undefined;
}

/** Opens folder by folder through descriptors, so that a swap on the way is either noticed or has no effect. */
async function openByWalking(folder: string, meant: Meant, make: boolean): Promise<FileHandle> {
  let held = await open("/", asPlace | constants.O_DIRECTORY);
  let walked = "/";
  for (const name of namesOf(folder)) {
    const parent = held;
    const reach = pathOf(parent);
    try {
      held = await openInside(reach, name, make, meant);
    } catch (error) {
      throw aboutFolder(error, reach, walked);
    } finally {
      await parent.close();
    }
    walked = join(walked, name);
  }
  return held;
}

const holdByDescriptor: HoldFolder = async (folder, meant, make) => {
  requireCanonical(folder);
  const held = (await openAtOnce(folder)) ?? (await openByWalking(folder, meant, make));
  return { reach: pathOf(held), confirm: async () => undefined, close: () => held.close() };
};

async function lstatOrMake(path: string, make: boolean): Promise<BigIntStats> {
  try {
    return await lstat(onDisk(path), { bigint: true });
  } catch (error) {
    if (errorCode(error) !== "ENOENT" || !make) throw error;
    await makeFolder(path);
    return lstat(onDisk(path), { bigint: true });
  }
}

/** The folder's attributes. Rejects if a part of its path is a link. */
async function statFolder(folder: string, meant: Meant, make: boolean): Promise<BigIntStats> {
  let at = parse(folder).root;
  let stats = await lstat(at, { bigint: true });
  for (const name of namesOf(folder)) {
    at = join(at, name);
    stats = await lstatOrMake(at, make);
    if (stats.isSymbolicLink()) throw leadsElsewhere(meant);
    if (!stats.isDirectory()) {
      throw Object.assign(new Error(`ENOTDIR: not a directory, open '${at}'`), { code: "ENOTDIR", path: at });
    }
  }
  return stats;
}

/**
 * Without paths for descriptors, checks the path before and after use. A swap in between can go unnoticed.
 */
const holdByPath: HoldFolder = async (folder, meant, make) => {
  requireCanonical(folder);
  const before = await statFolder(folder, meant, make);
  const confirmSame = (a: BigIntStats, b: BigIntStats): void => {
    if (a.dev !== b.dev || a.ino !== b.ino) throw leadsElsewhere(meant);
  };
  return {
    reach: folder,
    async confirm(opened) {
      confirmSame(await statFolder(folder, meant, false), before);
      if (opened !== undefined)
        confirmSame(await lstat(onDisk(join(folder, opened.name)), { bigint: true }), opened.stats);
    },
    close: async () => undefined,
  };
};

/** Whether `/proc/self/fd/<n>` leads into the open folder. */
async function descriptorsHavePaths(): Promise<boolean> {
  if (process.platform !== "linux") return false;
  try {
    const root = await open("/", asPlace | constants.O_DIRECTORY);
    try {
      const [direct, reached] = [await stat("/"), await stat(`/proc/self/fd/${root.fd}/.`)];
      return direct.dev === reached.dev && direct.ino === reached.ino;
    } finally {
      await root.close();
    }
  } catch {
    return false;
  }
}

export function createHoldFolder(hasDescriptorPaths = descriptorsHavePaths): HoldFolder {
  let chosen: Promise<HoldFolder> | undefined;
  return async (folder, meant, make) => {
    chosen ??= hasDescriptorPaths().then((has) => (has ? holdByDescriptor : holdByPath));
    return (await chosen)(folder, meant, make);
  };
}
