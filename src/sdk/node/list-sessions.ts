import { isUtf8 } from "node:buffer";
import { readdir, realpath } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import { findHomes } from "../../config/home.ts";
import { layoutOf, logSuffix } from "../../store/listing/layout.ts";
import { scanLines } from "../../store/listing/line-scanner.ts";
import { parseRecord } from "../../store/listing/listed-records.ts";
import { firstOf, type ListedLog, type ListQuery, listInfos, logsIn } from "../../store/listing/session-list.ts";
import { type Fields, textOf } from "../../text/values.ts";
import { aSignal, type Checks, checkEach } from "../checks.ts";
import type { SessionSummary } from "../types.ts";
import { given } from "../wire.ts";

export interface ListSessionsOptions {
  /** Only sessions of this working directory. */
  readonly cwd?: string;
  /** At most this many, the newest. */
  readonly limit?: number;
  /** Tinman's home. Default: `$TINMAN_HOME`, or `.tinman` in the user's home folder. */
  readonly home?: string;
  /** Also droid's sessions: those under `.factory/sessions` in the user's home folder, or in the given folder. */
  readonly droid?: boolean | string;
  readonly signal?: AbortSignal;
}

/** See the SDK's export of this name for the contract. */
export async function listSessions(options: ListSessionsOptions): Promise<readonly SessionSummary[]> {
  checkEach("listSessions", options, checks);
  const { cwd, limit, home, droid = false, signal } = options;
  signal?.throwIfAborted();
  const query = async () => ({ cwd: cwd === undefined ? undefined : await realFolder(cwd), limit, signal });
  const quietly = (list: () => Promise<readonly SessionSummary[]>) =>
    list().catch(() => {
      signal?.throwIfAborted();
      return [];
    });
  const lists = await Promise.all([
    quietly(async () => tinmanSessions(resolve(home ?? findHomes(process.env).own), await query())),
    droid === false ? [] : quietly(async () => droidSessions(droidFolder(droid), await query())),
  ]);
  return lists
    .flat()
    .sort((a, b) => b.updatedAt - a.updatedAt)
    .slice(0, limit);
}

async function tinmanSessions(home: string, query: ListQuery): Promise<readonly SessionSummary[]> {
  const infos = await listInfos(layoutOf(home).sessions, query);
  return infos.map(({ bytes, ...info }) => ({ ...info, backend: "tinman" }));
}

function droidFolder(droid: true | string): string {
  return droid === true ? join(findHomes(process.env).user, ".factory", "sessions") : resolve(droid);
}

/** Working directories have a folder each; older logs are beside them. */
async function droidSessions(root: string, query: ListQuery): Promise<readonly SessionSummary[]> {
  const wanted = query.cwd === undefined ? undefined : droidFolderName(query.cwd);
  const folders = (await readdir(root, { withFileTypes: true })).filter(
    (entry) => entry.isDirectory() && (wanted === undefined ? entry.name.startsWith("-") : entry.name === wanted),
  );
  const logs = await logsIn([root, ...folders.map(({ name }) => join(root, name))], query.signal);
  const byId = new Map<string, ListedLog[]>();
  for (const log of logs) byId.set(log.id, [...(byId.get(log.id) ?? []), log]);
  return firstOf([...byId.values()], query, async (versions) => {
    for (const log of versions) {
      const read = await readDroidLog(log, root, query.cwd).catch(() => undefined);
      if (read !== undefined) return read === "hidden" ? undefined : read;
    }
    return undefined;
  });
}

/** The name is not unique. */
function droidFolderName(cwd: string): string {
  const names = cwd.split(sep).filter((name) => name !== "");
  if (sep === "\\") names[0] = names[0]?.replace(/:$/, "") ?? "";
  return `-${names.join("-")}`;
}

/** Enough for most first lines. */
const headBytes = 16 * 1024;

/** Undefined for anything but a log of this working directory. */
async function readDroidLog(
  { id, path }: ListedLog,
  root: string,
  wantedCwd: string | undefined,
): Promise<SessionSummary | "hidden" | undefined> {
  let start: Fields | undefined;
  const readStart = (line: Buffer | undefined): "enough" => {
    start = line && isUtf8(line) ? parseRecord(line.toString()) : undefined;
    return "enough";
  };
  const stats = await scanLines(path, readStart, headBytes);
  if (!stats || start?.type !== "session_start") return undefined;
  const cwd = textOf(start.cwd);
  if (wantedCwd !== undefined && cwd !== wantedCwd) {
    const itsCwd = cwd === undefined ? undefined : await realFolder(cwd);
    // The folder's name counts too.
    if (itsCwd !== wantedCwd && (itsCwd !== undefined || dirname(path) === root)) return undefined;
  }
  const isSubAgents = Boolean(start.callingSessionId);
  if (isSubAgents || (await isArchived(path.slice(0, -logSuffix.length)))) return "hidden";
  return given<SessionSummary>({
    id,
    title: textOf(start.sessionTitle) || textOf(start.title) || "",
    cwd,
    // Not every file system has creation times.
    createdAt: Math.floor(stats.birthtimeMs || stats.ctimeMs),
    updatedAt: Math.floor(stats.mtimeMs),
    path,
    backend: "droid",
  });
}

const mostSettingsBytes = 1024 * 1024;

async function isArchived(pathWithoutSuffix: string): Promise<boolean> {
  const lines: Buffer[] = [];
  let bytes = 0;
  const keep = (line: Buffer | undefined): "enough" | undefined => {
    bytes += line?.length ?? mostSettingsBytes;
    if (bytes >= mostSettingsBytes) return "enough";
    if (line) lines.push(Buffer.from(line));
    return undefined;
  };
  await scanLines(`${pathWithoutSuffix}.settings.json`, keep, headBytes).catch(() => undefined);
  return Boolean(parseRecord(Buffer.concat(lines).toString())?.archivedAt);
}

async function realFolder(path: string): Promise<string> {
  return realpath(path).catch(() => resolve(path));
}

function isPath(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !value.includes("\0");
}

const checks: Checks<keyof ListSessionsOptions> = {
  cwd: ["a path", isPath],
  limit: ["a whole number of at least 1", (value) => Number.isSafeInteger(value) && Number(value) >= 1],
  home: ["a path", isPath],
  droid: ["true, false or a path", (value) => typeof value === "boolean" || isPath(value)],
  signal: aSignal,
};
