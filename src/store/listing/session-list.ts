import { isUtf8 } from "node:buffer";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { SessionInfo } from "../../engine/ports.ts";
import type { SessionSettings } from "../../engine/settings.ts";
import { isMissing } from "../../text/system-errors.ts";
import { cwdSlug, isSessionId, logSuffix } from "./layout.ts";
import { scanLines } from "./line-scanner.ts";
import { type DecodedStart, decodeStart, decodeTitle, type StartDamage, titleMarker } from "./listed-records.ts";

export interface ListedLog {
  readonly id: string;
  readonly path: string;
  readonly mtimeMs: number;
}

export interface ListQuery {
  readonly cwd?: string | undefined;
  readonly owner?: string | undefined;
  readonly limit?: number | undefined;
  /** An abort rejects the listing with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called for each unreadable log found on the way. */
  onUnreadable?(path: string): void;
}

/** Files read at the same time. */
const concurrency = 16;

const marker = Buffer.from(titleMarker);

/** Newest first, without unreadable sessions. Rejects if the sessions folder itself is unreadable. */
export async function listInfos(sessions: string, query: ListQuery): Promise<readonly SessionInfo[]> {
  const { cwd, owner, signal } = query;
  const folders = cwd === undefined ? await namesIn(sessions) : [cwdSlug(cwd)];
  const logs = await logsIn(
    folders.map((folder) => join(sessions, folder)),
    signal,
  );
  return firstOf(logs, query, async ({ path, id }) => {
    const read = await readInfo(path, id).catch(() => ({ info: undefined }));
    const info = read?.info;
    if (read !== undefined && info === undefined) query.onUnreadable?.(path);
    const isWanted = (cwd ?? info?.cwd) === info?.cwd && (owner ?? info?.owner) === info?.owner;
    return isWanted ? info : undefined;
  });
}

/** All non-empty logs in these folders, last changed first. Skips unreadable folders and logs. */
export async function logsIn(folders: readonly string[], signal?: AbortSignal): Promise<readonly ListedLog[]> {
  const logs: ListedLog[] = [];
  for (const folder of folders) {
    const names = await namesIn(folder).catch(() => []);
    await inBatches(
      names,
      async (name) => {
        const id = name.slice(0, -logSuffix.length);
        if (!name.endsWith(logSuffix) || !isSessionId(id)) return;
        const path = join(folder, name);
        const stat = await lstat(path).catch(() => undefined);
        if (stat?.isFile() && stat.size > 0) logs.push({ id, path, mtimeMs: stat.mtimeMs });
      },
      signal,
    );
  }
  return logs.sort((a, b) => b.mtimeMs - a.mtimeMs || (a.id < b.id ? -1 : 1));
}

/** Results for the first `limit` readable logs, in order. Reads at most one batch too many. */
export async function firstOf<Log, T>(
  logs: readonly Log[],
  { limit = Number.POSITIVE_INFINITY, signal }: ListQuery,
  read: (log: Log) => Promise<T | undefined>,
): Promise<readonly T[]> {
  const found: T[] = [];
  for (let from = 0; from < logs.length && found.length < limit; from += concurrency) {
    signal?.throwIfAborted();
    const batch = logs.slice(from, from + concurrency);
    for (const one of await Promise.all(batch.map((log) => read(log).catch(() => undefined)))) {
      if (one !== undefined) found.push(one);
    }
  }
  return found.slice(0, limit);
}

/**
 * Reads the log's first line and last title, parsing no other lines. `undefined` for a missing or empty log. Rejects with file
 * system errors.
 */
export async function readInfo(
  path: string,
  id: string,
): Promise<{ readonly info: SessionInfo } | { readonly info?: never; readonly damage: StartDamage } | undefined> {
  let start: DecodedStart | undefined;
  let title = "";
  const stats = await scanLines(path, (line, number) => {
    if (number === 1) {
      start = startOf(line, id);
      if (start.kind !== "event") return "enough";
      title = start.title;
    } else if (line?.includes(marker) && isUtf8(line)) {
      title = decodeTitle(line.toString()) ?? title;
    }
    return undefined;
  });
  if (!stats || !start) return undefined;
  if (start.kind !== "event") return { damage: start };
  const { cwd, at, settings } = start.event;
  const times = { createdAt: at, updatedAt: Math.floor(stats.mtimeMs) };
  return { info: { id, title, cwd, ...times, path, bytes: stats.size, ...ownerOf(settings) } };
}

/** Fixed at creation, so the first record's values stay valid. */
export function ownerOf({ owner, userId }: SessionSettings): Pick<SessionInfo, "owner" | "userId"> {
  return { ...(owner === undefined ? {} : { owner }), ...(userId === undefined ? {} : { userId }) };
}

export function startOf(line: Buffer | undefined, id: string): DecodedStart {
  return line && isUtf8(line) ? decodeStart(line.toString(), id) : { kind: "damaged" };
}

/** The names in a folder; empty if it doesn't exist. */
export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

export async function inBatches(
  names: readonly string[],
  work: (name: string) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  for (let from = 0; from < names.length; from += concurrency) {
    signal?.throwIfAborted();
    await Promise.all(names.slice(from, from + concurrency).map(work));
  }
}
