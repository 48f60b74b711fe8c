import type { Clock, ModelEvent } from "../ports.ts";
import type { ModelSilence } from "../settings.ts";

/**
 * A model's stream that fails after `ms` without an event or a sign of life; `key` is what the user can change. The model
 * is aborted by `signal` and not awaited: a model that ignores it must not hold the turn.
 */
export async function* notSilentFor(
  { ms, key }: Pick<ModelSilence, "ms" | "key">,
  clock: Clock,
  outer: AbortSignal,
  stream: (signal: AbortSignal, heard: () => void) => AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  const stop = new AbortController();
  /** Since when the model is waited for; not at all while its last words are being dealt with. */
  let waitingSince: number | undefined;
  /** A pause before the next attempt is no silence. */
  let pauseMs = 0;
  const heard = (): void => {
    if (waitingSince === undefined) return;
    waitingSince = clock.monotonic();
    pauseMs = 0;
  };
  const events = stream(AbortSignal.any([outer, stop.signal]), heard)[Symbol.asyncIterator]();
  let stopWatching: () => void = () => undefined;
  let giveUp: () => void = () => undefined;
  // One timer for many events: it looks when it is due, instead of being set anew with each.
  const watch = (afterMs: number): void => {
    stopWatching = clock.after(afterMs, () => {
      const left = waitingSince === undefined ? ms : waitingSince + pauseMs + ms - clock.monotonic();
      if (left <= 0) giveUp();
      else watch(left);
    });
  };
  watch(ms);
  // Not Promise.race: a promise that stays pending keeps what each race with it has led to.
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
        const message = `The model said nothing for ${ms / 1_000} s. ${key} in config.yaml sets this limit.`;
        yield { type: "error", failure: { code: "timeout", message, cause: "timeout" }, retryable: false };
        return;
      }
      if (next.done === true) return;
      pauseMs = next.value.type === "retry" ? next.value.delayMs : 0;
      yield next.value;
    }
  } finally {
    stopWatching();
    // Not waited for, and whatever it says is of no interest any more.
    events.return?.().catch(() => undefined);
  }
}
