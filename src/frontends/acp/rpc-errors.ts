import { RequestError } from "@agentclientprotocol/sdk";
import { AgentError } from "../../core/errors.ts";
import { textStart } from "../../core/text-cut.ts";
import { errorCodes } from "../../protocol/droid/version.ts";
import { RequestError as BackendError, BackendGoneError, SessionNotFoundError } from "../../sdk/errors.ts";

/* What goes wrong, as the client is told of it: always with words, because editors show the message alone. */

const internal = -32603;
const invalidParams = -32602;

export function badParams(words: string, data?: unknown): RequestError {
  return new RequestError(invalidParams, words, data);
}

export function noSession(sessionId: string): RequestError {
  return notFound(sessionId, `There is no session ${named(sessionId)}.`);
}

export function notOpen(sessionId: string): RequestError {
  return notFound(sessionId, `No session ${named(sessionId)} is open here: load or resume it first.`);
}

function notFound(sessionId: string, words: string): RequestError {
  const { code, data } = RequestError.sessionNotFound(sessionId);
  return new RequestError(code, words, data);
}

function named(sessionId: string): string {
  return JSON.stringify(textStart(sessionId, 200));
}

export function authRequired(words: string, data?: unknown): RequestError {
  return new RequestError(RequestError.authRequired().code, words, data);
}

export function failed(words: string, data?: unknown): RequestError {
  return new RequestError(internal, words, data);
}

/** Of whatever was thrown. `sessionId` is the one that was asked for. */
export function rpcError(error: unknown, sessionId = ""): RequestError {
  if (error instanceof RequestError) return error;
  const isMissing = error instanceof AgentError && error.code === "session_not_found";
  if (isMissing || error instanceof SessionNotFoundError) return noSession(sessionId);
  const words = wordsOf(error);
  if (error instanceof BackendError) {
    const isAsked = error.code === errorCodes.invalidParams || error.code === errorCodes.invalidRequest;
    return isAsked ? badParams(words) : failed(words, { code: error.code, data: error.data });
  }
  if (error instanceof BackendGoneError) {
    const { exitCode = null, signal = null, stderr } = error;
    return failed(words, { exitCode, signal, stderr });
  }
  return failed(words);
}

function wordsOf(error: unknown): string {
  const words = error instanceof Error ? error.message : String(error);
  // The client did not call the backend's method, and need not know its name.
  return words.replace(/^droid\.\w+: /, "");
}
