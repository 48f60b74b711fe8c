import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { codeOf } from "../failure.ts";
import { NetworkError, type NetworkErrorKind } from "../network-error.ts";
import { place } from "./place.ts";
import type { Pool } from "./pool.ts";
import { describeProxy, type ProxyServer } from "./proxy.ts";
import type { Route } from "./route.ts";

/**
 * Opens a CONNECT tunnel to the route's server. Rejects with `NetworkError`: `unreachable` if the proxy can't reach the server,
 * `proxy_failed` if the proxy is busy or disconnects, otherwise `proxy`.
 */
export function openTunnel(pool: Pool, socket: Socket, route: Route, proxy: ProxyServer): Promise<Socket> {
  const target = place(route.address ?? route.host, route.port);
  const headers: Record<string, string> = { Host: target, "Proxy-Connection": "keep-alive", Connection: "keep-alive" };
  if (proxy.authorization !== undefined) headers["Proxy-Authorization"] = proxy.authorization;
  return new Promise((resolve, reject) => {
    let settled = false;
    const fail = (kind: NetworkErrorKind, message: string, code?: string) => {
      if (settled) return;
      settled = true;
      socket.destroy();
      reject(new NetworkError(kind, message, code));
    };
    const malformed = (code?: string) =>
      fail("proxy", `The response from ${describeProxy(proxy)} is not valid HTTP.`, code);
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
      else if (head.length > 0) malformed();
      else {
        settled = true;
        resolve(socket);
      }
    });
    request.on("error", (error) => {
      const code = codeOf(error);
      // HPE_INVALID_EOF_STATE means that the connection closed early.
      if (code.startsWith("HPE_") && code !== "HPE_INVALID_EOF_STATE") return malformed(code);
      const message = `The connection was closed by ${describeProxy(proxy)} before it reached ${route.where}.`;
      fail("proxy_failed", message, code);
    });
    request.on("close", () => fail("proxy_failed", `The connection was closed by ${describeProxy(proxy)}.`));
    request.end();
  });
}

function kindOf(status: number): NetworkErrorKind {
  if (status >= 500) return "unreachable";
  return status === 408 || status === 429 ? "proxy_failed" : "proxy";
}

/** The message for a proxy's error status. */
export function refusal(status: number, route: Route, proxy: ProxyServer): string {
  if (status === 407) {
    const fix = proxy.authorization === undefined ? "add a user and password to" : "correct the user or password in";
    return `Status 407 from ${describeProxy(proxy)}: ${fix} that variable.`;
  }
  const outcome = kindOf(status) === "proxy" ? "was refused by" : "failed at";
  return `The connection to ${route.where} ${outcome} ${describeProxy(proxy)} with status ${status}.`;
}
