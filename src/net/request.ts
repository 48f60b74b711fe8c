import { exchange } from "./exchange.ts";
import type { Network } from "./network.ts";
import { piecesOf } from "./pieces.ts";

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

export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  /** Names in lower case. Without `content-encoding` and `content-length` when the body was compressed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bytes as they come, decompressed, to be read once; leaving the loop early closes the socket. Rejects with `NetworkError`. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Whoever does not read the body to its end calls this: an open answer keeps its socket and the process. */
  close(): void;
}

/**
 * One HTTP exchange. Resolves when the answer's headers are there, whatever the status; follows no redirects and asks for no compression.
 * Rejects with `NetworkError` only.
 */
export async function request(r: HttpRequest): Promise<HttpResponse> {
  const { status, statusText, headers, body } = await exchange(r);
  return { status, statusText, headers, body: piecesOf(body), close: body.close };
}
