import type { ErrorCode } from "../../engine/errors.ts";
import { AgentError } from "../../engine/errors.ts";
import type { RpcError } from "../../protocol/droid/envelope.ts";
import { errorCodes } from "../../protocol/droid/version.ts";
import { errorMessage } from "../../text/values.ts";
import type { Dialect } from "./dialect.ts";

/** An invalid method or invalid params. */
export class BadRequest extends Error {
  readonly fault: "method" | "params";

  constructor(fault: BadRequest["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Settings that the wire knows but we do not support count as invalid params. */
export function valid<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof AgentError && error.code === "usage") throw new BadRequest("params", error.message);
    throw error;
  }
}

const rpcCodes: Partial<Record<ErrorCode, number>> = {
  usage: errorCodes.invalidParams,
  model_unknown: errorCodes.invalidParams,
  script_invalid: errorCodes.invalidParams,
  input_too_large: errorCodes.invalidParams,
};

export class NoSession extends Error {
  constructor() {
    super("No active session. Call initialize_session or load_session first.");
  }
}

/** The request names something that doesn't exist. */
export class NotFound extends Error {}

/** The error response, and its id: the early dialect does not name the request. */
export function rejection(
  error: unknown,
  requestId: string,
  dialect: Dialect,
): { readonly id: string | null; readonly failure: RpcError } {
  if (error instanceof BadRequest) {
    if (dialect === "early") {
      const failure = { code: errorCodes.invalidRequest, message: "Invalid request format", data: { requestId } };
      return { id: null, failure };
    }
    const code = error.fault === "method" ? errorCodes.methodNotFound : errorCodes.invalidParams;
    return { id: requestId, failure: { code, message: error.message } };
  }
  return { id: requestId, failure: failureOfHandler(error) };
}

function failureOfHandler(error: unknown): RpcError {
  if (!(error instanceof AgentError)) {
    return { code: errorCodes.internal, message: errorMessage(error) };
  }
  if (error.code === "session_not_found") return { code: errorCodes.notFound, message: "Session not found" };
  return { code: rpcCodes[error.code] ?? errorCodes.internal, message: error.message, data: { code: error.code } };
}
