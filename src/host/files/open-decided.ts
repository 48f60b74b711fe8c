import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, stat } from "node:fs/promises";
import { isAbsolute, join, parse, sep } from "node:path";
import { nameOfBytes } from "../../text/shown-name.ts";
import { errorCode } from "../../text/system-errors.ts";
import { onDisk } from "./system-path.ts";

/*
 * A path that a decision was made on is canonical: no part of it is a link. Somebody may put one there before the file is
 * opened, and then it would be another file. So the folder is opened first, in a way that no link is followed, and what is
 * done is done inside the folder that is held.
 */

/** What the words of an error are about: the path that was decided on, and what does not happen to it. */
export interface Meant {
  readonly path: string;
  readonly use: "read" | "written" | "moved" | "removed";
}

/** A folder that is held, whatever becomes of its path. */
export interface HeldFolder {
  /** A path by which the system reaches this very folder. */
  readonly reach: string;
  /** Rejects when the folder, or a file of it that was opened by its name, is not what the path means now. */
  confirm(opened?: { readonly name: string; readonly stats: BigIntStats }): Promise<void>;
  close(): Promise<void>;
}

/** Opens a folder by its canonical path, without following links; with `make`, folders that are missing are made. */
export type HoldFolder = (folder: string, meant: Meant, make: boolean) => Promise<HeldFolder>;

export function leadsElsewhere({ path, use }: Meant): Error {
  const message = `${path} leads somewhere else than when it was decided on. Nothing was ${use}.`;
  return Object.assign(new Error(message), { code: "ESTALE", path });
}

/** An error of the system about something below `reach`, in words about the folder that it stands for. */
export function aboutFolder(error: unknown, reach: string, folder: string): unknown {
  if (!(error instanceof Error) || reach === folder) return error;
  const named = (text: string): string => text.replaceAll(`${reach}/`, folder.endsWith(sep) ? folder : folder + sep);
  error.message = named(error.message).replaceAll(reach, folder);
  if ("path" in error && typeof error.path === "string") error.path = named(error.path).replace(reach, folder);
  if ("dest" in error && typeof error.dest === "string") error.dest = named(error.dest);
  return error;
}

/** The names of a path from the root down. */
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

/** Linux's flag to open something only as a place: this needs no right to read it. Node has no name for it. */
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
    // A link is no folder either; only of a file it is sure that nothing was swapped.
    if (code === "ELOOP" || (code === "ENOTDIR" && !(await isFile(path)))) throw leadsElsewhere(meant);
    throw error;
  }
}

/** The folder, opened in one go, when the system says that it is at this very path; which it does not behind a link. */
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

/** Folder by folder through descriptors: what is swapped on the way is either seen or does not matter any more. */
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

/** The folder's own attributes, when no part of its path is a link. */
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
 * Where the system has no paths for descriptors, the path is looked at before it is used, and again behind it. That leaves
 * moments in which a swap is not seen.
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

/** Whether a descriptor's path under `/proc/self/fd` leads into the folder that it stands for. */
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
