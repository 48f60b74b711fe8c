import { exchange } from "./exchange.ts";
import type { HttpRequest } from "./http-request.ts";
import { piecesOf } from "./pieces.ts";

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
