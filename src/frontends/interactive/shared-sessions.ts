import type { Session } from "../../engine/session/session.ts";
import { LiveSession } from "./shared-session.ts";

export type LiveSessions = ReturnType<typeof createLiveSessions>;

/**
 * One live session for all listeners of a session. By the session, not by its id: one that has ended, and still tells
 * of it, may be open again under the same id.
 */
export function createLiveSessions(report: (error: unknown, session: Session) => void) {
  const all = new Map<Session, Promise<LiveSession>>();
  return {
    find: (session: Session) => all.get(session),
    /** Rejects when what has happened so far cannot be read. */
    over(session: Session): Promise<LiveSession> {
      const known = all.get(session);
      if (known !== undefined) return known;
      const opened = LiveSession.over(session, (error) => report(error, session));
      all.set(session, opened);
      const forget = (): void => void all.delete(session);
      opened.then((live) => live.ended).then(forget, forget);
      return opened;
    },
  };
}
