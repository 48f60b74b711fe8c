/** Says that a turn is over. May be called more than once. */
export type EndTurn = () => void;

/**
 * Lets one through at a time, in the order in which they came. Rejects when `signal` is aborted before it is one's turn;
 * then those behind wait no longer for it.
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
