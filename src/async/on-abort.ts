/** Callbacks by signal. Those of one signal share a listener, because Node warns on stderr about the eleventh. */
const callbacks = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls `act` once when the signal aborts, unless it already has. Call the returned function to cancel. */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (signal === undefined) return () => {};
  const acts = callbacks.get(signal) ?? new Set();
  if (acts.size === 0) {
    callbacks.set(signal, acts);
    signal.addEventListener("abort", actAll, { once: true });
  }
  // A wrapper, so that the same function can be registered twice.
  const entry = (): void => act();
  acts.add(entry);
  return () => {
    if (acts.delete(entry) && acts.size === 0) signal.removeEventListener("abort", actAll);
  };
}

function actAll(this: AbortSignal): void {
  const acts = callbacks.get(this) ?? [];
  callbacks.delete(this);
  for (const act of acts) act();
}
