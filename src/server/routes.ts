import type { Capability } from "../access/capability.ts";
import type { Cookies } from "./cookies.ts";
import type { Credential } from "./credentials.ts";
import type { Metrics } from "./metrics.ts";

export interface Answer {
  readonly code: number;
  readonly body: string;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Why the route refuses a client that the gatekeeper accepted. */
  readonly refused?: "code";
}

/** A request that passed the gatekeeper. */
export interface Asked {
  /** Undefined only where a code takes the place of the token. */
  readonly credential: Credential | undefined;
  /** The client's name for this server. */
  readonly host: string;
  readonly query: URLSearchParams;
}

export interface Route {
  readonly path: string;
  readonly method: "GET" | "POST";
  /** The capability that a client needs; absent: any token. */
  readonly needs?: Capability;
  /** `bearer`: a cookie is not enough. `code`: the route checks a code instead of a token. */
  readonly by?: "bearer" | "code";
  /** The path of a WebSocket. */
  readonly upgrades?: true;
  answer(asked: Asked): Answer | Promise<Answer>;
}

export const json = (code: number, value: object): Answer => ({
  code,
  body: `${JSON.stringify(value)}\n`,
  type: "application/json",
});

/** All routes of the server. */
export function createRoutes(parts: {
  readonly mounted: readonly string[];
  readonly needs: Readonly<Record<string, Capability>>;
  readonly cookies: Cookies;
  readonly metrics: Metrics;
  readonly origins: readonly string[];
  readonly isDraining: () => boolean;
}): readonly Route[] {
  const { mounted, needs, cookies, metrics, origins, isDraining } = parts;
  const about = `tinman serve ${TINMAN_VERSION}\n\nWebSocket: ${mounted.join(", ")}\nAlso: /healthz /readyz /metrics\n`;
  return [
    { path: "/", method: "GET", answer: () => ({ code: 200, body: about }) },
    { path: "/healthz", method: "GET", answer: () => json(200, { status: "ok" }) },
    {
      path: "/readyz",
      method: "GET",
      answer: () => (isDraining() ? json(503, { status: "draining" }) : json(200, { status: "ok" })),
    },
    {
      path: "/metrics",
      method: "GET",
      needs: "metrics",
      answer: async () => ({ code: 200, ...(await metrics.text()) }),
    },
    {
      path: "/links",
      method: "POST",
      by: "bearer",
      answer({ credential, host }) {
        if (credential === undefined) return unauthorized;
        const origin = origins.find((one) => new URL(one).host === host) ?? `http://${host}`;
        return json(200, { url: `${origin}/enter?code=${cookies.link(credential, origin)}` });
      },
    },
    {
      path: "/enter",
      method: "GET",
      by: "code",
      answer({ query }) {
        const cookie = cookies.enter(query.get("code") ?? "");
        if (cookie === undefined)
          return { ...unauthorized, body: "This link was already used or has expired.\n", refused: "code" };
        return { code: 200, body: entered, type: "text/html; charset=utf-8", headers: { "Set-Cookie": cookie } };
      },
    },
    ...mounted.map(
      (path): Route => ({
        path,
        method: "GET",
        ...(needs[path] === undefined ? {} : { needs: needs[path] }),
        upgrades: true,
        answer: () => ({
          code: 426,
          body: "This path needs a WebSocket.\n",
          headers: { Upgrade: "websocket", Connection: "Upgrade" },
        }),
      }),
    ),
  ];
}

/**
 * A page rather than a redirect: after a link from another site, browsers send a strict cookie only when a page of this
 * server leads on.
 */
const entered = `<!doctype html>
<meta http-equiv="refresh" content="0;url=/">
<title>tinman serve</title>
<a href="/">Continue</a>
`;

export const unauthorized: Answer = {
  code: 401,
  body: "A token is required.\n",
  headers: { "WWW-Authenticate": "Bearer" },
};
