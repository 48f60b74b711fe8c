import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { codeOf } from "./failure.ts";
import { NetworkError } from "./network-error.ts";
import { place } from "./place.ts";
import type { Pool } from "./pool.ts";
import { describeProxy, type ProxyServer } from "./proxy.ts";
import type { Route } from "./route.ts";

/** Asks the proxy at the other end of `socket` to connect it with the route's server. Rejects with a `NetworkError` of kind `proxy`. */
export function openTunnel(pool: Pool, socket: Socket, route: Route, proxy: ProxyServer): Promise<Socket> {
  const target = place(route.address ?? route.host, route.port);
  const headers: Record<string, string> = { Host: target, "Proxy-Connection": "keep-alive", Connection: "keep-alive" };
  if (proxy.authorization !== undefined) headers["Proxy-Authorization"] = proxy.authorization;
  return new Promise((resolve, reject) => {
    let settled = false;
    const fail = (words: string, code?: string) => {
      if (settled) return;
      settled = true;
      socket.destroy();
      reject(new NetworkError("proxy", words, code));
    };
    const request = pool.request({
      method: "CONNECT",
      path: target,
      headers,
      setHost: false,
      createConnection: () => socket,
    });
    request.on("connect", (response: IncomingMessage, _socket, head: Buffer) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) fail(refusal(status, route, proxy));
      else if (head.length > 0) fail(`The answer of ${describeProxy(proxy)} is not proper HTTP.`);
      else {
        settled = true;
        resolve(socket);
      }
    });
    request.on("error", (error) => {
      const code = codeOf(error);
      const words = code.startsWith("HPE_")
        ? `The answer of ${describeProxy(proxy)} is not proper HTTP.`
        : `The connection was closed by ${describeProxy(proxy)} before it led to ${route.where}.`;
      fail(words, code);
    });
    request.on("close", () => fail(`The connection was closed by ${describeProxy(proxy)}.`));
    request.end();
  });
}

/** A proxy's no, in words. */
export function refusal(status: number, route: Route, proxy: ProxyServer): string {
  if (status !== 407)
    return `A connection to ${route.where} was refused by ${describeProxy(proxy)} with status ${status}.`;
  const wanted = proxy.authorization === undefined ? "a user and a password" : "another user or password";
  return `Status 407 came from ${describeProxy(proxy)}: it wants ${wanted} in that variable.`;
}
