import type { Session } from "../engine/session/session.ts";

/** Messages without an answer: in which sessions, and who sent them. */
export interface Unanswered {
  /** The returned function says that the message has its answer. */
  add(session: Session, user: string): () => void;
  countIn(session: Session): number;
  sessionsOf(user: string): readonly Session[];
}

export function createUnanswered(): Unanswered {
  const senders = new Map<Session, Set<{ readonly user: string }>>();
  return {
    add(session, user) {
      const message = { user };
      const messages = senders.get(session) ?? new Set();
      senders.set(session, messages.add(message));
      return () => {
        messages.delete(message);
        if (messages.size === 0 && senders.get(session) === messages) senders.delete(session);
      };
    },
    countIn: (session) => senders.get(session)?.size ?? 0,
    sessionsOf: (user) =>
      [...senders].filter(([, messages]) => [...messages].some((one) => one.user === user)).map(([session]) => session),
  };
}
