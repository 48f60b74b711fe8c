import { randomBytes } from "node:crypto";
import { mkdir, open, realpath, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readPlainText } from "../../config/bounded-file.ts";
import { invalid, reason } from "../../config/check/config-fault.ts";
import { AgentError } from "../../engine/errors.ts";
import { makeFolders } from "../../engine/make-folders.ts";
import { acquireLease } from "../../store/lease.ts";
import { isMissing } from "../../text/system-errors.ts";
import { type Fields, isRecord } from "../../text/values.ts";

/* JSON objects in Tinman's home that several processes change. */

const waitMs = 10_000;
const pauseMs = 25;

/** Empty if the file is missing or blank. Rejects with `config_invalid`, without quoting the file. */
export async function readJson(path: string): Promise<Fields> {
  let text: string;
  try {
    text = await readPlainText(path);
  } catch (error) {
    if (isMissing(error)) return {};
    throw invalid(path, reason(error));
  }
  if (text.trim() === "") return {};
  const { parseJsonWithComments } = await import("../../config/models/json-with-comments.ts");
  const value = parseJsonWithComments(text);
  if (!isRecord(value)) throw invalid(path, "is not a JSON object");
  return value;
}

/**
 * Changes a file under a lock, so that no process loses another's change, and replaces it atomically, readable only by
 * its owner. `change` returns `undefined` to leave it as it is. Rejects with `config_invalid` or `storage_failed`.
 */
export async function changeJson(path: string, change: (before: Fields) => Fields | undefined): Promise<void> {
  const locks = join(dirname(path), "locks");
  try {
    await makeFolders(locks, (folder) => mkdir(folder, { mode: 0o700 }));
  } catch (error) {
    throw unwritable(path, error);
  }
  const lease = await leaseOn(locks, path);
  try {
    const after = change(await readJson(path));
    if (after !== undefined) await replace(path, `${JSON.stringify(after, undefined, 2)}\n`);
  } finally {
    await lease.release();
  }
}

async function leaseOn(locks: string, path: string) {
  const name = `file-${path.slice(path.lastIndexOf("/") + 1)}`;
  for (const until = Date.now() + waitMs; ; ) {
    try {
      return await acquireLease(locks, name);
    } catch (error) {
      if (!(error instanceof AgentError) || error.code !== "session_in_use") throw unwritable(path, error);
      if (Date.now() > until) throw unwritable(path, new Error("another process has it locked"));
      await new Promise((resolve) => setTimeout(resolve, pauseMs * (1 + Math.random())));
    }
  }
}

async function replace(path: string, text: string): Promise<void> {
  // Write through a link: the user keeps the file elsewhere.
  const target = await realpath(path).catch(() => path);
  const fresh = `${target}.${process.pid}.${randomBytes(4).toString("hex")}.new`;
  try {
    const file = await open(fresh, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, target);
  } catch (error) {
    throw unwritable(path, error);
  } finally {
    await rm(fresh, { force: true });
  }
}

function unwritable(path: string, error: unknown): AgentError {
  return new AgentError("storage_failed", `Cannot write ${path}: ${reason(error)}`, { cause: error });
}
