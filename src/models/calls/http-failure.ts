import type { ErrorCode, FailureCause } from "../../engine/errors.ts";
import type { ModelEvent } from "../../engine/ports.ts";

type ErrorEvent = ModelEvent & { type: "error" };

/** Maps a model's HTTP status to an error event. */
export function httpFailure(status: number, message: string, retryAfterMs?: number): ErrorEvent {
  const { code, retryable } = meaning(status);
  const cause = causes.get(status);
  return {
    type: "error",
    failure: { code, message, ...(cause === undefined ? {} : { cause }) },
    retryable,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  };
}

const causes: ReadonlyMap<number, FailureCause> = new Map([
  [408, "timeout"],
  [413, "too_large"],
  [429, "rate_limited"],
  [503, "overloaded"],
  [504, "timeout"],
  [529, "overloaded"],
]);

function meaning(status: number): { readonly code: ErrorCode; readonly retryable: boolean } {
  if (status === 401 || status === 403) return { code: "model_auth", retryable: false };
  if (status === 429 || status === 503 || status === 529) return { code: "model_overloaded", retryable: true };
  if (status === 408 || status === 409 || status === 425 || status >= 500)
    return { code: "model_failed", retryable: true };
  return { code: "model_bad_request", retryable: false };
}
