import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Servers that send exactly the texts that a test specifies. */

const closing: (() => void)[] = [];
export function closePlainServers(): void {
  for (const close of closing.splice(0)) close();
}

export type Answer = (response: ServerResponse, path: string) => void;

/** The responses to the requests, in order; the last one to all others. */
export async function servePlainly(
  answers: readonly Answer[],
): Promise<{ url: string; paths: string[]; bodies: string[] }> {
  const paths: string[] = [];
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      bodies.push(Buffer.concat(pieces).toString());
      paths.push(request.url ?? "");
      (answers[paths.length - 1] ?? answers.at(-1))?.(response, request.url ?? "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths, bodies };
}

/** A stream of these events, written in pieces of this many bytes. */
export const events =
  (...parts: readonly (object | string)[]): Answer =>
  (response) =>
    inPieces(Number.POSITIVE_INFINITY, ...parts)(response, "");

export const inPieces =
  (size: number, ...parts: readonly (object | string)[]): Answer =>
  (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const text = parts.map((part) => `data: ${typeof part === "string" ? part : JSON.stringify(part)}\n\n`).join("");
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) response.write(bytes.subarray(at, at + size));
    response.end();
  };
