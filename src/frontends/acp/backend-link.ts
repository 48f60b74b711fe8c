import type { ConnectionEnd, Session } from "../../sdk/api.ts";
import { failed } from "./rpc-errors.ts";

export interface LinkParts {
  open(signal: AbortSignal): Promise<Session>;
  opened(session: Session): void;
  /** By itself, and not because it was dropped. */
  died(end: ConnectionEnd): void;
  /** Words for people, never for the wire. */
  warn(words: string): void;
}

/** A session's backend, which may die and is started again when it is needed. There is never more than one at a time. */
export function createBackendLink(parts: LinkParts) {
  let current: Session | undefined;
  let opening: { readonly session: Promise<Session>; readonly controller: AbortController } | undefined;
  let left: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  async function start(signal: AbortSignal): Promise<Session> {
    await left;
    signal.throwIfAborted();
    const session = await parts.open(signal);
    if (signal.aborted) {
      await session.close();
      throw signal.reason;
    }
    opening = undefined;
    current = session;
    void session.ended.then((end) => {
      if (current !== session) return;
      current = undefined;
      parts.died(end);
    });
    parts.opened(session);
    return session;
  }

  function get(): Promise<Session> {
    if (current !== undefined) return Promise.resolve(current);
    if (opening !== undefined) return opening.session;
    const controller = new AbortController();
    const mine = { controller, session: start(controller.signal) };
    opening = mine;
    mine.session.catch(() => {
      if (opening === mine) opening = undefined;
    });
    return mine.session;
  }

  function drop(): void {
    const [session, start] = [current, opening];
    current = undefined;
    opening = undefined;
    start?.controller.abort(failed("The backend was given up while it started.", "interrupted"));
    const ends = [left, session?.close(), start?.session.catch(() => undefined)];
    left = Promise.all(ends).catch((error: unknown) => parts.warn(String(error)));
  }

  return {
    /** `undefined` while none runs. */
    get current(): Session | undefined {
      return current;
    },
    /** The one that runs; else one is started, for all who want it meanwhile. */
    get: async (): Promise<Session> => {
      if (isClosed) throw failed("The session was closed.", "session_closed");
      return get();
    },
    /** Ends it, or its start. The next one begins when nothing is left of it. */
    drop,
    /** Drops it for good; resolves when nothing is left. */
    async close(): Promise<void> {
      isClosed = true;
      drop();
      await left;
    },
  };
}
