import { bareHost, place, portOf } from "./place.ts";
import { describeProxy, type ProxyServer } from "./proxy.ts";

/** The way to a server: everything that two requests must have in common to share a connection. */
export interface Route {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** Where to connect instead of looking `host` up. */
  readonly address: string | undefined;
  readonly proxy: ProxyServer | undefined;
  /** Whether the proxy is asked for a tunnel; otherwise it is handed the whole address and asks the server itself. */
  readonly tunnel: boolean;
  readonly key: string;
  /** The server, for people. */
  readonly where: string;
}

/**
 * A pinned address goes through a tunnel over plain http too: a proxy that is handed the whole address looks the name up again, which is
 * what pinning is there to prevent.
 */
export function routeTo(url: URL, address: string | undefined, proxy: ProxyServer | undefined): Route {
  const secure = url.protocol === "https:";
  const [host, port] = [bareHost(url), portOf(url)];
  const tunnel = proxy !== undefined && (secure || address !== undefined);
  const server = [url.protocol, host, port, address ?? ""].join(" ");
  const by = proxy === undefined ? "" : [proxy.secure, proxy.host, proxy.port].join(" ");
  const key = proxy !== undefined && !tunnel ? `by ${by}` : `${server} by ${by}`;
  return { secure, host, port, address, proxy, tunnel, key, where: place(host, port) };
}

/** The server and the way to it, for people. */
export function describeRoute({ where, proxy }: Route): string {
  return proxy === undefined ? where : `${where} through ${describeProxy(proxy)}`;
}
