import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import Provider from "oidc-provider";
import { onTestFinished } from "vitest";
import type { Clock } from "../../../src/engine/ports.ts";
import type { ServerOAuth } from "../../../src/engine/servers/server-entry.ts";
import type { PendingSignIn } from "../../../src/engine/servers/server-state.ts";
import { systemClock } from "../../../src/host/clock-and-ids.ts";
import type { SignInEnd } from "../../../src/mcp/sign-in/server.ts";
import { createSignIns, type ServerSignIn, type SignIns } from "../../../src/mcp/sign-in/sign-ins.ts";
import { createFetch } from "../../../src/net/http/fetch.ts";
import { createNetwork } from "../../../src/net/network.ts";
import { FakeClock } from "../../fakes/kit.ts";
import { tempHome } from "../../store/temp-home.ts";

export interface Listening {
  readonly origin: string;
  answer: RequestListener;
  close(): Promise<void>;
}

/** An HTTP server on loopback whose answers can change. */
export async function listen(answer: RequestListener = () => {}): Promise<Listening> {
  const server = createServer((request, response) => own.answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const own: Listening = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return own;
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly provider: Provider;
  /** Grant types of token requests, and registrations, in order. */
  readonly seen: string[];
  close(): Promise<void>;
}

export const redirectOfClient = "https://client.example/mcp/answer";

/** A real authorization server. Its access tokens live for an hour. */
export async function startAuthorizationServer(): Promise<AuthorizationServer> {
  const listening = await listen();
  const issuer = listening.origin;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: "configured",
        client_secret: "configured-secret-1",
        redirect_uris: [redirectOfClient],
        token_endpoint_auth_method: "client_secret_post",
        grant_types: ["authorization_code", "refresh_token"],
      },
    ],
    features: {
      registration: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({ scope: "tools admin", accessTokenTTL: 3600, accessTokenFormat: "opaque" }),
        useGrantedResource: () => true,
      },
    },
    scopes: ["openid", "offline_access", "tools", "admin"],
    issueRefreshToken: async () => true,
    cookies: { keys: ["a key for tests"] },
    // Set, because the defaults print advice.
    ttl: { Interaction: 60, Session: 60, Grant: 7200, AccessToken: 3600, RefreshToken: 7200 },
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  });
  const callback = provider.callback();
  const seen: string[] = [];
  listening.answer = (request, response) => {
    if (request.url === "/reg") seen.push("registration");
    if (request.url === "/token") {
      request.on("data", (piece: Buffer) => seen.push(new URLSearchParams(piece.toString()).get("grant_type") ?? ""));
    }
    callback(request, response);
  };
  return { issuer, provider, seen, close: listening.close };
}

export interface ProtectedServer {
  readonly url: string;
  /** The protected resource metadata, which tests change. */
  metadata: object;
  /** The scope that it asks for. */
  scope: string;
  /** Access tokens of its requests, in order, without repetitions. */
  readonly used: string[];
  close(): Promise<void>;
}

/** An MCP server with one tool, for holders of a token for it. */
export async function startProtectedServer({ issuer, provider }: AuthorizationServer): Promise<ProtectedServer> {
  const listening = await listen();
  const { origin, close } = listening;
  const url = `${origin}/mcp`;
  const where = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const own: ProtectedServer = {
    url,
    metadata: { resource: url, authorization_servers: [issuer] },
    scope: "tools",
    used: [],
    close,
  };
  listening.answer = async (request, response) => {
    const json = (status: number, value: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    };
    if (`${origin}${request.url}` === where) return json(200, own.metadata);
    if (request.url !== "/mcp") return json(404, {});
    const given = request.headers.authorization?.replace(/^Bearer /, "");
    const token = given === undefined ? undefined : await provider.AccessToken.find(given);
    const challenge = (error: string) => ({
      "www-authenticate": `Bearer ${error}resource_metadata="${where}", scope="${own.scope}"`,
    });
    if (given === undefined || token === undefined || token.aud !== url) return json(401, {}, challenge(""));
    if (own.used.at(-1) !== given) own.used.push(given);
    if (!own.scope.split(" ").every((scope) => token.scope.split(" ").includes(scope))) {
      return json(403, {}, challenge('error="insufficient_scope", '));
    }
    if (request.method !== "POST") return json(405, {});
    let text = "";
    for await (const piece of request) text += piece;
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return response.writeHead(202).end();
    const results: Record<string, unknown> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "protected", version: "1.0.0" },
      },
      "tools/list": { tools: [{ name: "echo", inputSchema: { type: "object" } }] },
    };
    const error = { code: -32601, message: "Method not found" };
    json(200, { jsonrpc: "2.0", id, ...(method in results ? { result: results[method] } : { error }) });
  };
  return own;
}

export interface Home {
  readonly home: string;
  readonly clock: FakeClock;
  readonly signIns: SignIns;
}

/** Sign-ins over the program's own HTTP, with the program's own lock. */
export async function openHome(given: { readonly home?: string; readonly time?: Clock } = {}): Promise<Home> {
  const home = given.home ?? (await tempHome());
  const clock = new FakeClock();
  const { time } = given;
  // Waiting for another process's lock needs a real timer.
  const used = time === undefined ? clock : { ...systemClock, now: () => time.now() };
  const network = createNetwork({});
  const fetch = createFetch(network, { connectMs: 5_000, firstByteMs: 5_000, idleMs: 5_000 });
  const signIns = createSignIns({ home, clock: used, fetch: async () => fetch });
  onTestFinished(async () => {
    await signIns.close();
    network.close();
  });
  return { home, clock, signIns };
}

/** Lists the server's tools as a session would. */
export async function toolsOf(url: string, { authProvider }: ServerSignIn): Promise<readonly string[]> {
  const client = new Client({ name: "test", version: "1.0.0" });
  try {
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { authProvider }));
    return (await client.listTools()).tools.map(({ name }) => name);
  } finally {
    await client.close();
  }
}

export interface Started {
  readonly pending: PendingSignIn;
  readonly ended: Promise<SignInEnd>;
}

/** Fails with the sign-in's words if it ends before the user can sign in. */
export async function start(signIn: ServerSignIn): Promise<Started> {
  let ended: Promise<SignInEnd> | undefined;
  const pending = await new Promise<PendingSignIn>((resolve, reject) => {
    ended = signIn.start(resolve);
    void ended.then(({ message }) => reject(new Error(message)));
  });
  return { pending, ended: ended as unknown as Promise<SignInEnd> };
}

/** Asks for tools without tokens, as a session does first, and starts the sign-in that this asks for. */
export async function startAfterRefusal(url: string, signIn: ServerSignIn): Promise<Started> {
  const refused = await toolsOf(url, signIn).catch((error: unknown) => error);
  if (!(await signIn.isNeeded(refused))) throw new Error(`No sign-in is needed: ${String(refused)}`);
  return start(signIn);
}

/** Signs in with a browser that presses every button, and returns to the callback server. */
export async function signInWithBrowser(url: string, signIn: ServerSignIn): Promise<SignInEnd> {
  const { browse } = await import("./browser.ts");
  const { pending, ended } = await startAfterRefusal(url, signIn);
  await fetch(await browse(pending.url));
  return ended;
}

export function serverOf({ signIns }: Home, url: string, oauth?: ServerOAuth, callbackUri?: string): ServerSignIn {
  return signIns.forServer("protected", url, oauth, callbackUri);
}
