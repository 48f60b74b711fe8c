import type { Network } from "../network.ts";

/** Milliseconds. */
export interface Timeouts {
  /** Limit for connecting: DNS, TCP, the proxy and TLS. */
  readonly connectMs: number;
  /** Limit from then until the response headers. */
  readonly firstByteMs: number;
  /** Limit for each chunk of the body, while a reader waits. */
  readonly idleMs: number;
}

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  /** Connection headers (`host`, `content-length`, `connection` …) are ignored; we set them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeouts: Timeouts;
  /** Connects here instead of resolving the host. TLS and `Host` still use the name. */
  readonly address?: string;
  /** Proxies, certificates and the connection pool. */
  readonly network: Network;
}
