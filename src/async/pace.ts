/** Longest stretch of work before yielding to the event loop. */
const longestStretchMs = 10;

export interface Pace {
  /**
   * Await it between two steps: it yields to the event loop after a long stretch, otherwise it is `undefined`. Rejects
   * if the signal was aborted.
   */
  rest(): Promise<void> | undefined;
}

/** Yields to all other tasks. A loop that only awaits promises would block all input. */
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
