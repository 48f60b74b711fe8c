import { DeniedError } from "../../access/denied.ts";
import type { ErrorCode } from "../../engine/errors.ts";
import { AgentError } from "../../engine/errors.ts";
import { refusedCode, rpcErrors } from "../../protocol/interactive.ts";
import type { RpcError } from "./frames.ts";

/** What a client is told instead of a result. */
export class Refusal extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.error = error;
  }
}

/** The params are not what the method takes. */
export function badParams(reason: string, detail: string): Refusal {
  return new Refusal({ ...rpcErrors.params, data: { reason, detail } });
}

/** The params are what the method takes, and still cannot be used: the words are for a person to read. */
export function unusable(reason: string, words: string, more: Readonly<Record<string, unknown>> = {}): Refusal {
  const { code, message } = rpcErrors.params;
  return new Refusal({ code, message: `${message}: ${words}`, data: { reason, ...more } });
}

/** A limit, a role, or the server's state stands against it. */
export function refused(reason: string, words: string, more: Readonly<Record<string, unknown>> = {}): Refusal {
  return new Refusal({ code: refusedCode, message: words, data: { reason, ...more } });
}

/** Also of somebody else's session: who may not use it does not learn that it is there. */
export function unknownSession(): Refusal {
  return badParams("unknown_session", "There is no such session here. resumeSession opens one that was left.");
}

/** Failures that are the client's business, in words that are fit for it. */
const told: Partial<Record<ErrorCode, (message: string) => Refusal>> = {
  session_not_found: unknownSession,
  session_closed: unknownSession,
  session_in_use: () => refused("session_in_use", "Another process works with this session."),
  queue_full: (message) => refused("queue_full", message),
  input_too_large: (message) => refused("input_too_large", message),
};

/** `undefined` for what is nobody's business but the operator's: its words go to the log, and never to a client. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof DeniedError) {
    const { reason, message, data } = error;
    return (reason === "model_unknown" ? unusable : refused)(reason, message, data);
  }
  return error instanceof AgentError ? told[error.code]?.(error.message) : undefined;
}

/** For a session that cannot begin because of its model. `report` is called where the words are for the operator only. */
export function modelRefusal(error: unknown, report: () => string): Refusal | undefined {
  if (!(error instanceof AgentError)) return undefined;
  if (error.code === "model_unknown") return unusable("model_unknown", error.message);
  if (error.code !== "script_invalid" && error.code !== "config_invalid") return undefined;
  const words = "this model cannot be used here; the server's log says why";
  return unusable("model_unusable", words, { errorId: report() });
}
