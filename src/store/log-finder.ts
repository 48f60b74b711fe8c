import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import type { AgentError } from "../core/errors.ts";
import { cwdSlug, isSessionId, logSuffix } from "./layout.ts";
import { isMissing, storageError } from "./storage-error.ts";

export interface FoundLog {
  readonly path: string;
  readonly bytes: number;
}

export interface ListedLog {
  readonly id: string;
  readonly path: string;
  readonly mtimeMs: number;
}

/** Files that are looked at together, whatever the number of sessions. */
export const concurrency = 16;

/**
 * Looks in the folders of all working directories; `id` is a checked one. A file without content is the last choice. A
 * folder that cannot be looked into is an obstacle, but hides no session of the others.
 */
export async function findLog(
  sessions: string,
  id: string,
): Promise<{ readonly log?: FoundLog; readonly obstacle?: AgentError }> {
  const logs: FoundLog[] = [];
  const obstacles: AgentError[] = [];
  await inBatches(await namesIn(sessions), async (folder) => {
    const path = join(sessions, folder, id + logSuffix);
    try {
      const stat = await lstat(path);
      // Where file names ignore case, another session's log may answer to this name.
      if (stat.isFile() && basename(await realpath(path)) === basename(path)) logs.push({ path, bytes: stat.size });
    } catch (error) {
      if (!isMissing(error)) obstacles.push(storageError("read", path, error));
    }
  });
  const log = logs.find(({ bytes }) => bytes > 0) ?? logs[0];
  const obstacle = obstacles[0];
  return { ...(log && { log }), ...(obstacle && { obstacle }) };
}

/** All logs that have content, or those of one working directory; the last changed first. */
export async function listLogs(sessions: string, cwd: string | undefined): Promise<readonly ListedLog[]> {
  const logs: ListedLog[] = [];
  for (const folder of cwd === undefined ? await namesIn(sessions) : [cwdSlug(cwd)]) {
    // A folder that cannot be read is left out, as a log is.
    await inBatches(await namesIn(join(sessions, folder)).catch(() => []), async (name) => {
      const id = name.slice(0, -logSuffix.length);
      if (!name.endsWith(logSuffix) || !isSessionId(id)) return;
      const path = join(sessions, folder, name);
      const stat = await lstat(path).catch(() => undefined);
      if (stat?.isFile() && stat.size > 0) logs.push({ id, path, mtimeMs: stat.mtimeMs });
    });
  }
  return logs.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.id < b.id ? -1 : 1));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw storageError("read", folder, error);
  }
}

async function inBatches(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  for (let from = 0; from < names.length; from += concurrency) {
    await Promise.all(names.slice(from, from + concurrency).map(work));
  }
}
