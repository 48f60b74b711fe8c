import type { ModelEvent } from "../engine/ports.ts";

export interface PatienceOptions {
  /** Limit for the time that one reply waits for a model that fails. 0: no retries. */
  readonly patienceMs?: number;
  readonly maxRetries?: number;
  /** Retries after a model that was silent for too long. */
  readonly retriesAfterSilence?: number;
  /** Jitter from 0 to 1, so that simultaneous failures don't retry simultaneously. Absent: exact pauses. */
  readonly random?: () => number;
}

export type ErrorEvent = ModelEvent & { type: "error" };

export const defaultPatienceMs = 120_000;
export const defaultRetriesAfterSilence = 1;
const firstPauseMs = 500;
const longestPauseMs = 20_000;

/** Decides how long one reply waits for one model. */
export class Patience {
  private readonly options: PatienceOptions;
  private waitedMs = 0;
  private retries = 0;
  private limitedRetries = 0;

  constructor(options: PatienceOptions) {
    this.options = options;
  }

  /**
   * The pause before the next attempt; `undefined` to give up. `lostMs`: time the failed attempt took without showing
   * anything. `limitMs` shortens the patience.
   */
  pauseAfter(failed: ErrorEvent, lostMs: number, limitMs = Number.POSITIVE_INFINITY): number | undefined {
    const { patienceMs = defaultPatienceMs, maxRetries = Number.POSITIVE_INFINITY, random } = this.options;
    if (!failed.retryable || this.retries >= maxRetries) return undefined;
    if (failed.maxRetries !== undefined && this.limitedRetries >= failed.maxRetries) return undefined;
    const ownMs = Math.min(firstPauseMs * 2 ** this.retries, longestPauseMs);
    const pauseMs = withJitter(failed.retryAfterMs, ownMs, random);
    // A server that asks for no pause must not cause endless retries.
    const waitedMs = this.waitedMs + Math.max(pauseMs, ownMs) + (this.retries === 0 ? 0 : lostMs);
    if (waitedMs > Math.min(patienceMs, limitMs)) return undefined;
    this.waitedMs = waitedMs;
    this.retries += 1;
    if (failed.maxRetries !== undefined) this.limitedRetries += 1;
    return pauseMs;
  }

  /** Whether a pause is longer than what is left. */
  exceeds(pauseMs: number): boolean {
    return this.waitedMs + pauseMs > (this.options.patienceMs ?? defaultPatienceMs);
  }
}

/** Adds up to a half to our own pause, or up to a tenth to a server's. */
function withJitter(askedMs: number | undefined, ownMs: number, random = (): number => 0): number {
  return Math.round(askedMs === undefined ? ownMs * (1 + random() / 2) : askedMs * (1 + random() / 10));
}
