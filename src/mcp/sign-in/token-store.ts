import { constants } from "node:fs";
import { chmod, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "../../engine/errors.ts";
import { errorCode, isMissing } from "../../text/system-errors.ts";
import { errorMessage } from "../../text/values.ts";
import type { WithLock } from "./lock.ts";
import { decodeSignIns, encodeSignIns, type StoredSignIn } from "./stored-sign-ins.ts";

const mostBytes = 4 * 1024 * 1024;
const fileName = "tokens.json";

/** A server is its name and its address: tokens never go to another address of the same name. */
export interface ServerKey {
  readonly name: string;
  readonly url: string;
}

/** All methods reject with `config_invalid` if the file is damaged or not private, and with `storage_failed`. */
export interface TokenStore {
  read(key: ServerKey): Promise<StoredSignIn | undefined>;
  /** Changes one entry, as it is now on disk, and no other. `undefined` removes it. */
  update(
    key: ServerKey,
    change: (now: StoredSignIn | undefined) => StoredSignIn | undefined,
  ): Promise<StoredSignIn | undefined>;
  /** Removes the entries of all addresses of this name. False if it found no entry. */
  removeAll(name: string): Promise<boolean>;
}

/** `$TINMAN_HOME/mcp/tokens.json`. Readers see the old or the new file; writers take turns, also those of other processes. */
export function createTokenStore(home: string, withLock: WithLock): TokenStore {
  const folder = join(home, "mcp");
  const path = join(folder, fileName);

  async function readAll(): Promise<StoredSignIn[]> {
    const text = await readPrivate(path);
    return text === undefined ? [] : decodeSignIns(text, path);
  }

  async function change(make: (entries: readonly StoredSignIn[]) => readonly StoredSignIn[]): Promise<void> {
    await prepare(folder);
    await withLock(folder, "tokens", async () => {
      const entries = await readAll();
      const next = make(entries);
      if (next !== entries) await replace(folder, path, encodeSignIns(next));
    });
  }

  return {
    read: async (key) => (await readAll()).find(isOf(key)),
    async update(key, make) {
      let stored: StoredSignIn | undefined;
      await change((entries) => {
        const now = entries.find(isOf(key));
        stored = make(now);
        if (stored === now) return entries;
        const others = entries.filter((entry) => entry !== now);
        return stored === undefined ? others : [...others, stored];
      });
      return stored;
    },
    async removeAll(name) {
      // Read first, so that a sign-out without a sign-in doesn't create the folder.
      if (!(await readAll()).some((entry) => entry.name === name)) return false;
      await change((entries) => entries.filter((entry) => entry.name !== name));
      return true;
    },
  };
}

function isOf({ name, url }: ServerKey): (entry: StoredSignIn) => boolean {
  return (entry) => entry.name === name && entry.url === url;
}

async function readPrivate(path: string): Promise<string | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > mostBytes) throw refused(path, "is not a file with tokens. Delete it");
      if ((stats.mode & 0o077) !== 0) throw refused(path, `can be read by others. Run: chmod 600 ${path}`);
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (errorCode(error) === "ELOOP") throw refused(path, "is a link, but must be a plain file. Delete it");
    throw storageFault("read", path, error);
  }
}

async function prepare(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
  } catch (error) {
    throw storageFault("create", folder, error);
  }
}

async function replace(folder: string, path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}.draft`;
  try {
    // Only the holder of the lock has a draft, so others were left by a crash.
    for (const name of await readdir(folder)) {
      if (name.startsWith(`${fileName}.`) && name.endsWith(".draft")) await unlink(join(folder, name));
    }
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch (error) {
    await unlink(draft).catch(() => {});
    throw storageFault("write", path, error);
  }
}

function refused(path: string, why: string): AgentError {
  return new AgentError("config_invalid", `${path} ${why}.`);
}

function storageFault(action: string, path: string, error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  return new AgentError("storage_failed", `Cannot ${action} ${path}: ${errorCode(error) ?? errorMessage(error)}.`);
}
