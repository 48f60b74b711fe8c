import { NetworkError } from "./network-error.ts";
import { type Exempt, isThisMachine, readNoProxy } from "./no-proxy.ts";
import { bareHost, place, portOf } from "./place.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxyServer {
  /** Whether the proxy itself is spoken to over TLS. */
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The variable that named it, for people. */
  readonly variable: string;
  /** The value of `Proxy-Authorization`, when the variable holds a user. */
  readonly authorization: string | undefined;
}

/** The proxy in words; never its user or password. */
export function describeProxy(proxy: ProxyServer): string {
  return `the proxy ${place(proxy.host, proxy.port)} (${proxy.variable})`;
}

/**
 * The proxy for each address, from an environment read once, by curl's customs: the name in lower case wins, an empty value is none.
 * The function throws `NetworkError` of kind `proxy` when the variable that counts names no proxy that can be used.
 */
export function readProxies(env: Environment): (url: URL) => ProxyServer | undefined {
  let exempt: Exempt | undefined;
  const known = new Map<string, ProxyServer | undefined>();
  return (url) => {
    const host = bareHost(url);
    if (isThisMachine(host)) return undefined;
    exempt ??= readNoProxy(env.no_proxy || env.NO_PROXY || "");
    if (exempt(host, portOf(url))) return undefined;
    if (!known.has(url.protocol)) known.set(url.protocol, readProxy(env, url.protocol));
    return known.get(url.protocol);
  };
}

function readProxy(env: Environment, protocol: string): ProxyServer | undefined {
  const variable = variablesFor(env, protocol).find((name) => env[name]);
  return variable === undefined ? undefined : parseProxy(variable, env[variable] ?? "");
}

function variablesFor(env: Environment, protocol: string): readonly string[] {
  const all = ["all_proxy", "ALL_PROXY"];
  if (protocol === "https:") return ["https_proxy", "HTTPS_PROXY", ...all];
  // A CGI program gets the client's `Proxy:` header as HTTP_PROXY: there the client, not the user, would choose our proxy.
  return env.REQUEST_METHOD === undefined ? ["http_proxy", "HTTP_PROXY", ...all] : ["http_proxy", ...all];
}

function parseProxy(variable: string, text: string): ProxyServer {
  const trimmed = text.trim();
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === "") {
    throw new NetworkError("proxy", `The variable ${variable} does not hold the address of a proxy.`);
  }
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== "http" && scheme !== "https") {
    const words = `The variable ${variable} names a proxy of the kind "${scheme}", which is not supported; http and https proxies are.`;
    throw new NetworkError("proxy", words);
  }
  return {
    secure: scheme === "https",
    host: bareHost(url),
    port: portOf(url),
    variable,
    authorization: url.username === "" && url.password === "" ? undefined : basic(variable, url),
  };
}

function basic(variable: string, url: URL): string {
  try {
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return `Basic ${Buffer.from(user).toString("base64")}`;
  } catch {
    throw new NetworkError("proxy", `The user or password in the variable ${variable} has a wrong % sequence.`);
  }
}
