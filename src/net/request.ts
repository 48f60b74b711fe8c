import { exchange } from "./exchange.ts";
import type { Network } from "./network.ts";
import { piecesOf } from "./pieces.ts";

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

export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. Without `content-encoding` and `content-length` if the body was compressed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Decompressed bytes, readable once. Leaving the loop early closes the socket. Rejects with `NetworkError`. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Required unless the body is read to its end: an open response keeps its socket and the process alive. */
  close(): void;
}

/**
 * One HTTP exchange. Resolves with the response headers, whatever the status. Follows no redirects and requests no
 * compression. Rejects only with `NetworkError`.
 */
export async function request(r: HttpRequest): Promise<HttpResponse> {
  const { status, statusText, headers, body } = await exchange(r);
  return { status, statusText, headers, body: piecesOf(body), close: body.close };
}
