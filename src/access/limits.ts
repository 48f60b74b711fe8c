import type { Clock } from "../engine/ports.ts";
import { createBudget } from "./budget.ts";
import { DeniedError } from "./denied.ts";
import { createRate } from "./rates.ts";

/** Limits per user, over all wires together. */
export interface LimitOptions {
  readonly openSessions: number;
  readonly sessionsPerMinute: number;
  readonly messagesPerMinute: number;
}

const maxKeptCharacters = 64_000_000;
const maxWaitingCharacters = 32_000_000;

export type Limits = ReturnType<typeof createLimits>;

/** The methods throw when a limit is exceeded. `openOf`: the number of a user's open sessions. */
export function createLimits(options: LimitOptions, clock: Clock, openOf: (user: string) => number) {
  const { openSessions, sessionsPerMinute, messagesPerMinute } = options;
  const sessions = createRate(sessionsPerMinute, clock);
  const messages = createRate(messagesPerMinute, clock);
  const kept = createBudget(maxKeptCharacters, (held) => {
    const words = `Limit for session settings reached (${held} characters in this user's open sessions). Stop one first.`;
    return new DeniedError("too_many_sessions", words);
  });
  const waiting = createBudget(maxWaitingCharacters, (held) => {
    return new DeniedError(
      "queue_full",
      `Limit for waiting messages reached (${held} characters). Wait for an answer.`,
    );
  });
  return {
    /** Room for one more open session. */
    checkRoom(user: string) {
      if (openOf(user) < openSessions) return;
      throw new DeniedError("too_many_sessions", `Session limit reached (${openSessions}). Stop one first.`);
    },
    /** Counts a session that is started, read or copied. */
    countOpening: (user: string) => limited(sessions.take(user), "sessions", sessionsPerMinute),
    /** Counts the text that a session is started with, because it stays in memory. The returned function releases it. */
    keep: (user: string, characters: number) => kept.take(user, characters),
    /** Counts a message that waits for its answer. The returned function releases it. */
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
  const words = `Rate limit reached (${perMinute} ${what} per minute). Try again in ${Math.ceil(waitMs / 1_000)} s.`;
  throw new DeniedError("rate_limited", words, { limit: what, retryAfterMs: waitMs });
}
