import { RequestError } from "@agentclientprotocol/sdk";
import { AgentError } from "../../engine/errors.ts";
import { errorCodes } from "../../protocol/droid/version.ts";
import {
  RequestError as BackendError,
  BackendGoneError,
  ClosedError,
  SdkError,
  SessionNotFoundError,
  TimeoutError,
} from "../../sdk/errors.ts";
import { textStart } from "../../text/text-cut.ts";
import { errorMessage, type Fields, isRecord } from "../../text/values.ts";

/** Errors for the client. They always have a message, because editors show nothing else, and `data.code` for programs. */

const internal = -32603;
const invalidParams = -32602;

/** Details besides the code. */
type Facts = Fields;

export function badParams(words: string, code = "usage"): RequestError {
  return new RequestError(invalidParams, words, { code });
}

export function noSession(sessionId: string): RequestError {
  return notFound(sessionId, `Session ${named(sessionId)} not found.`);
}

export function notOpen(sessionId: string): RequestError {
  return notFound(sessionId, `No session ${named(sessionId)} is open here: load or resume it first.`);
}

function notFound(sessionId: string, words: string): RequestError {
  const { code } = RequestError.sessionNotFound(sessionId);
  return new RequestError(code, words, { code: "session_not_found", sessionId });
}

function named(sessionId: string): string {
  return JSON.stringify(textStart(sessionId, 200));
}

export function authRequired(words: string, facts: Facts = {}): RequestError {
  return new RequestError(RequestError.authRequired().code, words, { ...facts, code: "model_auth" });
}

export function failed(words: string, code: string, facts: Facts = {}): RequestError {
  return new RequestError(internal, words, { ...facts, code });
}

/** The error response for anything thrown. `sessionId` is the requested one. */
export function rpcError(error: unknown, sessionId = ""): RequestError {
  if (error instanceof RequestError) return error;
  const isMissing = error instanceof AgentError && error.code === "session_not_found";
  if (isMissing || error instanceof SessionNotFoundError) return noSession(sessionId);
  const words = wordsOf(error);
  if (error instanceof BackendError) {
    const code = codeIn(error.data);
    const isAsked = error.code === errorCodes.invalidParams || error.code === errorCodes.invalidRequest;
    if (isAsked) return badParams(words, code);
    return failed(words, code ?? "backend_failed", { backendCode: error.code, backendData: error.data });
  }
  if (error instanceof BackendGoneError) {
    const { exitCode = null, signal = null, stderr } = error;
    return failed(words, "backend_gone", { exitCode, signal, stderr });
  }
  if (error instanceof TimeoutError) return failed(words, "timeout");
  if (error instanceof ClosedError) return failed(words, "session_closed");
  if (error instanceof SdkError) return failed(words, "backend_failed");
  return failed(words, error instanceof AgentError ? error.code : "internal");
}

/** Codes for the library's own errors. */
const libraryCodes = new Map([
  [-32800, "interrupted"],
  [RequestError.authRequired().code, "model_auth"],
  [RequestError.sessionNotFound("").code, "session_not_found"],
  [internal, "internal"],
]);

interface ErrorResponse {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Adds a code to errors of the library, so that all errors have one. */
export function coded({ code, message, data }: ErrorResponse): ErrorResponse {
  if (codeIn(data) !== undefined) return { code, message, data };
  const facts = data === undefined ? {} : isRecord(data) ? data : { details: data };
  return { code, message, data: { ...facts, code: libraryCodes.get(code) ?? "usage" } };
}

function codeIn(data: unknown): string | undefined {
  return isRecord(data) && typeof data.code === "string" ? data.code : undefined;
}

function wordsOf(error: unknown): string {
  // Without the backend's method, which the client does not know.
  if (error instanceof BackendError) return error.detail;
  return errorMessage(error);
}
