import type { ErrorCode, Failure } from "../../../engine/errors.ts";
import { errorCodes } from "../../../engine/errors.ts";
import type { EndReason } from "../../../engine/event.ts";
import type { ErrorHappened } from "../../../protocol/droid/notifications.ts";
import type { ErrorType, RetryReason, TurnEndReason } from "../../../protocol/droid/words.ts";

/** Reasons of `agent_turn_completed`. A failed turn has the reason of its failure. */
const reasons: Readonly<Record<Exclude<EndReason, "failed">, TurnEndReason>> = {
  completed: "completed",
  planned: "spec_handoff",
  interrupted: "cancelled",
  cancelled: "permission_rejected",
  denied: "no_approver_available",
  refused: "prompt_rejected",
  limit: "error",
  length: "error",
  context_full: "error",
};

const reasonsByCode: Partial<Record<ErrorCode, TurnEndReason>> = {
  model_auth: "model_authentication_failed",
  model_bad_request: "model_request_rejected",
  model_overloaded: "model_provider_unavailable",
  storage_failed: "completion_persistence_failed",
};

const reasonsByCause: Partial<Record<NonNullable<Failure["cause"]>, TurnEndReason>> = {
  network: "model_provider_unreachable",
  rate_limited: "model_provider_unavailable",
  overloaded: "model_provider_unavailable",
  timeout: "model_provider_unavailable",
};

export function turnEndReason(reason: EndReason, failure: Failure | undefined): TurnEndReason {
  if (reason !== "failed") return reasons[reason];
  const { code, cause } = failure ?? {};
  const known = (code && reasonsByCode[code]) ?? (cause && reasonsByCause[cause]);
  return known ?? (code === "model_failed" ? "model_provider_unavailable" : "error");
}

/** Codes for ends without their own failure. */
const codeOfEnd = {
  denied: "denied",
  refused: "model_refused",
  limit: "limit_turns",
  length: "output_limit",
  context_full: "context_full",
  failed: "internal",
} as const satisfies Partial<Record<EndReason, ErrorCode>>;

/** The error notification for a turn that did not end as wanted, otherwise undefined. */
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
  // Too large requests are not retried.
  if (cause !== undefined && cause !== "too_large") return cause;
  if (code === "model_overloaded") return "overloaded";
  return code === "model_empty" ? "empty_response" : "unknown";
}
