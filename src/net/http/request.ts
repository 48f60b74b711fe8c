import { exchange } from "./exchange.ts";
import type { HttpRequest } from "./http-request.ts";
import { piecesOf } from "./pieces.ts";

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
