/** Ends a turn. Can be called more than once. */
type EndTurn = () => void;

/**
 * A FIFO mutex. Rejects if `signal` aborts before the caller's turn, which then no longer delays the others.
 */
export function createTurns(): (signal: AbortSignal) => Promise<EndTurn> {
  let last: Promise<unknown> = Promise.resolve();
  return async (signal) => {
    const before = last;
    let endTurn: EndTurn = () => undefined;
    const turn = new Promise<void>((done) => {
      endTurn = done;
    });
    last = before.then(() => turn);
    try {
      await unlessAborted(before, signal);
      return endTurn;
    } catch (error) {
      endTurn();
      throw error;
    }
  };
}

function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((done, reject) => {
    const onAbort = (): void => reject(signal.reason);
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    void work.then(() => {
      signal.removeEventListener("abort", onAbort);
      done();
    });
  });
}
