import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import { fixture } from "./support.ts";

export interface ProxyOptions {
  /** All requests go to this local port, whatever host they name. */
  readonly target: number;
  readonly secure?: boolean;
  /** The required Proxy-Authorization. */
  readonly wants?: string;
  /** Answers every request with this status. */
  readonly refuses?: number;
}

export interface TestProxy {
  readonly port: number;
  /** Method and target of each request. */
  readonly asked: string[];
  readonly sockets: Socket[];
}

export async function startProxy({ target, secure = false, wants, refuses }: ProxyOptions): Promise<TestProxy> {
  const asked: string[] = [];
  const sockets: Socket[] = [];
  const statusFor = ({ headers }: IncomingMessage): number | undefined => {
    if (wants !== undefined && headers["proxy-authorization"] !== wants) return 407;
    return refuses;
  };
  const pass = (incoming: IncomingMessage, response: ServerResponse) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    const status = statusFor(incoming);
    if (status !== undefined) {
      response.writeHead(status).end("the proxy's own page");
      return;
    }
    const { host: _host, "proxy-authorization": _authorization, ...headers } = incoming.headers;
    const { host, pathname } = new URL(incoming.url ?? "");
    const options = { host: "127.0.0.1", port: target, path: pathname, method: incoming.method ?? "GET" };
    const onward = httpRequest({ ...options, headers: { ...headers, host }, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    incoming.pipe(onward);
  };
  const pem = secure ? readFileSync(fixture("server.pem")) : undefined;
  const server = pem === undefined ? createServer(pass) : createSecureServer({ key: pem, cert: pem }, pass);
  server.on("tlsClientError", () => {});
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => {});
    sockets.push(socket);
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    socket.on("error", () => {});
    const status = statusFor(incoming);
    if (status !== undefined) {
      socket.end(`HTTP/1.1 ${status} No\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const onward = connect(target, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    sockets.push(onward);
    onward.on("error", () => socket.destroy());
    onward.on("close", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    if (server.listening) await once(server, "close");
  });
  return { port: (server.address() as AddressInfo).port, asked, sockets };
}
