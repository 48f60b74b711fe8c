import type { Clock } from "../engine/ports.ts";

const minuteMs = 60_000;

/** How often each user can do something: so many in any minute, at once or one by one. */
export function createRate(perMinute: number, clock: Clock) {
  /** When each user has done it, within the last minute; the users in the order of their last time. */
  const times = new Map<string, number[]>();

  const forgetIdle = (now: number): void => {
    for (const [user, done] of times) {
      if (now - (done.at(-1) ?? 0) < minuteMs) return;
      times.delete(user);
    }
  };

  return {
    /** Milliseconds until it can be done again; `undefined` when it can be done now, and that counts. */
    take(user: string): number | undefined {
      const now = clock.monotonic();
      forgetIdle(now);
      const done = times.get(user) ?? [];
      const first = done.findIndex((at) => now - at < minuteMs);
      done.splice(0, first === -1 ? done.length : first);
      if (done.length >= perMinute) return Math.ceil((done[0] ?? now) + minuteMs - now);
      done.push(now);
      times.delete(user);
      times.set(user, done);
      return undefined;
    },
  };
}
