import { AgentError } from "../engine/errors.ts";

export const defaultAddress = "ws://127.0.0.1:8000/ws";

const schemes: Readonly<Record<string, string>> = { "ws:": "ws:", "wss:": "wss:", "http:": "ws:", "https:": "wss:" };

/** The server's address. `http` means `ws`, a bare host gets the scheme, and the default path is `/ws`. */
export function parseAddress(given: string): URL {
  const text = given.includes("://") ? given : `ws://${given}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.hostname === "")
    throw new AgentError("usage", `Invalid address "${given}". Use one such as ${defaultAddress}.`);
  const scheme = schemes[url.protocol];
  if (scheme === undefined)
    throw new AgentError("usage", `Unsupported scheme ${url.protocol}// in the address. Use ws:// or wss://.`);
  if (url.username !== "" || url.password !== "")
    throw new AgentError(
      "usage",
      "The address must not contain a user or password, because others can read it. Use --token-file.",
    );
  const path = url.pathname === "/" ? "/ws" : url.pathname;
  return new URL(`${scheme}//${url.host}${path}${url.search}`);
}

export function isLoopback({ hostname }: URL): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);
}
