import type { ErrorCode } from "../../engine/errors.ts";
import { AgentError } from "../../engine/errors.ts";
import type { RpcError } from "../../protocol/droid/envelope.ts";
import { errorCodes } from "../../protocol/droid/version.ts";
import { errorMessage } from "../../text/values.ts";
import type { Dialect } from "./dialect.ts";

/** A request that cannot be taken as it is: its method or its params. */
export class BadRequest extends Error {
  readonly fault: "method" | "params";

  constructor(fault: BadRequest["fault"], message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Settings that the wire knows and we do not have are wrong params, as any other value would be. */
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

/** A method was called that needs a session, and there is none. */
export class NoSession extends Error {
  constructor() {
    super("No active session. Call initialize_session or load_session first.");
  }
}

/** What a failed request is answered with, and under which id: one dialect cannot tell its clients which request it was. */
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
