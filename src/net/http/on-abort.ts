/** Callbacks by signal. Requests that share a signal share one listener, because Node warns on stderr about the eleventh. */
const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `act` when the signal aborts. Call the returned function to cancel. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  const acts = waiting.get(signal) ?? listenTo(signal);
  // A wrapper, so that the same function can be registered twice.
  const entry = () => act();
  acts.add(entry);
  return () => {
    acts.delete(entry);
    if (acts.size > 0 || waiting.get(signal) !== acts) return;
    waiting.delete(signal);
    signal.removeEventListener("abort", onAbortOf);
  };
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const acts = new Set<() => void>();
  waiting.set(signal, acts);
  signal.addEventListener("abort", onAbortOf);
  return acts;
}

function onAbortOf(this: AbortSignal): void {
  const acts = waiting.get(this) ?? [];
  waiting.delete(this);
  this.removeEventListener("abort", onAbortOf);
  for (const act of acts) act();
}
