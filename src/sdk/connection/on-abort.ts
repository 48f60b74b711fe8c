interface Listening {
  readonly acts: Set<() => void>;
  stop(): void;
}

/** One listener for each signal, and none when nobody waits: a signal may be given to a hundred prompts. */
const listening = new WeakMap<AbortSignal, Listening>();

/** Acts once when the signal is aborted, unless that was before. What it gives takes it back. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  const { acts, stop } = listening.get(signal) ?? listenTo(signal);
  // The same function may be given twice.
  const own = (): void => act();
  acts.add(own);
  return () => {
    if (acts.delete(own) && acts.size === 0) stop();
  };
}

function listenTo(signal: AbortSignal): Listening {
  const acts = new Set<() => void>();
  const stop = (): void => {
    signal.removeEventListener("abort", aborted);
    listening.delete(signal);
  };
  function aborted(): void {
    stop();
    for (const act of acts) act();
  }
  const one: Listening = { acts, stop };
  signal.addEventListener("abort", aborted);
  listening.set(signal, one);
  return one;
}
