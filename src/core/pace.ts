/** How long work may keep everybody else waiting. */
const longestStretchMs = 10;

export interface Pace {
  /**
   * To be awaited between two steps. Lets others work when the stretch since the last rest was long enough, and is
   * `undefined` when it was not. Rejects when the work was aborted meanwhile.
   */
  rest(): Promise<void> | undefined;
}

/** For long work in small steps, so that a server can answer its other clients meanwhile. */
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
