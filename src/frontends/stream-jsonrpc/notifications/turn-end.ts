import type { ErrorCode, Failure } from "../../../engine/errors.ts";
import { errorCodes } from "../../../engine/errors.ts";
import type { EndReason } from "../../../engine/event.ts";
import type { ErrorHappened } from "../../../protocol/droid/notifications.ts";
import type { ErrorType, RetryReason, TurnEndReason } from "../../../protocol/droid/words.ts";

/** How a turn ended, in the words of `agent_turn_completed`. */
export function turnEndReason(reason: EndReason, failure: Failure | undefined): TurnEndReason {
  switch (reason) {
    case "completed":
      return "completed";
    case "planned":
      return "spec_handoff";
    case "interrupted":
      return "cancelled";
    case "cancelled":
      return "permission_rejected";
    case "denied":
      return "no_approver_available";
    case "refused":
      return "prompt_rejected";
    case "limit":
    case "length":
    case "context_full":
      return "error";
    case "failed":
      return failureReason(failure);
  }
}

function failureReason(failure: Failure | undefined): TurnEndReason {
  switch (failure?.code) {
    case "model_auth":
      return "model_authentication_failed";
    case "model_bad_request":
      return "model_request_rejected";
    case "model_overloaded":
      return "model_provider_unavailable";
    case "storage_failed":
      return "completion_persistence_failed";
    default:
      break;
  }
  switch (failure?.cause) {
    case "network":
      return "model_provider_unreachable";
    case "rate_limited":
    case "overloaded":
    case "timeout":
      return "model_provider_unavailable";
    default:
      return failure?.code === "model_failed" ? "model_provider_unavailable" : "error";
  }
}

/** Codes for ends that come without a failure of their own. */
const codeOfEnd = {
  denied: "denied",
  refused: "model_refused",
  limit: "limit_turns",
  length: "output_limit",
  context_full: "context_full",
  failed: "internal",
} as const satisfies Partial<Record<EndReason, ErrorCode>>;

/** What a client is told of a turn that did not end as somebody wanted it to; `undefined` for one that did. */
export function turnError(reason: EndReason, failure: Failure | undefined, at: number): ErrorHappened | undefined {
  if (reason === "completed" || reason === "planned" || reason === "interrupted" || reason === "cancelled") {
    return undefined;
  }
  const code = failure?.code ?? codeOfEnd[reason];
  const message = failure?.message ?? errorCodes[code];
  const timestamp = new Date(at).toISOString();
  return {
    type: "error",
    message,
    errorType: errorType(code, failure?.cause),
    timestamp,
    error: { name: code, message },
  };
}

function errorType(code: ErrorCode, cause: Failure["cause"]): ErrorType {
  if (code === "timeout" || cause === "timeout") return "TimeoutError";
  if (cause === "network") return "ConnectionError";
  return code === "storage_failed" ? "SessionError" : "Error";
}

export function retryReason({ code, cause }: Failure): RetryReason {
  if (cause !== undefined) return cause;
  if (code === "model_overloaded") return "overloaded";
  return code === "model_empty" ? "empty_response" : "unknown";
}
