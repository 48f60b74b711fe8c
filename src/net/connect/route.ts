import { bareHost, place, portOf } from "./place.ts";
import { describeProxy, type ProxyServer } from "./proxy.ts";

/** The way to a server. Requests with the same route can share a connection. */
export interface Route {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The pinned address to connect to instead of resolving `host`. */
  readonly address: string | undefined;
  readonly proxy: ProxyServer | undefined;
  /** Whether to tunnel with CONNECT. Otherwise the proxy gets the full URL and forwards the request. */
  readonly tunnel: boolean;
  readonly key: string;
  /** The server, for messages. */
  readonly where: string;
}

/**
 * A pinned address uses a tunnel even for plain http. Given the full URL, a proxy would resolve the name again, which
 * pinning must prevent.
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

/** The server and the proxy, for messages. */
export function describeRoute({ where, proxy }: Route): string {
  return proxy === undefined ? where : `${where} through ${describeProxy(proxy)}`;
}
