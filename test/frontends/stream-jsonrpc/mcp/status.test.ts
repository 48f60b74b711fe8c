import { describe, expect, test } from "vitest";
import type { ServerState } from "../../../../src/engine/servers/server-state.ts";
import { says } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { fromServer } from "../../../fakes/rpc/published-examples.ts";
import { strict } from "../../../fakes/rpc/sdk-strict.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import { createFakeServers } from "../../../fakes/tool-servers.ts";
import { type Served, serve } from "../connection/served.ts";
import { load, only, share } from "../shared/sharing.ts";

const linear: ServerState = { name: "linear", status: "connecting", source: "user", kind: "http", hasTokens: true };
const apikit: ServerState = { ...linear, name: "apikit", hasTokens: false };
const connected: ServerState = { ...linear, status: "connected", toolCount: 2 };
const signIn = { url: "https://a.example/authorize", message: "Sign in to linear.", state: "s-1" };

function faultsOf({ client }: Served): readonly string[] {
  return client.received.flatMap((message) => strict.message(message, client.methods));
}

describe("mcp_status_changed", () => {
  test("is as published, once on opening and then only when something has changed", async () => {
    const servers = createFakeServers();
    servers.states = [linear, apikit];
    const served = serve([], { servers: servers.open });
    const { client, init } = served;
    await init();
    expect(await client.notice("mcp_status_changed")).toEqual(noticesIn([fromServer.mcpStatus])[0]);
    expect(storyOf(client.received)).toEqual(["settings_updated", "mcp_status_changed", "result r1"]);

    const failed: ServerState = { ...apikit, status: "failed", error: "It answered with status 500." };
    servers.change("linear", connected, apikit);
    servers.change("linear", connected, apikit);
    servers.change("apikit", connected, failed);
    const { result } = await client.request("droid.list_mcp_servers", {});
    const { type, ...last } = only(served, "mcp_status_changed").at(-1) ?? {};
    expect(only(served, type ?? "").length).toBe(3);
    expect(last).toEqual(result);
    expect(result).toEqual({
      servers: [
        {
          name: "linear",
          source: "user",
          isManaged: false,
          status: "connected",
          serverType: "http",
          hasAuthTokens: true,
          toolCount: 2,
        },
        {
          name: "apikit",
          source: "user",
          isManaged: false,
          status: "failed",
          serverType: "http",
          hasAuthTokens: false,
          error: "It answered with status 500.",
        },
      ],
      summary: { total: 2, connected: 1, connecting: 0, failed: 1, disabled: 0 },
    });
    expect(faultsOf(served)).toEqual([]);
  });

  test("comes before everything that servers say while the session opens", async () => {
    const servers = createFakeServers();
    const { client, init } = serve([], {
      servers: (session) => {
        const opened = servers.open(session);
        servers.states = [connected];
        queueMicrotask(() => {
          session.tell({ type: "servers.changed", servers: [connected], changed: "linear" });
          session.tell({ type: "sign-in.ended", server: "linear", outcome: "success", message: "Signed in." });
        });
        return opened;
      },
    });
    await init();
    expect(storyOf(client.received)).toEqual([
      "settings_updated",
      "mcp_status_changed",
      "mcp_auth_completed",
      "result r1",
    ]);
  });

  test("names the words of each source and kind, and a sign-in that waits", async () => {
    const servers = createFakeServers();
    servers.states = [
      { name: "own", status: "disabled", source: "user", kind: "stdio" },
      { name: "shared", status: "disconnected", source: "project", kind: "sse", needsSignIn: true, signIn },
    ];
    const served = serve([], { servers: servers.open });
    await served.init();
    expect((await served.client.request("droid.list_mcp_servers", {})).result).toEqual({
      servers: [
        { name: "own", source: "user", isManaged: false, status: "disabled", serverType: "stdio" },
        {
          name: "shared",
          source: "project",
          isManaged: false,
          status: "disconnected",
          serverType: "sse",
          hasAuthTokens: false,
          requiresAuth: true,
          pendingAuthUrl: signIn.url,
          pendingAuthMessage: signIn.message,
          pendingAuthState: signIn.state,
        },
      ],
      summary: { total: 2, connected: 0, connecting: 0, failed: 0, disabled: 1 },
    });
    expect(faultsOf(served)).toEqual([]);
  });

  test("is known without a session: there are no servers", async () => {
    const { client } = serve([]);
    expect((await client.request("droid.list_mcp_servers", {})).result).toEqual({
      servers: [],
      summary: { total: 0, connected: 0, connecting: 0, failed: 0, disabled: 0 },
    });
  });
});

describe("a sign-in", () => {
  test("is announced and ended as published, while the turn goes on", async () => {
    const servers = createFakeServers();
    const served = serve([says("done")], { servers: servers.open });
    const { client, init, say } = served;
    await init();
    const [opened] = servers.opened;
    opened?.tell({ type: "sign-in.required", server: "linear", ...signIn });
    const required = await client.notice("mcp_auth_required");
    expect(required).toEqual({
      type: "mcp_auth_required",
      serverName: "linear",
      authUrl: signIn.url,
      message: signIn.message,
      state: signIn.state,
    });
    expect(Object.keys(required)).toEqual(expect.arrayContaining(Object.keys(noticesIn([fromServer.signIn])[0] ?? {})));
    await say("go");
    await client.state("idle");
    opened?.tell({ type: "sign-in.ended", server: "linear", outcome: "cancelled", message: "It was cancelled." });
    expect(await client.notice("mcp_auth_completed")).toEqual({
      type: "mcp_auth_completed",
      serverName: "linear",
      outcome: "cancelled",
      message: "It was cancelled.",
    });
    expect(faultsOf(served)).toEqual([]);
  });

  test("shows its link only to clients that can answer it", async () => {
    const servers = createFakeServers();
    servers.states = [{ ...linear, needsSignIn: true, signIn }];
    const { begin, attach } = share([], { servers: servers.open });
    const ann = await begin();
    const admin = await attach(ann.sessionId, { user: "root", role: "admin" });
    servers.opened[0]?.tell({ type: "sign-in.required", server: "linear", ...signIn });
    await admin.client.notice("mcp_auth_required");
    servers.change("linear", connected);
    await ann.client.waitFor((message) => JSON.stringify(message).includes('"connected":1'));
    expect(JSON.stringify(ann.client.received)).toContain('"requiresAuth":true');
    expect(JSON.stringify(ann.client.received)).not.toContain(signIn.url);
    expect(JSON.stringify(only(admin, "mcp_status_changed"))).toContain(signIn.url);
  });
});

describe("the servers that a client names", () => {
  const given = [
    { name: "files", command: "files", args: ["-x"], env: { A: "b" } },
    { name: "web", type: "http", url: "https://a.example/mcp", headers: [{ name: "X", value: "y" }], oauth: false },
    {
      name: "old",
      type: "sse",
      url: "https://b.example/",
      headers: { X: "y" },
      oauth: { clientId: "c", authorizationServerIssuer: "i", tokenEndpointAuthMethod: "none" },
    },
  ];
  const entries = [
    { name: "files", entry: { kind: "stdio", command: "files", args: ["-x"], env: { A: "b" } } },
    { name: "web", entry: { kind: "http", url: "https://a.example/mcp", headers: { X: "y" }, oauth: false } },
    {
      name: "old",
      entry: {
        kind: "sse",
        url: "https://b.example/",
        headers: { X: "y" },
        oauth: { clientId: "c", issuer: "i", authMethod: "none" },
      },
    },
  ];

  test("reach the session that is created or loaded, with the address for sign-ins", async () => {
    const servers = createFakeServers();
    const first = serve([says("ok")], { servers: servers.open });
    const { result } = await first.init({ mcpServers: given, mcpOAuthCallbackUri: "https://c.example/back" });
    await first.say("go");
    await first.client.state("idle");
    first.client.end();
    await first.over;
    const second = serve([], { kit: first.kit });
    await load(second, String(result?.sessionId), { mcpServers: given });
    expect(servers.opened).toMatchObject([
      { given: entries, callbackUri: "https://c.example/back" },
      { given: entries },
    ]);
    expect(servers.opened[1]?.callbackUri).toBeUndefined();
  });

  test("replace those of the command line that have their names; of two with one name, the last one counts", async () => {
    const servers = createFakeServers();
    const of = (name: string, command: string) =>
      ({ name, entry: { kind: "stdio", command, args: [], env: {} } }) as const;
    const { init } = serve([], { servers: servers.open, run: { servers: [of("a", "line"), of("b", "line")] } });
    await init({
      mcpServers: [
        { name: "a", command: "first" },
        { name: "a", command: "last" },
      ],
    });
    expect(servers.opened[0]?.given).toEqual([of("b", "line"), of("a", "last")]);
  });

  test.each([
    ["no object", "files", "server 1", /must be an object/],
    ["no name", { command: "x" }, "server 1", /name is missing/],
    ["a name that leads elsewhere", { name: "../x", command: "x" }, "../x", /letters, digits/],
    ["a name with the separator", { name: "a___b", command: "x" }, "a___b", /must not contain ___/],
    ["a name with a line end", { name: "a\nb", command: "x" }, "a b", /letters, digits/],
    ["no command", { name: "a", type: "stdio" }, "a", /Command is required for stdio MCP servers/],
    ["no address", { name: "a", type: "sse" }, "a", /URL is required for sse MCP servers/],
    ["another kind of address", { name: "a", url: "file:///etc/passwd" }, "a", /http or https/],
    ["numbers as arguments", { name: "a", command: "x", args: [1] }, "a", /args\[0\] must be a string/],
    ["an unknown type", { name: "a", type: "pigeon", command: "x" }, "a", /type must be one of/],
  ])("fail with words if they cannot be used: %s", async (_, entry, name, error) => {
    const servers = createFakeServers();
    const { client, init } = serve([], { servers: servers.open });
    const answer = await init({ mcpServers: [entry, { name: "good", command: "good" }] });
    expect(answer.error).toBeUndefined();
    expect(servers.opened[0]?.given.map(({ name: each }) => each)).toEqual(["good"]);
    const failed = { name, source: "dynamic", isManaged: false, status: "failed", error: expect.stringMatching(error) };
    expect(await client.notice("mcp_status_changed")).toMatchObject({ servers: [failed], summary: { failed: 1 } });
    servers.change("linear", linear);
    expect((await client.request("droid.list_mcp_servers", {})).result).toMatchObject({
      servers: [{ name: "linear" }, failed],
      summary: { total: 2 },
    });
  });

  test("are bounded", async () => {
    const servers = createFakeServers();
    const { client, init } = serve([], { servers: servers.open });
    await init({ mcpServers: Array.from({ length: 70 }, (_, index) => ({ name: `s${index}`, command: "x" })) });
    expect(servers.opened[0]?.given.length).toBe(64);
    expect(await client.notice("mcp_status_changed")).toMatchObject({ summary: { failed: 6 } });
  });

  test("do not join a session that is open already, which is said", async () => {
    const servers = createFakeServers();
    servers.states = [{ name: "files", status: "connected", source: "client", kind: "stdio" }];
    const { begin, connect } = share([], { servers: servers.open });
    const admin = { user: "root", role: "admin" } as const;
    const first = await begin(admin);
    const second = connect(admin);
    await load(second, first.sessionId, { mcpServers: [given[0], given[1]] });
    await load(second, first.sessionId, { mcpServers: [given[0]] });
    expect(only(second, "notice")).toMatchObject([
      {
        level: "warning",
        message:
          "The session is open already, so it did not get these MCP servers: web. They join it when it is opened again.",
      },
    ]);
    expect(servers.opened.length).toBe(1);
  });

  test("must come as a list, and the address for sign-ins must be one", async () => {
    const { init } = serve([]);
    expect((await init({ mcpServers: {} })).error).toMatchObject({ code: -32602 });
    expect((await init({ mcpOAuthCallbackUri: "nowhere" })).error).toMatchObject({
      code: -32602,
      message: "mcpOAuthCallbackUri must be an address",
    });
  });
});
