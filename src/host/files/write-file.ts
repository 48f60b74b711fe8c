import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, open, rename, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { encodeText } from "../../async/long-texts.ts";
import { createPace } from "../../async/pace.ts";
import type { Files } from "../../engine/files.ts";
import { errorCode } from "../../text/system-errors.ts";
import { errorMessage } from "../../text/values.ts";
import { inFolder, lookAt, requireGoing, requireRegular, versionOf } from "./held-file.ts";
import type { HeldFolder, HoldFolder, Meant } from "./open-decided.ts";
import { onDisk } from "./system-path.ts";
import { type KeptText, keepText } from "./unfinished-writes.ts";
import { isReadOnly, refusalOf } from "./writable.ts";

interface WriteParts {
  readonly hold: HoldFolder;
  /** Keeps a file's new text until it is in place. Default: beside the file. */
  readonly unfinishedDir: string | undefined;
}

type WriteOptions = NonNullable<Parameters<Files["write"]>[2]>;

interface Writing extends Meant {
  readonly bytes: Buffer;
  readonly options: WriteOptions;
}

const permissionBits = 0o7777n;

/** See the port: a new file appears complete, an existing one is written in place. */
export async function writeFile(
  { hold, unfinishedDir }: WriteParts,
  path: string,
  text: string,
  options: WriteOptions = {},
): Promise<string> {
  const bytes = await encodeText(text, createPace().rest);
  const writing = { path, use: "written", make: true, bytes, options } as const;
  return inFolder(hold, dirname(path), writing, async (held) => {
    const old = await oldFile(held, writing);
    if (old === undefined) return makeFile(held, writing);
    const file = await openToWrite(held, writing, old);
    try {
      const stats = await file.stat({ bigint: true });
      requireRegular(stats, path, "write");
      await held.confirm({ name: basename(path), stats });
      return await alone(`${stats.dev}-${stats.ino}`, () => replaceText(file, writing, unfinishedDir ?? held.reach));
    } finally {
      await file.close();
    }
  });
}

async function oldFile(held: HeldFolder, meant: Meant): Promise<BigIntStats | undefined> {
  try {
    const old = await lookAt(held, meant);
    requireRegular(old, meant.path, "write");
    return old;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function makeFile(held: HeldFolder, { path, use, bytes, options }: Writing): Promise<string> {
  const name = `.tinman-${crypto.randomUUID()}.tmp`;
  const temporary = join(held.reach, name);
  const file = await open(onDisk(temporary), "wx", 0o666).catch((error: unknown) => {
    // Name the requested file in the message.
    if (error instanceof Error) error.message = error.message.replace(name, basename(path));
    throw error;
  });
  try {
    await held.confirm({ name, stats: await file.stat({ bigint: true }) });
    await file.writeFile(bytes);
    if (options.mode !== undefined) await file.chmod(options.mode & 0o777);
    await file.datasync();
    requireGoing(options.signal, { path, use });
    // A link placed there meanwhile is replaced, not followed.
    await rename(onDisk(temporary), onDisk(join(held.reach, basename(path))));
    return versionOf(await file.stat({ bigint: true }));
  } catch (error) {
    await unlink(onDisk(temporary)).catch(() => undefined);
    throw error;
  } finally {
    await file.close();
  }
}

async function openToWrite(held: HeldFolder, { path }: Writing, old: BigIntStats): Promise<FileHandle> {
  const refuse = (why: string): Error =>
    Object.assign(new Error(`${path} ${why}. Nothing was written.`), { code: "EACCES", path });
  const readOnly = isReadOnly(old) ? refusalOf("EACCES", old) : undefined;
  if (readOnly !== undefined) throw refuse(readOnly);
  try {
    // If it was replaced by a pipe meanwhile, opening must not block. The second check rejects it.
    const flags = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
    return await open(onDisk(join(held.reach, basename(path))), flags);
  } catch (error) {
    const why = refusalOf(errorCode(error), old);
    throw why === undefined ? error : refuse(why);
  }
}

async function replaceText(file: FileHandle, writing: Writing, unfinishedDir: string): Promise<string> {
  const { path, bytes, options } = writing;
  const kept = await keepText(unfinishedDir, path, bytes);
  const old = await file.stat({ bigint: true });
  try {
    requireGoing(options.signal, writing);
    await appendMissing(file, bytes, Number(old.size));
  } catch (error) {
    await kept.drop();
    throw error;
  }
  const after = await overwrite(file, bytes, old).catch((error: unknown) => {
    throw torn(error, path, kept);
  });
  await kept.drop();
  return versionOf(after);
}

/** Writes the part beyond the old length first: if the disk is full, the old text is still intact. */
async function appendMissing(file: FileHandle, bytes: Buffer, size: number): Promise<void> {
  try {
    await writeAll(file, bytes, size, bytes.length);
  } catch (error) {
    await file.truncate(size);
    throw error;
  }
}

async function overwrite(file: FileHandle, bytes: Buffer, old: BigIntStats): Promise<BigIntStats> {
  await writeAll(file, bytes, 0, Math.min(bytes.length, Number(old.size)));
  await file.truncate(bytes.length);
  let after = await file.stat({ bigint: true });
  // Writing clears some permission bits.
  if (after.mode !== old.mode) await file.chmod(Number(old.mode & permissionBits)).catch(() => undefined);
  await file.datasync();
  after = await file.stat({ bigint: true });
  // File times are coarse, and readers of the old text must notice the change.
  for (let tries = 0; tries < 20 && versionOf(after) === versionOf(old); tries += 1) {
    await pause(2);
    await file.truncate(bytes.length);
    after = await file.stat({ bigint: true });
  }
  return after;
}

async function writeAll(file: FileHandle, bytes: Buffer, from: number, to: number): Promise<void> {
  for (let at = from; at < to; ) at += (await file.write(bytes, at, to - at, at)).bytesWritten;
}

function torn(error: unknown, path: string, kept: KeptText): Error {
  const why = errorMessage(error);
  const message = `${path} was written only in part (${why}). Its complete new text is in ${kept.path}.`;
  return Object.assign(new Error(message), { path });
}

const writers = new Map<string, Promise<unknown>>();

/** Per-file mutex, within this process. */
async function alone<T>(key: string, act: () => Promise<T>): Promise<T> {
  const before = writers.get(key);
  const turn = (before ?? Promise.resolve()).then(act, act);
  writers.set(key, turn);
  try {
    return await turn;
  } finally {
    if (writers.get(key) === turn) writers.delete(key);
  }
}
