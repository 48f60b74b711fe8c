import type { Clock } from "../engine/ports.ts";

const minuteMs = 60_000;

/** Limits how often each user can do something within any minute. */
export function createRate(perMinute: number, clock: Clock) {
  /** Times within the last minute by user, the latest user last. */
  const times = new Map<string, number[]>();

  const forgetIdle = (now: number): void => {
    for (const [user, done] of times) {
      if (now - (done.at(-1) ?? 0) < minuteMs) return;
      times.delete(user);
    }
  };

  return {
    /** Milliseconds to wait; undefined if it can be done now, which is then counted. */
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
