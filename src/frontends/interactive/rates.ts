import type { Clock } from "../../core/ports.ts";

/** How often somebody may do something: so many in a minute, at once or one by one. */
export interface Rate {
  /** Milliseconds until it may be done again; `undefined` when it may be done now, and that counts. */
  take(user: string): number | undefined;
}

interface Bucket {
  left: number;
  at: number;
}

const minuteMs = 60_000;

export function createRate(perMinute: number, clock: Clock): Rate {
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / minuteMs;

  /** Whoever has done nothing for a minute is as one who was never here. */
  const forgetOld = (now: number): void => {
    for (const [user, { at }] of buckets) {
      if (now - at < minuteMs) return;
      buckets.delete(user);
    }
  };

  return {
    take(user) {
      const now = clock.monotonic();
      const before = buckets.get(user);
      const left = before === undefined ? perMinute : Math.min(perMinute, before.left + (now - before.at) * perMs);
      // In the order of their last use.
      buckets.delete(user);
      forgetOld(now);
      buckets.set(user, { left: left < 1 ? left : left - 1, at: now });
      return left < 1 ? Math.ceil((1 - left) / perMs) : undefined;
    },
  };
}
