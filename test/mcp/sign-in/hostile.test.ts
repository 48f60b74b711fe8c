import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { ServerOAuth } from "../../../src/engine/servers/server-entry.ts";
import type { SignInEnd } from "../../../src/mcp/sign-in/server.ts";
import { createSignIns, type ServerSignIn } from "../../../src/mcp/sign-in/sign-ins.ts";
import { FakeClock } from "../../fakes/kit.ts";
import { tempHome } from "../../store/temp-home.ts";
import { start } from "./world.ts";

const url = "https://mcp.example/mcp";
const issuer = "https://auth.example";

type Page = object | string | ((request: RequestInit) => Response | Promise<Response>);

interface Web {
  readonly pages: Record<string, Page>;
  /** Requests to pages, in order. */
  readonly asked: string[];
}

/** A server and its authorization server, of which tests change pages. */
function createWeb(changes: Record<string, Page> = {}): Web {
  return {
    asked: [],
    pages: {
      "https://mcp.example/.well-known/oauth-protected-resource/mcp": {
        resource: url,
        authorization_servers: [issuer],
      },
      [`${issuer}/.well-known/oauth-authorization-server`]: metadata(),
      [`${issuer}/register`]: { client_id: "client-1", redirect_uris: ["https://client.example/answer"] },
      [`${issuer}/token`]: { access_token: "access-token-1", refresh_token: "refresh-token-1", token_type: "Bearer" },
      ...changes,
    },
  };
}

function metadata(changes: object = {}): object {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    response_types_supported: ["code"],
    ...changes,
  };
}

const ofAuthority = `${issuer}/.well-known/oauth-authorization-server`;
const ofServer = "https://mcp.example/.well-known/oauth-protected-resource/mcp";

async function fetchFrom({ pages, asked }: Web, address: string, init: RequestInit): Promise<Response> {
  asked.push(address);
  const page = pages[address];
  if (page === undefined) return new Response("{}", { status: address === url ? 401 : 404 });
  if (typeof page === "function") return page(init);
  return new Response(typeof page === "string" ? page : JSON.stringify(page));
}

interface Bench {
  readonly signIn: ServerSignIn;
  readonly clock: FakeClock;
  readonly home: string;
}

async function openBench(web: Web, oauth: ServerOAuth = {}, address = url): Promise<Bench> {
  const clock = new FakeClock();
  const home = await tempHome();
  const fetch = (input: string | URL, init: RequestInit = {}) => fetchFrom(web, String(input), init);
  const signIns = createSignIns({
    home,
    clock,
    fetch: async () => fetch as typeof globalThis.fetch,
  });
  onTestFinished(() => signIns.close());
  return { signIn: signIns.forServer("remote", address, oauth, "https://client.example/answer"), clock, home };
}

/** The end of a sign-in to which the user would answer with a code. */
async function endOf({ signIn }: Bench): Promise<SignInEnd> {
  return signIn.start(({ state }) => void signIn.finish(state, { code: "code-from-user-1" }));
}

const failed = (why: string): SignInEnd => ({ outcome: "failed", message: `Sign-in to remote failed: ${why}.` });

describe("a server or authorization server that can't be trusted", () => {
  it.each<[name: string, changes: Record<string, Page>, why: string]>([
    [
      "names another server's resource",
      { [ofServer]: { resource: "https://bank.example/mcp", authorization_servers: [issuer] } },
      "remote asks for access to another server (https://bank.example)",
    ],
    [
      "names a part of itself that the address is not in",
      { [ofServer]: { resource: "https://mcp.example/admin", authorization_servers: [issuer] } },
      "remote asks for access to another server (https://mcp.example)",
    ],
    [
      "names an authorization server without https",
      { [ofServer]: { resource: url, authorization_servers: ["http://auth.example"] } },
      "the authorization server's address must use https, got http:",
    ],
    [
      "names an authorization server on this machine",
      { [ofServer]: { resource: url, authorization_servers: ["http://127.0.0.1:8080"] } },
      "the authorization server's address is on this machine (http://127.0.0.1:8080), but the server is not",
    ],
    [
      "has metadata of another issuer",
      { [ofAuthority]: metadata({ issuer: "https://other.example" }) },
      "the metadata of https://auth.example name another issuer",
    ],
    [
      "has a token endpoint without https",
      { [ofAuthority]: metadata({ token_endpoint: "http://auth.example/token" }) },
      "the token endpoint must use https, got http:",
    ],
    [
      "has a sign-in page without https",
      { [ofAuthority]: metadata({ authorization_endpoint: "http://auth.example/authorize" }) },
      "the authorization endpoint must use https, got http:",
    ],
    [
      "has a sign-in page that is a program of the user's machine",
      { [ofAuthority]: metadata({ authorization_endpoint: "ms-msdt:/id" }) },
      "the authorization endpoint must use https, got ms-msdt:",
    ],
    [
      "has a sign-in page that is a script",
      { [ofAuthority]: metadata({ authorization_endpoint: "javascript:alert(1)" }) },
      "the authorization server's answer was not understood",
    ],
    [
      "has a sign-in page with a misleading user name",
      { [ofAuthority]: metadata({ authorization_endpoint: "https://bank.example@auth.example/" }) },
      "the authorization endpoint must not contain a user name",
    ],
    [
      "redirects to another place",
      { [`${issuer}/token`]: () => new Response(null, { status: 307, headers: { location: "http://evil.example/" } }) },
      "the authorization server answered with HTTP 307",
    ],
    [
      "sends endless metadata",
      {
        [ofAuthority]: () =>
          new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) })),
      },
      "https://auth.example sent more than 1 MiB",
    ],
    [
      "sends an endless token",
      { [`${issuer}/token`]: { access_token: "x".repeat(1_100_000), token_type: "Bearer" } },
      "https://auth.example sent more than 1 MiB",
    ],
    [
      "sends a token that breaks headers",
      { [`${issuer}/token`]: { access_token: "a\r\nhost: evil", token_type: "Bearer" } },
      "the access token has invalid characters",
    ],
    [
      "sends tokens of another kind",
      { [`${issuer}/token`]: { access_token: "abc", token_type: "mac" } },
      "the tokens are not bearer tokens",
    ],
    ["sends nonsense", { [ofAuthority]: "<html>" }, "the authorization server's answer was not understood"],
    [
      "does not register clients",
      { [ofAuthority]: metadata({ registration_endpoint: undefined }) },
      "https://auth.example registers no clients. Set oauth.clientId for remote",
    ],
    [
      "refuses to register Tinman",
      {
        [`${issuer}/register`]: () =>
          new Response('{"error":"invalid_redirect_uri","error_description":"\\u001b[2JNot\\nthat one."}', {
            status: 400,
          }),
      },
      "the authorization server did not register Tinman as a client (invalid_redirect_uri: \\u{1b}[2JNot that one)",
    ],
    [
      "has no metadata at all",
      { [ofServer]: () => new Response("", { status: 404 }) },
      "remote does not describe how to sign in",
    ],
  ])("%s", async (_, changes, why) => {
    const web = createWeb(changes);
    expect(await endOf(await openBench(web))).toEqual(failed(why));
    expect(web.asked.filter((address) => !/^https:\/\/(mcp|auth)\.example\//.test(address))).toEqual([]);
  });

  it("never answers", async () => {
    const hangs = (request: RequestInit) =>
      new Promise<Response>((_, reject) =>
        request.signal?.addEventListener("abort", () => reject(new Error("aborted"))),
      );
    const web = createWeb({ [ofAuthority]: hangs });
    const bench = await openBench(web);
    const ended = endOf(bench);
    await vi.waitFor(() => expect(web.asked).toContain(ofAuthority));
    bench.clock.advance(30_000);
    expect(await ended).toEqual(failed("https://auth.example did not answer within 30 seconds"));
  });

  it("is reached without https itself", async () => {
    const bench = await openBench(createWeb(), {}, "http://mcp.example/mcp");
    expect(await endOf(bench)).toEqual(failed("the address of remote must use https, got http:"));
  });
});

describe("what the configuration says", () => {
  it("chooses the authorization server, the resource and the scopes", async () => {
    const web = createWeb({ [ofServer]: { resource: url, authorization_servers: ["https://other.example"] } });
    const { signIn } = await openBench(web, {
      issuer,
      resource: "https://mcp.example",
      scopes: ["a", "b"],
      clientId: "own",
    });
    const { searchParams, origin } = new URL((await start(signIn)).pending.url);
    expect([origin, ...["client_id", "resource", "scope"].map((name) => searchParams.get(name))]).toEqual([
      issuer,
      "own",
      "https://mcp.example",
      "a b",
    ]);
  });

  it("can leave the resource out", async () => {
    const { signIn } = await openBench(createWeb(), { resource: false });
    expect(new URL((await start(signIn)).pending.url).searchParams.has("resource")).toBe(false);
  });

  it("names a published client, where the authorization server knows such", async () => {
    const published = "https://tinman.example/client.json";
    const web = createWeb({ [ofAuthority]: metadata({ client_id_metadata_document_supported: true }) });
    const { signIn } = await openBench(web, { clientMetadataUrl: published });
    expect(new URL((await start(signIn)).pending.url).searchParams.get("client_id")).toBe(published);
    expect(web.asked).not.toContain(`${issuer}/register`);
  });

  it.each(["javascript:alert(1)", "http://client.example/answer", "data:text/html,x", "nothing"])(
    "can't receive answers at %s",
    async (callback) => {
      const { home, clock } = await openBench(createWeb());
      const web = createWeb();
      const fetch = (input: string | URL, init: RequestInit = {}) => fetchFrom(web, String(input), init);
      const options = { home, clock, fetch: async () => fetch as typeof globalThis.fetch };
      const signIn = createSignIns(options).forServer("remote", url, {}, callback);
      expect((await signIn.start(() => {})).message).toMatch(/^Sign-in to remote failed: the callback address /);
    },
  );
});

describe("secrets", () => {
  it("are not in messages, events or output, even if the authorization server repeats them", async () => {
    const written: string[] = [];
    for (const stream of [process.stdout, process.stderr]) {
      const spy = vi.spyOn(stream, "write").mockImplementation((text) => written.push(String(text)) > 0);
      onTestFinished(() => spy.mockRestore());
    }
    for (const method of ["log", "warn", "error", "info", "debug"] as const) {
      const spy = vi.spyOn(console, method).mockImplementation((...words) => void written.push(words.join(" ")));
      onTestFinished(() => spy.mockRestore());
    }
    const secrets: string[] = ["code-from-user-1", "client-secret-1", "access-token-1", "refresh-token-1"];
    const repeats = (code: string, more: string) => (request: RequestInit) => {
      const body = String(request.body);
      const verifier = new URLSearchParams(body).get("code_verifier");
      if (verifier !== null) secrets.push(verifier);
      const json = JSON.stringify({ error: code, error_description: `Received ${body} ${more}` });
      return new Response(code === "" ? body : json, { status: 400 });
    };
    const oauth = { clientId: "own", clientSecret: "client-secret-1", authMethod: "client_secret_post" } as const;
    const shown: unknown[] = [];
    for (const code of ["invalid_request", "server_error", "invalid_grant", ""]) {
      const web = createWeb({ [`${issuer}/token`]: repeats(code, "") });
      shown.push(await endOf(await openBench(web, oauth)));
    }

    const web = createWeb();
    const bench = await openBench(web, oauth);
    shown.push(await endOf(bench));
    const path = join(bench.home, "mcp", "tokens.json");
    expect(await readFile(path, "utf8")).toContain("access-token-1");
    // The stored token is refused, and the authorization server repeats the refresh token.
    expect(await bench.signIn.authProvider.token()).toBe("access-token-1");
    bench.clock.advance(10_000);
    for (const code of ["invalid_request", ""]) {
      web.pages[`${issuer}/token`] = repeats(code, "access-token-1");
      const refused = { response: new Response("", { status: 401 }), serverUrl: new URL(url), fetchFn: fetch };
      const failure = await bench.signIn.authProvider.onUnauthorized?.(refused).catch((error: unknown) => error);
      shown.push(failure, String(failure), (failure as Error).stack, (failure as Error).cause);
    }
    const seen = `${JSON.stringify(shown)} ${shown.join(" ")} ${written.join(" ")}`;
    expect(shown.length).toBe(13);
    expect(seen).toContain("could not be renewed");
    expect(secrets.filter((secret) => seen.includes(secret))).toEqual([]);
  });
});
