/** A longer time cannot be counted: its timer would run out at once. */
export const longestMs = 2 ** 31 - 1;

/** Times that run out, one for each name, and all of which can be made to stand still. */
export interface Timers<Name extends string> {
  /** In place of one of the same name; a time of 0 never runs out. */
  arm(name: Name, ms: number, act: () => void): void;
  disarm(...names: readonly Name[]): void;
  disarmAll(): void;
  has(name: Name): boolean;
  /** From now on, none runs out. */
  stop(): void;
  /** Each begins anew. */
  goOn(): void;
}

interface Timer {
  readonly ms: number;
  readonly act: () => void;
  handle?: ReturnType<typeof setTimeout>;
}

export function createTimers<Name extends string>(): Timers<Name> {
  const timers = new Map<Name, Timer>();
  let isStopped = false;

  function start(timer: Timer): void {
    if (!isStopped) timer.handle = setTimeout(timer.act, timer.ms);
  }

  function disarm(...names: readonly Name[]): void {
    for (const name of names) {
      clearTimeout(timers.get(name)?.handle);
      timers.delete(name);
    }
  }

  return {
    arm(name, ms, act) {
      disarm(name);
      if (ms <= 0) return;
      const timer: Timer = { ms, act };
      timers.set(name, timer);
      start(timer);
    },
    disarm,
    disarmAll: () => disarm(...timers.keys()),
    has: (name) => timers.has(name),
    stop() {
      isStopped = true;
      for (const { handle } of timers.values()) clearTimeout(handle);
    },
    goOn() {
      isStopped = false;
      for (const timer of timers.values()) start(timer);
    },
  };
}
