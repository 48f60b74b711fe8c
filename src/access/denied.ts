import { AgentError, type ErrorCode } from "../engine/errors.ts";

export const denialReasons = [
  "forbidden",
  "model_unknown",
  "draining",
  "too_many_sessions",
  "rate_limited",
  "queue_full",
  "session_unreadable",
] as const;
type DenialReason = (typeof denialReasons)[number];

/** The caller is not allowed to do this now. The message is safe to send to the client. */
export class DeniedError extends AgentError {
  readonly reason: DenialReason;
  /** Machine-readable, in addition to the reason. */
  readonly data: Readonly<Record<string, unknown>>;

  constructor(
    reason: DenialReason,
    message: string,
    data: Readonly<Record<string, unknown>> = {},
    code: ErrorCode = "usage",
  ) {
    super(code, message);
    this.reason = reason;
    this.data = data;
  }
}
