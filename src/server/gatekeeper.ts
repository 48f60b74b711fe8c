import type { IncomingMessage } from "node:http";
import { can, holders } from "../access/capability.ts";
import type { Cookies } from "./cookies.ts";
import type { Credential } from "./credentials.ts";
import type { Access } from "./origin-check.ts";
import { valuesOf } from "./origin-check.ts";
import type { Answer, Asked, Route } from "./routes.ts";
import { unauthorized } from "./routes.ts";

export type Reason = "host" | "origin" | "token" | "role" | "path" | "method";

export type Verdict =
  | { readonly route: Route; readonly asked: Asked }
  | { readonly refusal: Answer; readonly reason: Reason; readonly route?: Route };

export type Gatekeeper = ReturnType<typeof createGatekeeper>;

export function createGatekeeper(parts: {
  readonly routes: readonly Route[];
  readonly access: Access;
  /** Everyone's credential where there is no authentication. */
  readonly everybody?: Credential;
  readonly byToken: (token: string) => Credential | undefined;
  readonly cookies: Cookies;
}) {
  const { access, everybody, byToken, cookies } = parts;
  const routes = new Map(parts.routes.map((route) => [route.path, route]));

  /** A valid cookie does not make up for an invalid token. */
  function credentialOf(rawHeaders: readonly string[]): {
    readonly found: Credential | undefined;
    readonly by: string;
  } {
    const [given, another] = valuesOf(rawHeaders, "authorization");
    if (given === undefined) return { found: cookies.find(valuesOf(rawHeaders, "cookie")), by: "cookie" };
    const token = another === undefined ? /^Bearer +([\w.~+/-]+=*) *$/i.exec(given)?.[1] : undefined;
    return { found: token === undefined ? undefined : byToken(token), by: "bearer" };
  }

  return {
    /** Checks requests and upgrades in this order: Host, Origin, token, path, role, method. */
    judge({ rawHeaders, url = "", method = "" }: Pick<IncomingMessage, "rawHeaders" | "url" | "method">): Verdict {
      const host = access.host(rawHeaders);
      if (host === undefined) return refuse(403, "host", "Unknown host name. Add it to serve.hosts.");
      // Clients of a proxy may name the server twice, but both names must match.
      const [, named = host, target = url] = /^https?:\/\/([^/?]*)(.*)$/is.exec(url) ?? [];
      if (named.toLowerCase() !== host)
        return refuse(400, "host", "The request's address and Host header name different servers.");
      if (!access.mayAsk(rawHeaders, host))
        return refuse(403, "origin", "This origin is not allowed. Add it to serve.origins.");
      const [path = "", query] = target.split(/\?(.*)/s, 2);
      const route = routes.get(path || "/");
      const { found, by } = everybody === undefined ? credentialOf(rawHeaders) : { found: everybody, by: "bearer" };
      const needed = route?.by;
      const isHead = method === "HEAD" && route?.method === "GET";
      // Link previews must not consume a link.
      const isItsMethod = method === route?.method || (isHead && needed !== "code");
      if (found === undefined && !(needed === "code" && (isItsMethod || isHead)))
        return { refusal: unauthorized, reason: "token" };
      // CONNECT names a target, not a path.
      if (method === "CONNECT") return notAllowed("GET, POST");
      if (route === undefined) return refuse(404, "path", "Not found.");
      if (needed === "bearer" && by !== needed)
        return refuse(403, "role", "This needs a token in the Authorization header.", route);
      if (route.needs !== undefined && (found === undefined || !can(found.identity, route.needs)))
        return refuse(403, "role", `This needs the role ${holders(route.needs)}.`, route);
      if (!isItsMethod) return notAllowed(route.method, route);
      return { route, asked: { credential: found, host, query: new URLSearchParams(query) } };
    },
  };
}

function refuse(code: number, reason: Reason, words: string, route?: Route): Verdict {
  return { refusal: { code, body: `${words}\n` }, reason, ...(route === undefined ? {} : { route }) };
}

function notAllowed(allowed: string, route?: Route): Verdict {
  const refusal = { code: 405, body: `Allowed methods: ${allowed}.\n`, headers: { Allow: allowed } };
  return { refusal, reason: "method", ...(route === undefined ? {} : { route }) };
}
