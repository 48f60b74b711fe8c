import { failureOf } from "../core/errors.ts";
import type { Clock, ModelEvent, ModelPort, ModelRequest } from "../core/ports.ts";
import { pause } from "./pause.ts";

export interface RetryOptions {
  /** Milliseconds before each retry; their number is the number of retries. */
  readonly pauses?: readonly number[];
  /** A server that asks for more patience than this gets only this. */
  readonly longestPauseMs?: number;
}

const defaultPauses = [500, 1_000, 2_000];
const defaultLongestPauseMs = 30_000;

/**
 * Tries again when a reply failed in a way that may pass and nothing of it was shown. A server's own `retryAfterMs` goes
 * before our pauses. Every retry is announced by a `retry` event; an abort ends the stream at once.
 */
export function withRetries(model: ModelPort, clock: Clock, options: RetryOptions = {}): ModelPort {
  const pauses = options.pauses ?? defaultPauses;
  const longest = options.longestPauseMs ?? defaultLongestPauseMs;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    for (let attempt = 1; ; attempt += 1) {
      const failed = yield* oneAttempt(model, request, signal);
      if (failed === undefined || signal.aborted) return;
      const ownPause = pauses[attempt - 1];
      if (ownPause === undefined || !failed.retryable || failed.shown) {
        yield failed.event;
        return;
      }
      const delayMs = Math.min(failed.event.retryAfterMs ?? ownPause, longest);
      yield { type: "retry", attempt, delayMs, failure: failed.event.failure };
      await pause(clock, delayMs, signal);
      if (signal.aborted) return;
    }
  }

  return { info: model.info, stream };
}

interface Failed {
  readonly event: ModelEvent & { type: "error" };
  readonly retryable: boolean;
  readonly shown: boolean;
}

/** Passes an attempt on, but for the error that ends it. `undefined`: it ended well. */
async function* oneAttempt(
  model: ModelPort,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent, Failed | undefined> {
  let shown = false;
  try {
    for await (const event of model.stream(request, signal)) {
      if (event.type === "error") return { event, retryable: event.retryable, shown };
      if (
        event.type === "text" ||
        event.type === "thinking" ||
        event.type === "tool_input" ||
        event.type === "tool_call"
      ) {
        shown = true;
      }
      yield event;
      if (event.type === "end") return undefined;
    }
  } catch (error) {
    // A model must not throw; one that does is told as a fault instead of taking the session down.
    return { event: { type: "error", failure: failureOf(error), retryable: false }, retryable: false, shown };
  }
  if (signal.aborted) return undefined;
  const failure = { code: "model_failed", message: "The model's answer ended before it was whole." } as const;
  return { event: { type: "error", failure, retryable: true }, retryable: true, shown };
}
