import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { codeOf } from "./failure.ts";
import { NetworkError, type NetworkErrorKind } from "./network-error.ts";
import { place } from "./place.ts";
import type { Pool } from "./pool.ts";
import { describeProxy, type ProxyServer } from "./proxy.ts";
import type { Route } from "./route.ts";

/**
 * Asks the proxy at the other end of `socket` to connect it with the route's server. Rejects with a `NetworkError`: of kind
 * `unreachable` when the proxy did not get through to the server, `proxy_failed` when it had no time or hung up, and else `proxy`.
 */
export function openTunnel(pool: Pool, socket: Socket, route: Route, proxy: ProxyServer): Promise<Socket> {
  const target = place(route.address ?? route.host, route.port);
  const headers: Record<string, string> = { Host: target, "Proxy-Connection": "keep-alive", Connection: "keep-alive" };
  if (proxy.authorization !== undefined) headers["Proxy-Authorization"] = proxy.authorization;
  return new Promise((resolve, reject) => {
    let settled = false;
    const fail = (kind: NetworkErrorKind, words: string, code?: string) => {
      if (settled) return;
      settled = true;
      socket.destroy();
      reject(new NetworkError(kind, words, code));
    };
    const misread = (code?: string) => fail("proxy", `The answer of ${describeProxy(proxy)} is not proper HTTP.`, code);
    const request = pool.request({
      method: "CONNECT",
      path: target,
      headers,
      setHost: false,
      createConnection: () => socket,
    });
    request.on("connect", (response: IncomingMessage, _socket, head: Buffer) => {
      const status = response.statusCode ?? 0;
      if (status < 200 || status > 299) fail(kindOf(status), refusal(status, route, proxy));
      else if (head.length > 0) misread();
      else {
        settled = true;
        resolve(socket);
      }
    });
    request.on("error", (error) => {
      const code = codeOf(error);
      // The parser's name for a connection that ends where more was promised is no fault of the answer's form.
      if (code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE") return misread(code);
      const words = `The connection was closed by ${describeProxy(proxy)} before it led to ${route.where}.`;
      fail("proxy_failed", words, code);
    });
    request.on("close", () => fail("proxy_failed", `The connection was closed by ${describeProxy(proxy)}.`));
    request.end();
  });
}

function kindOf(status: number): NetworkErrorKind {
  if (status >= 500) return "unreachable";
  return status === 408 || status === 429 ? "proxy_failed" : "proxy";
}

/** A proxy's no, in words. */
export function refusal(status: number, route: Route, proxy: ProxyServer): string {
  if (status === 407) {
    const wanted = proxy.authorization === undefined ? "a user and a password" : "another user or password";
    return `Status 407 came from ${describeProxy(proxy)}: it wants ${wanted} in that variable.`;
  }
  const isLasting = kindOf(status) === "proxy";
  const outcome = isLasting ? "was refused" : "could not be given now";
  return `A connection to ${route.where} ${outcome} by ${describeProxy(proxy)} with status ${status}.`;
}
