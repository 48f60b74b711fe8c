import type { Failure } from "../engine/errors.ts";
import type { Clock, ModelEvent } from "../engine/ports.ts";

/** How long one attempt can be silent, in milliseconds. */
export interface SilenceLimits {
  /** Until the reply's first event. */
  readonly firstByteMs: number;
  /** Between two events. */
  readonly idleMs: number;
}

export const defaultSilence: SilenceLimits = { firstByteMs: 180_000, idleMs: 120_000 };

export interface SilenceWatch {
  /** The server sent anything: headers, a keep-alive, part of an event. */
  heard(): void;
  /** An event arrived; time doesn't count until `wait`. */
  event(event: ModelEvent): void;
  /** The next event is awaited. */
  wait(): void;
  /** Set once the limit was exceeded. */
  failure(): Failure | undefined;
  stop(): void;
}

/**
 * The rule for silence, for every model: calls `onSilence` after `firstByteMs` without a sign of life at the start, or
 * `idleMs` later on. Keep-alives count, but not without any event for both limits together.
 */
export function watchSilence(limits: SilenceLimits, clock: Clock, model: string, onSilence: () => void): SilenceWatch {
  const { firstByteMs, idleMs } = limits;
  let isWaiting = true;
  let hasEvent = false;
  let eventAt = clock.monotonic();
  let heardAt = eventAt;
  let failure: Failure | undefined;
  let cancel: () => void = () => undefined;

  /** One timer for many events: it checks when it is due. */
  const check = (): void => {
    const now = clock.monotonic();
    const signDueAt = heardAt + (hasEvent ? idleMs : firstByteMs);
    const eventDueAt = eventAt + firstByteMs + idleMs;
    const leftMs = isWaiting ? Math.min(signDueAt, eventDueAt) - now : idleMs;
    if (leftMs > 0) {
      cancel = clock.after(leftMs, check, { background: true });
      return;
    }
    failure = silent(model, limits, signDueAt <= eventDueAt ? (hasEvent ? "idle" : "firstByte") : undefined);
    onSilence();
  };
  cancel = clock.after(firstByteMs, check, { background: true });

  return {
    heard() {
      heardAt = clock.monotonic();
    },
    event({ type }) {
      isWaiting = false;
      hasEvent ||= type !== "notice";
    },
    wait() {
      isWaiting = true;
      eventAt = clock.monotonic();
      heardAt = eventAt;
    },
    failure: () => failure,
    stop: () => cancel(),
  };
}

function silent(model: string, { firstByteMs, idleMs }: SilenceLimits, key: "firstByte" | "idle" | undefined): Failure {
  const ms = key === undefined ? firstByteMs + idleMs : key === "idle" ? idleMs : firstByteMs;
  const what = key === undefined ? "only keep-alives" : "nothing";
  const setting = key === undefined ? "timeouts in config.yaml set" : `timeouts.${key} in config.yaml sets`;
  const message = `${model} sent ${what} for ${ms / 1_000} s. The model's ${setting} this limit.`;
  return { code: "model_failed", message, cause: "timeout" };
}
