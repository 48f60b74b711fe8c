import { describe, expect, test } from "vitest";
import { deferred } from "../../../../src/async/promises.ts";
import type { SignInOutcome } from "../../../../src/engine/servers/server-state.ts";
import type { ToolServers } from "../../../../src/engine/servers/tool-servers.ts";
import { says } from "../../../fakes/kit.ts";
import { strict } from "../../../fakes/rpc/sdk-strict.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { createFakeServers, type FakeServers } from "../../../fakes/tool-servers.ts";
import { type ServeOptions, serve } from "../connection/served.ts";
import { share } from "../shared/sharing.ts";

type Acts = FakeServers["acts"];

async function withActs(acts: Acts, options: ServeOptions = {}) {
  const servers = createFakeServers();
  servers.acts = acts;
  const served = serve([], { servers: servers.open, ...options });
  await served.init(options.later === false ? { autonomyLevel: "normal" } : {});
  const call = (method: string, params: object = {}): Promise<Received> =>
    served.client.request(`droid.${method}`, params);
  return { ...served, call };
}

const answered = ({ id, result, error }: Received): object => result ?? { id, ...error };
const failedWith = (code: number, message: string): object => ({ id: expect.any(String), code, message });

describe("the tools of servers", () => {
  test("are listed with what the client's SDK accepts of their schemas", async () => {
    const inventory: ToolServers["inventory"] = () => [
      {
        server: "linear",
        name: "create",
        description: "Creates.",
        isEnabled: true,
        isReadOnly: false,
        inputSchema: {
          type: ["object", "null"],
          properties: { title: { type: "string" }, anything: true },
          required: "title",
          additionalProperties: false,
        },
      },
      { server: "linear", name: "look", isEnabled: false, isReadOnly: true, inputSchema: { type: "object" } },
      { server: "files", name: "odd", isEnabled: true, inputSchema: true },
    ];
    const { call, client } = await withActs({ inventory });
    expect(answered(await call("list_mcp_tools"))).toEqual({
      tools: [
        {
          serverName: "linear",
          name: "create",
          description: "Creates.",
          isEnabled: true,
          isReadOnly: false,
          inputSchema: { properties: { title: { type: "string" } }, additionalProperties: false },
        },
        { serverName: "linear", name: "look", isEnabled: false, isReadOnly: true, inputSchema: { type: "object" } },
        { serverName: "files", name: "odd", isEnabled: true },
      ],
    });
    expect(client.received.flatMap((message) => strict.message(message, client.methods))).toEqual([]);
  });

  test("need a session; the registry is empty", async () => {
    const { client } = serve([]);
    expect(answered(await client.request("droid.list_mcp_registry", {}))).toEqual({ servers: [] });
    for (const [method, params] of [
      ["list_mcp_tools", {}],
      ["remove_mcp_server", { serverName: "a" }],
    ] as const) {
      expect(answered(await client.request(`droid.${method}`, params))).toMatchObject({ code: -32603 });
    }
  });
});

describe("configuring servers", () => {
  test("passes on what the client wants", async () => {
    const done: unknown[] = [];
    const note =
      <T>(value: T) =>
      async (...given: readonly unknown[]): Promise<T> => {
        done.push(given);
        return value;
      };
    const { call } = await withActs({
      add: note(undefined),
      remove: note(true),
      setEnabled: note(true),
      setToolEnabled: note(true),
    });
    const success = { success: true };
    const added = { name: "a", type: "http", url: "https://a.example/", headers: { X: "y" }, oauth: { scopes: ["s"] } };
    expect(answered(await call("add_mcp_server", added))).toEqual(success);
    const level = { settingsLevel: "user" };
    expect(answered(await call("toggle_mcp_server", { serverName: "a", enabled: false, ...level }))).toEqual(success);
    expect(answered(await call("toggle_mcp_tool", { serverName: "a", toolName: "t", enabled: true }))).toEqual(success);
    expect(answered(await call("remove_mcp_server", { serverName: "a", ...level }))).toEqual(success);
    expect(done).toEqual([
      [
        {
          name: "a",
          entry: { kind: "http", url: "https://a.example/", headers: { X: "y" }, oauth: { scopes: ["s"] } },
        },
      ],
      ["a", false],
      ["a", "t", true],
      ["a"],
    ]);
  });

  const unknown = "MCP server not found in configuration";
  test.each([
    ["add_mcp_server", { name: "a", type: "stdio" }, failedWith(-32602, "Command is required for stdio MCP servers")],
    ["add_mcp_server", { name: "a", type: "http" }, failedWith(-32602, "URL is required for http MCP servers")],
    [
      "add_mcp_server",
      { name: "a___b", type: "stdio", command: "x" },
      failedWith(-32602, "The server's name must not contain ___."),
    ],
    ["remove_mcp_server", { serverName: "x" }, failedWith(-32603, unknown)],
    ["toggle_mcp_server", { serverName: "x", enabled: true }, failedWith(-32603, unknown)],
    ["toggle_mcp_tool", { serverName: "x", toolName: "y", enabled: true }, failedWith(-32603, "MCP tool not found")],
    ["authenticate_mcp_server", { serverName: "x" }, failedWith(-32603, "Server not found")],
    ["cancel_mcp_auth", { serverName: "x" }, failedWith(-32603, "Server not found")],
    ["clear_mcp_auth", { serverName: "x" }, failedWith(-32603, "Server not found")],
    ["submit_mcp_auth_code", { serverName: "x", code: "c", state: "s" }, { success: false }],
    ["submit_mcp_auth_error", { serverName: "x", error: "denied", state: "s" }, { success: false }],
  ])("answers %s with %j honestly", async (method, params, expected) => {
    for (const later of [true, false]) {
      const { call } = await withActs({}, { later });
      expect(answered(await call(method, params))).toMatchObject(expected);
    }
  });

  test("a request without its params is malformed, in each dialect's way", async () => {
    const { call } = await withActs({});
    expect(answered(await call("add_mcp_server", { type: "stdio", command: "x" }))).toMatchObject({
      id: "r2",
      code: -32602,
      message: expect.stringContaining("name is missing"),
    });
    const early = await withActs({}, { later: false });
    expect(answered(await early.call("add_mcp_server", { type: "stdio", command: "x" }))).toMatchObject({
      id: null,
      code: -32600,
    });
  });

  test("is for those who can act on this machine; everyone can look", async () => {
    const servers = createFakeServers();
    const { begin } = share([], { servers: servers.open });
    const ann = await begin();
    for (const [method, params] of [
      ["add_mcp_server", { name: "a", type: "stdio", command: "rm" }],
      ["toggle_mcp_server", { serverName: "a", enabled: true }],
      ["submit_mcp_auth_code", { serverName: "a", code: "c", state: "s" }],
      ["initialize_session", { machineId: "m", cwd: "/ws", mcpServers: [{ name: "a", url: "http://127.0.0.1/" }] }],
    ] as const) {
      expect(answered(await ann.client.request(`droid.${method}`, params))).toMatchObject({ code: -32602 });
    }
    expect(answered(await ann.client.request("droid.list_mcp_servers", {}))).toMatchObject({ summary: { total: 0 } });
  });
});

describe("signing in", () => {
  test("responds when it has ended, and other requests get through meanwhile", async () => {
    const ended = deferred<SignInOutcome>();
    const finished: unknown[] = [];
    const { call, client } = await withActs({
      signIn: async () => ended.promise,
      finishSignIn: async (...given) => {
        finished.push(given);
        ended.resolve("success");
        return true;
      },
    });
    const mark = client.mark;
    const signingIn = call("authenticate_mcp_server", { serverName: "a" });
    expect(answered(await call("list_mcp_tools"))).toEqual({ tools: [] });
    expect(client.received.slice(mark).length).toBe(1);
    const code = { serverName: "a", code: "c", state: "s" };
    expect(answered(await call("submit_mcp_auth_code", code))).toEqual({ success: true });
    expect(answered(await signingIn)).toEqual({ success: true });
    await call("submit_mcp_auth_error", { serverName: "a", error: "e", errorDescription: "d", state: "s" });
    expect(finished).toEqual([
      ["a", "s", { code: "c" }],
      ["a", "s", { error: "e", description: "d" }],
    ]);
  });

  test.each(["cancelled", "failed"] as const)("that %s is no success", async (outcome) => {
    const { call } = await withActs({ signIn: async () => outcome, cancelSignIn: async () => true });
    expect(answered(await call("authenticate_mcp_server", { serverName: "a" }))).toEqual({ success: false });
    expect(answered(await call("cancel_mcp_auth", { serverName: "a" }))).toEqual({ success: true });
  });
});

describe("what a session offers", () => {
  const prompts: ToolServers["prompts"] = () => [
    {
      server: "linear",
      name: "summary",
      description: "Sums up.",
      arguments: [
        { name: "issue", required: true },
        { name: "style", required: false },
      ],
    },
    { server: "linear", name: "all", arguments: [] },
    { server: "linear", name: "two words", arguments: [] },
  ];

  test("has its servers' prompts as commands, and a command becomes the prompt's text", async () => {
    const servers = createFakeServers();
    servers.acts = { prompts, promptText: async (_, name, { issue }) => `${name} of ${issue}` };
    const { client, init, say } = serve([says("ok")], { servers: servers.open });
    expect(answered(await client.request("droid.list_commands", {}))).toEqual({ commands: [] });
    await init();
    expect(answered(await client.request("droid.list_commands", {}))).toEqual({
      commands: [
        { name: "mcp:linear:summary", description: "Sums up.", argumentHint: "<issue> [style]" },
        { name: "mcp:linear:all", description: "The prompt all of the MCP server linear" },
      ],
    });
    await say("/mcp:linear:summary ENG-1");
    expect(await client.notice("create_message")).toMatchObject({
      message: { role: "user", content: [{ type: "text", text: "summary of ENG-1" }] },
    });
    await client.state("idle");
    expect(answered(await say("/mcp:linear:none"))).toMatchObject({ code: -32602 });
    expect(client.received.flatMap((message) => strict.message(message, client.methods))).toEqual([]);
  });

  test("has its servers' tools, which filters can name one by one or by server", async () => {
    const servers = createFakeServers({ server: "linear", tool: "create" }, { server: "files", tool: "look" });
    servers.states = ["linear", "files", "idle"].map((name) => ({
      name,
      status: "connected",
      source: "user",
      kind: "stdio",
    }));
    const { client, init } = serve([], { servers: servers.open });
    await init();
    const allowed = async (filters: object): Promise<readonly string[]> => {
      const { tools } = answered(await client.request("droid.list_tools", filters)) as {
        readonly tools: readonly { readonly id: string; readonly currentlyAllowed: boolean }[];
      };
      return tools.filter(({ id, currentlyAllowed }) => currentlyAllowed && id.includes("___")).map(({ id }) => id);
    };
    expect(await allowed({})).toEqual(["linear___create", "files___look"]);
    expect(await allowed({ disabledToolIds: ["linear___create"] })).toEqual(["files___look"]);
    expect(await allowed({ restrictToolIds: ["files___*"] })).toEqual(["files___look"]);
    expect(answered(await client.request("droid.get_context_breakdown", {}))).toMatchObject({
      mcpServers: [
        { name: "linear", toolCount: 1, tokens: expect.any(Number) },
        { name: "files", toolCount: 1 },
      ],
    });
    await client.request("droid.update_session_settings", { disabledToolIds: ["linear___*"] });
    expect(answered(await client.request("droid.get_context_breakdown", {}))).toMatchObject({
      mcpServers: [{ name: "files", toolCount: 1 }],
    });
    expect(client.received.flatMap((message) => strict.message(message, client.methods))).toEqual([]);
  });
});
