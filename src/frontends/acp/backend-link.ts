import type { ConnectionEnd, Session } from "../../sdk/api.ts";
import { failed } from "./rpc-errors.ts";

export interface LinkParts {
  open(signal: AbortSignal): Promise<Session>;
  opened(session: Session): void;
  /** It exited unexpectedly. */
  died(end: ConnectionEnd): void;
  /** Messages for people, never sent on the wire. */
  warn(words: string): void;
}

/** A session's backend, at most one at a time. One that dies is started again when needed. */
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
    start?.controller.abort(failed("The backend was stopped while it was starting.", "interrupted"));
    const ends = [left, session?.close(), start?.session.catch(() => undefined)];
    left = Promise.all(ends).catch((error: unknown) => parts.warn(String(error)));
  }

  return {
    get current(): Session | undefined {
      return current;
    },
    /** The running backend; otherwise starts one, shared by all callers. */
    get: async (): Promise<Session> => {
      if (isClosed) throw failed("The session was closed.", "session_closed");
      return get();
    },
    /** Ends the backend, or its start. The next one starts only when it is gone. */
    drop,
    /** Ends it permanently. Resolves when its process is gone. */
    async close(): Promise<void> {
      isClosed = true;
      drop();
      await left;
    },
  };
}
