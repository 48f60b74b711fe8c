import { DeniedError } from "../../access/denied.ts";
import type { ErrorCode } from "../../engine/errors.ts";
import { AgentError } from "../../engine/errors.ts";
import { refusedCode, rpcErrors } from "../../protocol/interactive.ts";
import type { RpcError } from "./frames.ts";

/** An error response. */
export class Refusal extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** The params have the wrong form. */
export function badParams(reason: string, detail: string): Refusal {
  return new Refusal({ ...rpcErrors.params, data: { reason, detail } });
}

/** The params are well-formed but unusable. The message is for a person. */
export function unusable(reason: string, words: string, more: Readonly<Record<string, unknown>> = {}): Refusal {
  const { code, message } = rpcErrors.params;
  return new Refusal({ code, message: `${message}: ${words}`, data: { reason, ...more } });
}

/** Refused because of a limit, a role or the server's state. */
export function refused(reason: string, words: string, more: Readonly<Record<string, unknown>> = {}): Refusal {
  return new Refusal({ code: refusedCode, message: words, data: { reason, ...more } });
}

/** Also for other users' sessions, whose existence is not revealed. */
export function unknownSession(): Refusal {
  return badParams("unknown_session", "Session not found. Use resumeSession to open an earlier one.");
}

/** Failures whose messages are safe for clients. */
const told: Partial<Record<ErrorCode, (message: string) => Refusal>> = {
  session_not_found: unknownSession,
  session_closed: unknownSession,
  session_in_use: () => refused("session_in_use", "Another process is using this session."),
  queue_full: (message) => refused("queue_full", message),
  input_too_large: (message) => refused("input_too_large", message),
};

/** Undefined for internal failures: they are logged, and never sent to a client. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof DeniedError) {
    const { reason, message, data } = error;
    return (reason === "model_unknown" ? unusable : refused)(reason, message, data);
  }
  return error instanceof AgentError ? told[error.code]?.(error.message) : undefined;
}

/** For a session whose model cannot be used. `report` logs details for the operator only. */
export function modelRefusal(error: unknown, report: () => string): Refusal | undefined {
  if (!(error instanceof AgentError)) return undefined;
  if (error.code === "model_unknown") return unusable("model_unknown", error.message);
  if (error.code !== "script_invalid" && error.code !== "config_invalid") return undefined;
  const words = "this model is unavailable; see the server's log";
  return unusable("model_unusable", words, { errorId: report() });
}
