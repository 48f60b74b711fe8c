import { expect, test } from "vitest";
import type { TurnEvent } from "../../src/sdk/types.ts";
import { createFakeBackend, obliging, openOver, settled } from "./fakes/fake-backend.ts";

const success = (): object => ({ success: true });
const linear = { name: "linear", source: "user", isManaged: false, status: "connecting", serverType: "http" };
const summary = { total: 1, connected: 0, connecting: 1, failed: 0, disabled: 0 };

test("each function is one request, and each server and tool is read with care", async () => {
  const backend = createFakeBackend({
    ...obliging,
    "droid.list_mcp_servers": () => ({
      servers: [
        { ...linear, hasAuthTokens: false, requiresAuth: true, pendingAuthUrl: "https://a/", pendingAuthState: "s" },
        { name: "files", status: "failed", error: "It is gone.", toolCount: 3 },
        { status: "connected" },
        null,
      ],
      summary,
    }),
    "droid.list_mcp_tools": () => ({
      tools: [
        { serverName: "linear", name: "create", description: "d", isEnabled: true, isReadOnly: false, inputSchema: {} },
        { serverName: "linear", name: "look" },
        { name: "nowhere" },
      ],
    }),
    ...Object.fromEntries(
      [
        "add_mcp_server",
        "remove_mcp_server",
        "toggle_mcp_server",
        "toggle_mcp_tool",
        "authenticate_mcp_server",
        "submit_mcp_auth_error",
        "cancel_mcp_auth",
        "clear_mcp_auth",
      ].map((name) => [`droid.${name}`, success]),
    ),
    "droid.submit_mcp_auth_code": () => ({ success: false }),
  });
  const { session } = await openOver(backend);
  const { mcp } = session;
  expect(await mcp.servers()).toEqual([
    {
      name: "linear",
      type: "http",
      source: "user",
      status: "connecting",
      isSignedIn: false,
      needsSignIn: true,
      signIn: { url: "https://a/", message: "", state: "s" },
    },
    { name: "files", type: "stdio", source: "user", status: "failed", error: "It is gone.", toolCount: 3 },
  ]);
  expect(await mcp.tools()).toEqual([
    { server: "linear", name: "create", description: "d", isEnabled: true, isReadOnly: false, inputSchema: {} },
    { server: "linear", name: "look", description: "", isEnabled: false },
  ]);
  const before = backend.received.length;
  await mcp.add({ name: "x", type: "stdio", command: "x" });
  await mcp.remove("x");
  await mcp.enable("x");
  await mcp.disable("x");
  await mcp.enableTool("x", "t");
  await mcp.disableTool("x", "t");
  expect(await mcp.signIn("x")).toBe(true);
  expect(await mcp.answerSignIn("x", { state: "s", code: "c" })).toBe(false);
  expect(await mcp.answerSignIn("x", { state: "s", error: "no", errorDescription: "d" })).toBe(true);
  await mcp.cancelSignIn("x");
  await mcp.signOut("x");
  const sent = backend.received.slice(before).map(({ method, params }) => [String(method).slice(6), params]);
  const serverName = "x";
  expect(sent).toEqual([
    ["add_mcp_server", { name: "x", type: "stdio", command: "x" }],
    ["remove_mcp_server", { serverName, settingsLevel: "user" }],
    ["toggle_mcp_server", { serverName, enabled: true, settingsLevel: "user" }],
    ["toggle_mcp_server", { serverName, enabled: false, settingsLevel: "user" }],
    ["toggle_mcp_tool", { serverName, toolName: "t", enabled: true }],
    ["toggle_mcp_tool", { serverName, toolName: "t", enabled: false }],
    ["authenticate_mcp_server", { serverName }],
    ["submit_mcp_auth_code", { serverName, state: "s", code: "c" }],
    ["submit_mcp_auth_error", { serverName, state: "s", error: "no", errorDescription: "d" }],
    ["cancel_mcp_auth", { serverName }],
    ["clear_mcp_auth", { serverName }],
  ]);
  await session.close();
});

test("mistakes of callers without types are named", async () => {
  const { session } = await openOver(createFakeBackend());
  const { mcp } = session;
  // @ts-expect-error no type
  await expect(mcp.add({ name: "x" })).rejects.toThrow("An MCP server must be { name, type }.");
  // @ts-expect-error no name
  await expect(mcp.remove()).rejects.toThrow("The name of a server must be a string.");
  // @ts-expect-error no tool
  await expect(mcp.enableTool("x")).rejects.toThrow("The name of a tool must be a string.");
  // @ts-expect-error no state
  await expect(mcp.answerSignIn("x", { code: "c" })).rejects.toThrow(
    "The answer to a sign-in must be { state, code } or { state, error }.",
  );
  // @ts-expect-error no signal
  await expect(mcp.servers({ signal: 1 })).rejects.toThrow("The option signal of mcp.servers must be an AbortSignal.");
  await session.close();
});

test("events tell of servers and sign-ins, each state once", async () => {
  const events: TurnEvent[] = [];
  const { session, backend } = await openOver(createFakeBackend(), { onEvent: (event) => events.push(event) });
  const status = { type: "mcp_status_changed", servers: [linear], summary };
  const required = { type: "mcp_auth_required", serverName: "linear", authUrl: "https://a/", message: "m", state: "s" };
  const { state: _, ...withoutState } = required;
  const ended = { type: "mcp_auth_completed", serverName: "linear", outcome: "success", message: "done" };
  backend.notify(status, status, { ...status, servers: 5 }, required, withoutState, ended, { ...ended, outcome: 5 });
  await settled();
  expect(events).toEqual([
    { type: "mcp_servers", servers: [{ name: "linear", type: "http", source: "user", status: "connecting" }] },
    { type: "other", name: "mcp_status_changed", given: { ...status, servers: 5 } },
    { type: "sign_in_required", server: "linear", url: "https://a/", message: "m", state: "s" },
    { type: "sign_in_required", server: "linear", url: "https://a/", message: "m" },
    { type: "sign_in_ended", server: "linear", outcome: "success", message: "done" },
    { type: "other", name: "mcp_auth_completed", given: { ...ended, outcome: 5 } },
  ]);
  await session.close();
});

test("a permission for a server's tool has its details, and can be answered for the tool or the server", async () => {
  const details = {
    type: "mcp_tool",
    toolName: "linear___create",
    serverName: "linear",
    actualToolName: "create",
    impactLevel: "high",
    riskLevelReason: "It calls create.",
  };
  const asked: unknown[] = [];
  const { session, backend } = await openOver(createFakeBackend(), {
    onPermission({ calls }) {
      asked.push(calls);
      return "proceed_always_server";
    },
  });
  const toolUse = { type: "tool_use", id: "c", name: "linear___create", input: { title: "x" } };
  backend.ask("7", "droid.request_permission", {
    toolUses: [{ toolUse, confirmationType: "mcp_tool", details }],
    options: ["proceed_once", "proceed_always_server", "cancel"].map((value) => ({ value, label: value })),
  });
  expect(await backend.next("response")).toMatchObject({
    id: "7",
    result: { selectedOption: "proceed_always_server" },
  });
  expect(asked).toEqual([[{ id: "c", name: "linear___create", input: { title: "x" }, details }]]);
  await session.close();
});

test("the address for sign-ins goes to new sessions and resumed ones", async () => {
  const { session, backend } = await openOver(createFakeBackend(), {
    mcpServers: [{ name: "x", type: "http", url: "https://x/", oauth: { clientId: "c" } }],
    mcpOAuthCallbackUri: "https://c/back",
  });
  expect(backend.received[0]?.params).toMatchObject({
    mcpServers: [{ name: "x", type: "http", url: "https://x/", oauth: { clientId: "c" } }],
    mcpOAuthCallbackUri: "https://c/back",
  });
  await session.close();
});
