/**
 * - `invalid`: the request can't be sent. `malformed`: the response is not HTTP, or can't be decompressed.
 * - `proxy`: the proxy refuses, or is unusable. `proxy_failed`: it has a transient problem.
 * - `unreachable` also covers a server that the proxy can't reach; `tls` also covers the proxy's certificate.
 */
export type NetworkErrorKind =
  | "refused"
  | "name"
  | "unreachable"
  | "reset"
  | "connect_timeout"
  | "first_byte_timeout"
  | "idle_timeout"
  | "tls"
  | "proxy"
  | "proxy_failed"
  | "aborted"
  | "invalid"
  | "malformed";

/**
 * This folder's only error. Its message never has a header, a query or a credential. It has no `cause`: Node's errors can hold
 * raw bytes, and libraries that look for codes in causes would wrap it.
 */
export class NetworkError extends Error {
  readonly kind: NetworkErrorKind;
  /** Node's or OpenSSL's code, such as `ECONNREFUSED`, if any. */
  readonly detail: string | undefined;

  constructor(kind: NetworkErrorKind, message: string, detail?: string) {
    super(message);
    // Callers of `fetch` recognize an abort by this name.
    this.name = kind === "aborted" ? "AbortError" : "NetworkError";
    this.kind = kind;
    this.detail = detail;
  }
}
