import type { Network } from "./network.ts";

/** How long to wait, in milliseconds. */
export interface Timeouts {
  /** Until the connection stands: name, TCP, the proxy's consent, TLS. */
  readonly connectMs: number;
  /** From then until the answer's headers. */
  readonly firstByteMs: number;
  /** For each piece of the body, while somebody waits for one. */
  readonly idleMs: number;
}

export interface HttpRequest {
  readonly url: URL;
  readonly method: string;
  /** Those that belong to the connection (`host`, `content-length`, `connection` …) are ours to send and are left out. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  readonly signal?: AbortSignal;
  readonly timeouts: Timeouts;
  /** Connect there instead of looking the host's name up; TLS and `Host` still use the name. */
  readonly address?: string;
  /** Proxies, certificates and the connections that are kept open. */
  readonly network: Network;
}
