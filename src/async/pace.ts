/** Longest stretch of work without a turn of the event loop. */
const longestStretchMs = 10;

export interface Pace {
  /**
   * Await it between two steps: it yields to the event loop after a long stretch, and is `undefined` before that. Rejects
   * when the signal was aborted.
   */
  rest(): Promise<void> | undefined;
}

/** Lets everything else have its turn: a loop that only waits for promises could keep the process from all input. */
export function otherWork(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Keeps long work from blocking the event loop, on which a server answers its other clients. */
export function createPace(signal?: AbortSignal): Pace {
  let since = performance.now();
  return {
    rest() {
      if (performance.now() - since < longestStretchMs) return undefined;
      return new Promise((resolve, reject) => {
        setImmediate(() => {
          since = performance.now();
          if (signal?.aborted) reject(signal.reason);
          else resolve();
        });
      });
    },
  };
}
