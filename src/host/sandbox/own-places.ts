import { constants } from "node:fs";
import { chmod, lstat, mkdir, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { errorCode } from "../../text/system-errors.ts";
import { statusOf } from "../processes/process-status.ts";
import { callFilter } from "./call-filter.ts";
import { ownRoot, sessionTemp } from "./session-temp.ts";

export interface OwnPlaces {
  /** Our folder in the system's temp folder. */
  readonly root: string;
  /** Covers hidden files. */
  readonly emptyFile: string;
  /** The seccomp filter; `undefined` on processors without one. */
  readonly filterFile: string | undefined;
  /** Creates a session's missing folders. Rejects if another user planted one of them. */
  prepare(sessionId: string): Promise<void>;
  /** Removes a session's temp folder. Never rejects. */
  remove(sessionId: string): Promise<void>;
}

async function ownFolder(path: string): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (errorCode(error) !== "EEXIST") throw error;
  });
  const found = await lstat(path);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    throw new Error(`${path} is not your folder. Remove it, or set TMPDIR to a folder that only you can write.`);
  }
  if ((found.mode & 0o777) !== 0o700) await chmod(path, 0o700);
}

/** Never follows a link. */
async function makeFile(path: string, content: Uint8Array): Promise<void> {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW } = constants;
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o600);
  await file.writeFile(content).finally(() => file.close());
}

/** Commands can leave folders that even their owner cannot change. */
async function openUp(folder: string): Promise<void> {
  await chmod(folder, 0o700).catch(() => undefined);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) if (entry.isDirectory()) await openUp(join(folder, entry.name));
}

async function removeFolder(folder: string): Promise<void> {
  const gone = () => rm(folder, { recursive: true, force: true });
  await gone().catch(async () => {
    await openUp(folder);
    await gone().catch(() => undefined);
  });
}

const ownerSuffix = ".owner";

async function ownStart(): Promise<string> {
  return `${process.pid} ${(await statusOf(process.pid))?.startTicks ?? 0}`;
}

async function isAlive(owner: string): Promise<boolean> {
  const [pid, ticks] = owner.split(" ").map(Number);
  if (!pid || ticks === undefined) return false;
  // Without `/proc`, only the id is known.
  if (ticks === 0) return isRunning(pid);
  return (await statusOf(pid))?.startTicks === ticks;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** Removes the temp folders of processes that were killed. */
async function sweep(root: string): Promise<void> {
  const names = await readdir(root).catch(() => []);
  for (const name of names.filter((entry) => entry.endsWith(ownerSuffix))) {
    const file = join(root, name);
    if (await isAlive(await readFile(file, "utf8").catch(() => ""))) continue;
    await removeFolder(join(root, basename(name, ownerSuffix)));
    await rm(file, { force: true });
  }
}

export function createOwnPlaces(): OwnPlaces {
  const root = ownRoot();
  const emptyFile = join(root, "empty");
  const filter = callFilter();
  const filterFile = filter === undefined ? undefined : join(root, "calls");
  let swept: Promise<void> | undefined;

  async function isFileOf(path: string, size: number): Promise<boolean> {
    const found = await lstat(path).catch(() => undefined);
    return found?.isFile() === true && found.size === size;
  }

  async function prepare(sessionId: string): Promise<void> {
    const temp = sessionTemp(sessionId);
    const [known, isEmpty, isFiltered] = await Promise.all([
      lstat(temp).catch(() => undefined),
      isFileOf(emptyFile, 0),
      filterFile === undefined || isFileOf(filterFile, filter?.length ?? 0),
    ]);
    const isReady = isEmpty && isFiltered;
    if (swept !== undefined && known?.isDirectory() && known.uid === process.getuid?.() && isReady) return;
    await ownFolder(root);
    // Before the sweep, so that a session resumed after a crash keeps its folder.
    await writeFile(temp + ownerSuffix, await ownStart(), { mode: 0o600 });
    swept ??= sweep(root);
    await swept;
    if (!isEmpty) await makeFile(emptyFile, new Uint8Array());
    if (filterFile !== undefined && !isFiltered) await makeFile(filterFile, filter ?? new Uint8Array());
    await ownFolder(temp);
  }

  return {
    root,
    emptyFile,
    filterFile,
    prepare,
    async remove(sessionId) {
      const temp = sessionTemp(sessionId);
      await removeFolder(temp);
      await rm(temp + ownerSuffix, { force: true }).catch(() => undefined);
    },
  };
}
