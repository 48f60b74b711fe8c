import { realpath, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import type { ListSessionsResponse } from "@agentclientprotocol/sdk";
import { createSession, resumeSession } from "../../../sdk/browser.ts";
import type { Backend } from "../backend.ts";
import type { Client } from "../client.ts";
import { wantedServers } from "../mcp-servers.ts";
import { boundsOf } from "../modes.ts";
import { badParams, failed, notOpen, rpcError } from "../rpc-errors.ts";
import { shownTitle } from "../view/shown-text.ts";
import { type EditorSession, openEditorSession } from "./editor-session.ts";

export interface Wanted {
  readonly cwd: string;
  readonly mcpServers?: unknown;
  readonly additionalDirectories?: readonly string[] | null | undefined;
}

const pageSize = 100;

export type Sessions = ReturnType<typeof createSessions>;

/** The open sessions of this process, independent of each other. */
export function createSessions(backend: Backend, client: () => Client, warn: (words: string) => void) {
  const live = new Map<string, EditorSession>();
  /** Ids of sessions that are open or opening. */
  const taken = new Set<string>();
  const mutex = createKeyedMutex();
  const opening = new Set<Promise<unknown>>();
  const leaving = new AbortController();

  function start(sessionId: string | undefined, wanted: Wanted, signal: AbortSignal): Promise<EditorSession> {
    const started = startNow(sessionId, wanted, AbortSignal.any([signal, leaving.signal]));
    opening.add(started);
    return started.finally(() => opening.delete(started));
  }

  async function startNow(sessionId: string | undefined, wanted: Wanted, signal: AbortSignal): Promise<EditorSession> {
    const cwd = await folderOf(wanted);
    const { servers, problems } = wantedServers(wanted.mcpServers);
    const common = { connect: backend.connect(cwd) };
    let claimed: string | undefined;
    const session = await openEditorSession({
      client: client(),
      cwd,
      signal,
      servers,
      problems,
      warn,
      claim: (id) => {
        if (taken.has(id)) throw notIts(id);
        taken.add(id);
        claimed = id;
      },
      open: async (handlers, mcpServers, again, unwanted) => {
        const id = again ?? sessionId;
        const asked = mcpServers.length === 0 ? {} : { mcpServers };
        const how = { ...common, ...asked, ...handlers, signal: unwanted };
        if (id === undefined) return createSession({ ...how, ...backend.settings, cwd });
        const opened = await resumeSession(id, how);
        try {
          await mustBeSame(id, opened.cwd ?? cwd, cwd);
          const bounds = boundsOf(opened.settings, backend.settings);
          if (Object.keys(bounds).length > 0) await opened.updateSettings(bounds);
          return opened;
        } catch (error) {
          await opened.close();
          throw error;
        }
      },
    }).catch((error: unknown) => {
      if (claimed !== undefined) taken.delete(claimed);
      throw rpcError(error, sessionId);
    });
    live.set(session.id, session);
    return session;
  }

  function of(sessionId: string): EditorSession {
    const session = live.get(sessionId);
    if (session === undefined) throw notOpen(sessionId);
    return session;
  }

  async function close(sessionId: string): Promise<void> {
    const session = live.get(sessionId);
    if (session === undefined) return;
    live.delete(sessionId);
    await session.close();
    taken.delete(sessionId);
  }

  async function openNow(sessionId: string, wanted: Wanted, signal: AbortSignal): Promise<EditorSession> {
    // Check first: a wrong request must not close the open session.
    const cwd = await folderOf(wanted);
    await live.get(sessionId)?.replayed();
    await mustBeSame(sessionId, live.get(sessionId)?.cwd ?? cwd, cwd);
    if (live.get(sessionId)?.isBusy === true) throw badParams("A turn is running in this session. Cancel it first.");
    await close(sessionId);
    return start(sessionId, wanted, signal);
  }

  const open = (sessionId: string, wanted: Wanted, signal: AbortSignal): Promise<EditorSession> =>
    mutex.run(sessionId, () => openNow(sessionId, wanted, signal));

  return {
    /** Throws if it is not open. */
    of,
    /** No effect if it is not open, because a notification has no response. */
    cancel: (sessionId: string) => live.get(sessionId)?.cancel(),
    /** The signal cancels opening, here and below. */
    create: (wanted: Wanted, signal: AbortSignal) => start(undefined, wanted, signal),
    /** Opens a session as it was left. If open here, it is closed first, after pending work on it. */
    open,
    fork: (sessionId: string, wanted: Wanted, signal: AbortSignal) =>
      mutex.run(sessionId, async () => {
        await folderOf(wanted);
        const isOpen = live.has(sessionId);
        const source = live.get(sessionId) ?? (await openNow(sessionId, wanted, signal));
        try {
          const copy = await source.fork();
          if (taken.has(copy) || mutex.has(copy)) throw notIts(copy);
          return await open(copy, wanted, signal);
        } catch (error) {
          throw rpcError(error, sessionId);
        } finally {
          if (!isOpen) await close(sessionId);
        }
      }),
    async list({
      cwd,
      cursor,
    }: {
      readonly cwd?: string | null | undefined;
      readonly cursor?: string | null | undefined;
    }): Promise<ListSessionsResponse> {
      if (cwd && !isAbsolute(cwd)) throw badParams(`The folder must be an absolute path, got ${JSON.stringify(cwd)}.`);
      const listing = backend.list?.(cwd ? { cwd } : {}).catch((error: unknown) => {
        throw rpcError(error);
      });
      const all = (await listing) ?? [];
      const from = cursor ? placeBehind(all, cursor) : 0;
      const page = all.slice(from, from + pageSize);
      const last = page.at(-1);
      return {
        sessions: page.map(({ id, cwd: folder = "/", title, updatedAt }) => ({
          sessionId: id,
          cwd: folder,
          ...(title === "" ? {} : { title: shownTitle(title) }),
          updatedAt: new Date(updatedAt).toISOString(),
        })),
        ...(last !== undefined && from + pageSize < all.length ? { nextCursor: `${last.updatedAt}:${last.id}` } : {}),
      };
    },
    async close(sessionId: string): Promise<void> {
      if (!live.has(sessionId)) throw notOpen(sessionId);
      const closing = close(sessionId);
      // Not queued itself, but opening it again waits for it.
      void mutex.run(sessionId, () => closing).catch(() => undefined);
      await closing;
    },
    remove: (sessionId: string) =>
      mutex.run(sessionId, async () => {
        await close(sessionId);
        await backend.remove?.(sessionId).catch((error: unknown) => {
          throw rpcError(error, sessionId);
        });
      }),
    async closeAll(): Promise<void> {
      const all = [...live.values()];
      live.clear();
      leaving.abort(failed("The agent is shutting down.", "session_closed"));
      await Promise.allSettled([...opening, ...all.map((session) => session.close())]);
    },
  };
}

function notIts(id: string): Error {
  return failed(`The backend returned ${id}, which is already open.`, "backend_failed");
}

/** A session that changed since the last page moved up and was not listed there, so continue by its time. */
function placeBehind(all: readonly { readonly id: string; readonly updatedAt: number }[], cursor: string): number {
  const [, time, id] = /^(\d+):(.+)$/.exec(cursor) ?? [];
  if (time === undefined) throw badParams("Invalid cursor. Use one from an earlier response.");
  const at = all.findIndex((each) => each.id === id);
  if (at >= 0) return at + 1;
  const next = all.findIndex(({ updatedAt }) => updatedAt < Number(time));
  return next < 0 ? all.length : next;
}

async function folderOf({ cwd, additionalDirectories }: Wanted): Promise<string> {
  if (!isAbsolute(cwd)) throw badParams(`The folder (cwd) must be an absolute path, got ${JSON.stringify(cwd)}.`);
  const found = await stat(cwd).catch(() => undefined);
  if (found === undefined) throw badParams(`The folder ${cwd} does not exist.`);
  if (!found.isDirectory()) throw badParams(`${cwd} is not a folder.`);
  if ((additionalDirectories ?? []).length > 0)
    throw badParams("Additional directories are not supported: a session works in one folder.");
  return cwd;
}

async function mustBeSame(sessionId: string, place: string, wanted: string): Promise<void> {
  const [first, second] = await Promise.all([place, wanted].map((path) => realpath(path).catch(() => path)));
  if (first !== second) throw badParams(`The session ${sessionId} works in ${place}, not in ${wanted}.`);
}

/** Per-key mutex. */
function createKeyedMutex() {
  const ends = new Map<string, Promise<unknown>>();
  return {
    has: (key: string) => ends.has(key),
    run<T>(key: string, act: () => Promise<T>): Promise<T> {
      const acting = (ends.get(key) ?? Promise.resolve()).then(act);
      const end: Promise<unknown> = acting
        .catch(() => undefined)
        .then(() => (ends.get(key) === end ? ends.delete(key) : undefined));
      ends.set(key, end);
      return acting;
    },
  };
}
