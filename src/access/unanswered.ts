import type { Session } from "../engine/session/session.ts";

export type Unanswered = ReturnType<typeof createUnanswered>;

/** Messages without an answer, by session and sender. */
export function createUnanswered() {
  const senders = new Map<Session, Set<{ readonly user: string }>>();
  return {
    /** Call the returned function when the message is answered. */
    add(session: Session, user: string): () => void {
      const message = { user };
      const messages = senders.get(session) ?? new Set();
      senders.set(session, messages.add(message));
      return () => {
        messages.delete(message);
        if (messages.size === 0 && senders.get(session) === messages) senders.delete(session);
      };
    },
    countIn: (session: Session) => senders.get(session)?.size ?? 0,
    sessionsOf: (user: string) =>
      [...senders].filter(([, messages]) => [...messages].some((one) => one.user === user)).map(([session]) => session),
  };
}
