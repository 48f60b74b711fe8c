import type { Clock, ModelEvent } from "../ports.ts";
import type { ModelSilence } from "../settings.ts";

/**
 * Fails a model's stream after `ms` without an event or a sign of life; `key` is the setting that limits it. Aborts the
 * model by `signal` without awaiting it, because the model may ignore the abort.
 */
export async function* notSilentFor(
  { ms, key }: Pick<ModelSilence, "ms" | "key">,
  clock: Clock,
  outer: AbortSignal,
  stream: (signal: AbortSignal, heard: () => void) => AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  const stop = new AbortController();
  /** When waiting began. Unset while the model's last event is being handled. */
  let waitingSince: number | undefined;
  /** A pause before the next attempt is not silence. */
  let pauseMs = 0;
  const heard = (): void => {
    if (waitingSince === undefined) return;
    waitingSince = clock.monotonic();
    pauseMs = 0;
  };
  const events = stream(AbortSignal.any([outer, stop.signal]), heard)[Symbol.asyncIterator]();
  let stopWatching: () => void = () => undefined;
  let giveUp: () => void = () => undefined;
  // One timer for many events: when due, it checks instead of being reset with each.
  const watch = (afterMs: number): void => {
    stopWatching = clock.after(afterMs, () => {
      const left = waitingSince === undefined ? ms : waitingSince + pauseMs + ms - clock.monotonic();
      if (left <= 0) giveUp();
      else watch(left);
    });
  };
  watch(ms);
  // Not Promise.race: a pending promise would retain every race's result.
  const nextOrSilence = (): Promise<IteratorResult<ModelEvent> | "silence"> =>
    new Promise((resolve, reject) => {
      giveUp = () => resolve("silence");
      events.next().then(resolve, reject);
    });
  try {
    for (;;) {
      waitingSince = clock.monotonic();
      const next = await nextOrSilence();
      waitingSince = undefined;
      if (next === "silence") {
        stop.abort();
        const message = `The model was silent for ${ms / 1_000} s. ${key} in config.yaml sets this limit.`;
        yield { type: "error", failure: { code: "timeout", message, cause: "timeout" }, retryable: false };
        return;
      }
      if (next.done === true) return;
      pauseMs = next.value.type === "retry" ? next.value.delayMs : 0;
      yield next.value;
    }
  } finally {
    stopWatching();
    // Not awaited, and its events no longer matter.
    events.return?.().catch(() => undefined);
  }
}
