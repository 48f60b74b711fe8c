import { NetworkError } from "../network-error.ts";
import { type Exempt, isThisMachine, readNoProxy } from "./no-proxy.ts";
import { bareHost, place, portOf } from "./place.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ProxyServer {
  /** Whether the connection to the proxy itself uses TLS. */
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** The variable that set it, for messages. */
  readonly variable: string;
  /** The value for `Proxy-Authorization`, if the variable has a user. */
  readonly authorization: string | undefined;
}

/** The proxy, for messages. Never its user or password. */
export function describeProxy(proxy: ProxyServer): string {
  return `the proxy ${place(proxy.host, proxy.port)} (${proxy.variable})`;
}

/**
 * Returns a function from URL to proxy, with curl's conventions: lower-case variables win, empty ones are ignored. It throws
 * `NetworkError` of kind `proxy` if the variable in effect is not a usable proxy.
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
  // In a CGI program, HTTP_PROXY is the client's `Proxy:` header, so the client would choose our proxy.
  return env.REQUEST_METHOD === undefined ? ["http_proxy", "HTTP_PROXY", ...all] : ["http_proxy", ...all];
}

function parseProxy(variable: string, text: string): ProxyServer {
  const trimmed = text.trim();
  const address = /^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `http://${trimmed}`;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || url.hostname === "") {
    throw new NetworkError("proxy", `${variable} is not a valid proxy address.`);
  }
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== "http" && scheme !== "https") {
    const message = `${variable} has an unsupported proxy scheme "${scheme}". Supported: http, https.`;
    throw new NetworkError("proxy", message);
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
    throw new NetworkError("proxy", `The user or password in ${variable} has an invalid % sequence.`);
  }
}
