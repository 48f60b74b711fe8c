import type { Clock } from "../engine/ports.ts";
import { createBudget } from "./budget.ts";
import { DeniedError } from "./denied.ts";
import { createRate } from "./rates.ts";

/** Of each user, over all wires together. */
export interface LimitOptions {
  readonly openSessions: number;
  readonly sessionsPerMinute: number;
  readonly messagesPerMinute: number;
}

const maxKeptCharacters = 64_000_000;
const maxWaitingCharacters = 32_000_000;

export type Limits = ReturnType<typeof createLimits>;

/** Each throws when it would be too much. `openOf`: how many sessions are open on a user's account. */
export function createLimits(options: LimitOptions, clock: Clock, openOf: (user: string) => number) {
  const { openSessions, sessionsPerMinute, messagesPerMinute } = options;
  const sessions = createRate(sessionsPerMinute, clock);
  const messages = createRate(messagesPerMinute, clock);
  const kept = createBudget(maxKeptCharacters, (held) => {
    const words = `The open sessions of this user were started with ${held} characters. Stop one first.`;
    return new DeniedError("too_many_sessions", words);
  });
  const waiting = createBudget(maxWaitingCharacters, (held) => {
    return new DeniedError("queue_full", `Messages of this user wait with ${held} characters. Wait for an answer.`);
  });
  return {
    /** One more session is to be open. */
    checkRoom(user: string) {
      if (openOf(user) < openSessions) return;
      throw new DeniedError("too_many_sessions", `Session limit reached (${openSessions}). Stop one first.`);
    },
    /** A session is read or copied, which costs as much as starting one. */
    countOpening: (user: string) => limited(sessions.take(user), "sessions", sessionsPerMinute),
    /** What a session is started with stays in memory. The returned function gives it back. */
    keep: (user: string, characters: number) => kept.take(user, characters),
    /** A message is sent, and waits for its answer. The returned function says that it has it. */
    wait(user: string, characters: number): () => void {
      const giveBack = waiting.take(user, characters);
      try {
        limited(messages.take(user), "messages", messagesPerMinute);
        return giveBack;
      } catch (error) {
        giveBack();
        throw error;
      }
    },
  };
}

function limited(waitMs: number | undefined, what: string, perMinute: number): void {
  if (waitMs === undefined) return;
  const words = `More than ${perMinute} ${what} in a minute; try again in ${Math.ceil(waitMs / 1_000)} s.`;
  throw new DeniedError("rate_limited", words, { limit: what, retryAfterMs: waitMs });
}
