/** What is done with one thing is done one after the other; things do not wait for each other. */
export interface Rows {
  /** Whether something is done, or waits to be done, with it. */
  has(key: string): boolean;
  run<T>(key: string, act: () => Promise<T>): Promise<T>;
}

export function createRows(): Rows {
  const ends = new Map<string, Promise<unknown>>();
  return {
    has: (key) => ends.has(key),
    run(key, act) {
      const acting = (ends.get(key) ?? Promise.resolve()).then(act);
      const end: Promise<unknown> = acting
        .catch(() => undefined)
        .then(() => (ends.get(key) === end ? ends.delete(key) : undefined));
      ends.set(key, end);
      return acting;
    },
  };
}
