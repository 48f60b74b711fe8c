import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import type { Answer } from "./routes.ts";

/** No answer loads anything, can be framed, or can be cached. */
const always = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-store",
};

function headersOf({ body, type = "text/plain; charset=utf-8", headers }: Answer): Readonly<Record<string, string>> {
  return { ...always, "Content-Type": type, "Content-Length": String(Buffer.byteLength(body)), ...headers };
}

export function answer(response: ServerResponse, given: Answer): void {
  response.writeHead(given.code, headersOf(given)).end(given.body);
}

/** For upgrades and malformed requests, which have no response object. */
export function answerRaw(socket: Duplex, given: Answer): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  const head = Object.entries({ ...headersOf(given), Connection: "close" }).map(([name, value]) => `${name}: ${value}`);
  const status = `HTTP/1.1 ${given.code} ${STATUS_CODES[given.code] ?? ""}`;
  // Don't wait for a client that never closes its side.
  socket.once("finish", () => socket.destroy());
  socket.end(`${[status, ...head].join("\r\n")}\r\n\r\n${given.body}`);
}
