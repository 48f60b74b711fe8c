import type { ConnectionEnd } from "./api.ts";

/** A method as people read it: `droid.load_session` is "load session". */
export function methodWords(method: string): string {
  return method.replace(/^droid\./, "").replaceAll("_", " ");
}

/** Whatever the SDK throws on its own account. */
export class SdkError extends Error {
  override readonly name: string = "SdkError";
}

/** The backend answered a request with an error. */
export class RequestError extends SdkError {
  override readonly name: string = "RequestError";
  readonly method: string;
  readonly code: number;
  /** What the backend said, without the name of the method. */
  readonly detail: string;
  readonly data: unknown;
  /** `true` when the backend did not say which request it meant, and it must have been this one. */
  readonly isAssigned: boolean;

  constructor(
    method: string,
    error: { readonly code: number; readonly message: string; readonly data?: unknown },
    isAssigned = false,
  ) {
    // Foreign prose: some backends put the method before their words.
    const detail = error.message.startsWith(`${method}: `) ? error.message.slice(method.length + 2) : error.message;
    super(`${methodWords(method)}: ${detail}`);
    this.method = method;
    this.detail = detail;
    this.code = error.code;
    this.data = error.data;
    this.isAssigned = isAssigned;
  }
}

/** There is no such session. */
export class SessionNotFoundError extends RequestError {
  override readonly name = "SessionNotFoundError";
}

/** The backend is gone: its process ended, or the connection did. */
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

/** The backend did not answer, or said nothing for too long. */
export class TimeoutError extends SdkError {
  override readonly name = "TimeoutError";
}

/** The session was closed by this side. */
export class ClosedError extends SdkError {
  override readonly name = "ClosedError";
}

/** A turn runs already, and the option says that a second prompt is refused. */
export class BusyError extends SdkError {
  override readonly name = "BusyError";
}
