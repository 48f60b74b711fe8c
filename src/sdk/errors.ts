import type { ConnectionEnd } from "./api.ts";

/** A method for people: `droid.load_session` is "load session". */
export function methodWords(method: string): string {
  return method.replace(/^droid\./, "").replaceAll("_", " ");
}

/** Base class of the SDK's own errors. */
export class SdkError extends Error {
  override readonly name: string = "SdkError";
}

/** The backend answered a request with an error. */
export class RequestError extends SdkError {
  override readonly name: string = "RequestError";
  readonly method: string;
  readonly code: number;
  /** The backend's message, without the method. */
  readonly detail: string;
  readonly data: unknown;
  /** The backend named no request, and only this one can be meant. */
  readonly isAssigned: boolean;

  constructor(
    method: string,
    error: { readonly code: number; readonly message: string; readonly data?: unknown },
    isAssigned = false,
  ) {
    // Matched by text: some backends prefix their message with the method.
    const detail = error.message.startsWith(`${method}: `) ? error.message.slice(method.length + 2) : error.message;
    super(`${methodWords(method)}: ${detail}`);
    this.method = method;
    this.detail = detail;
    this.code = error.code;
    this.data = error.data;
    this.isAssigned = isAssigned;
  }
}

export class SessionNotFoundError extends RequestError {
  override readonly name = "SessionNotFoundError";
}

/** The backend's process or connection ended. */
export class BackendGoneError extends SdkError {
  override readonly name = "BackendGoneError";
  readonly exitCode: number | null | undefined;
  readonly signal: string | null | undefined;
  readonly stderr: string;

  constructor(end: ConnectionEnd) {
    const stderr = end.stderr?.trim() ?? "";
    super(stderr === "" ? end.reason : `${end.reason}\n${stderr}`);
    this.exitCode = end.exitCode;
    this.signal = end.signal;
    this.stderr = end.stderr ?? "";
  }
}

/** The backend did not answer, or was silent for too long. */
export class TimeoutError extends SdkError {
  override readonly name = "TimeoutError";
}

/** This side closed the session. */
export class ClosedError extends SdkError {
  override readonly name = "ClosedError";
}

/** A turn is running, and `whenBusy` is "refuse". */
export class BusyError extends SdkError {
  override readonly name = "BusyError";
}
