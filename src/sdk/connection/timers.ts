/** Timers by name that can be paused together. */
export interface Timers<Name extends string> {
  /** Replaces the timer of that name. A time of 0 never fires. */
  arm(name: Name, ms: number, act: () => void): void;
  disarm(...names: readonly Name[]): void;
  disarmAll(): void;
  has(name: Name): boolean;
  /** Pauses all timers. */
  stop(): void;
  /** Restarts all timers. */
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
