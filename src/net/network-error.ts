/**
 * What went wrong between us and a server.
 * `invalid`: the request itself cannot be sent; `malformed`: what came back is not HTTP or cannot be decompressed.
 * `proxy`: the proxy refuses, or is none that can be used; `proxy_failed`: it cannot be reached or is in trouble, which may pass.
 * A server that the proxy did not get through to is `unreachable`, and certificates are `tls`, the proxy's too.
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
 * The one error of this folder. Its message is a plain sentence with host and port; never a header, a query or a credential.
 * It carries no `cause`: Node's errors can hold raw bytes of the exchange, and libraries that look for codes in causes would wrap it.
 */
export class NetworkError extends Error {
  readonly kind: NetworkErrorKind;
  /** Node's or OpenSSL's own code, such as `ECONNREFUSED`, when there was one. */
  readonly detail: string | undefined;

  constructor(kind: NetworkErrorKind, message: string, detail?: string) {
    super(message);
    // Callers of `fetch` tell an abort by this name.
    this.name = kind === "aborted" ? "AbortError" : "NetworkError";
    this.kind = kind;
    this.detail = detail;
  }
}
