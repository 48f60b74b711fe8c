import { afterAll, beforeAll, expect, test } from "vitest";
import { interactiveParams } from "../../src/protocol/interactive.ts";
import { leaksIn, openSocket, type Program, type SocketClient, startProgram, userOf } from "../fakes/ws/program.ts";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

const [ann, bob, vic, ada] = [
  userOf("ann", "user"),
  userOf("bob", "user"),
  userOf("vic", "viewer"),
  userOf("ada", "admin"),
];

let bench: Bench;
let program: Program;
const seen: SocketClient[] = [];

beforeAll(async () => {
  bench = await createBench();
  await bench.script([
    { when: { after_tool: "Sum" }, text: "It is {{tool_result}}.", times: "any" },
    { when: { user: "sum" }, text: "Let me see. ", tool_calls: [{ name: "Sum", input: {} }], times: "any" },
    { text: "Well.", times: "any" },
  ]);
  program = await startProgram(bench, {
    model: "script:../script-1.json",
    auth: true,
    config: { serve: { users: [ann, bob, vic, ada].map(({ entry }) => entry) } },
  });
});

afterAll(async () => {
  program.kill("SIGTERM");
  expect(await program.exit).toEqual({ code: 0, signal: null });
  expect(seen.flatMap(({ frames }) => leaksIn(frames))).toEqual([]);
  await bench.remove();
});

async function ws(who: { readonly token: string }): Promise<SocketClient> {
  const client = await program.connect({ token: who.token });
  seen.push(client);
  return client;
}

let ids = 0;

/** A minimal client of /rpc. */
async function rpc(who: { readonly token: string }) {
  return rpcOver(await program.connect({ path: "/rpc", token: who.token }));
}

function rpcOver(client: SocketClient) {
  const request = async (method: string, params: object) => {
    ids += 1;
    const id = `q${ids}`;
    const envelope = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", type: "request" };
    client.raw(JSON.stringify({ ...envelope, id, method: `droid.${method}`, params }));
    return client.until((frame) => frame.id === id);
  };
  const init = (more: object = {}) => request("initialize_session", { machineId: "m", cwd: bench.cwd, ...more });
  return { client, request, init };
}

async function started(): Promise<{ owner: SocketClient; sessionId: string }> {
  const owner = await ws(ann);
  const { result } = await owner.request("startSession", { userId: "u", sessionParams: { tools: [{ name: "Sum" }] } });
  return { owner, sessionId: String(result?.sessionId) };
}

const all = { message: "x", toolCallId: "x", result: "x", userId: "x", afterSeq: 0 };
const isFinal = ({ params }: SocketClient["frames"][number]): boolean => params?.isFinal === true;

test("another user's session does not exist, by any method of /ws or /rpc, and nothing of it leaks", async () => {
  const { owner, sessionId } = await started();
  const foreign = await ws(bob);
  for (const method of ["sendUserMessage", "provideToolResult", "cancel", "resumeSession"]) {
    const [theirs, nobodys] = [
      await foreign.request(method, { ...all, sessionId }),
      await foreign.request(method, { ...all, sessionId: "11111111-2222-4333-8444-555555555555" }),
    ];
    // Guessing an id does not reveal whether it exists.
    expect([method, theirs.error]).toEqual([method, nobodys.error]);
    expect(theirs.error).toMatchObject({ code: -32602, data: { reason: "unknown_session" } });
  }
  expect((await foreign.request("stopSession", { sessionId })).result).toEqual({ status: 2 });
  expect((await foreign.request("listSessions")).result).toEqual({ sessions: [] });
  const other = await rpc(bob);
  const found = [
    await other.request("load_session", { sessionId }),
    await other.request("load_session", { sessionId: "11111111-2222-4333-8444-555555555555" }),
  ];
  expect(found[0]?.error?.code).toBe(-32004);
  expect(found[0]?.error).toEqual(found[1]?.error);
  await owner.request("sendUserMessage", { sessionId, message: "sum" });
  const call = await owner.until(({ method }) => method === "ToolCallNotification");
  const given = { sessionId, toolCallId: call.params?.toolCallId, result: "stolen" };
  expect((await foreign.request("provideToolResult", given)).error?.code).toBe(-32602);
  await owner.request("provideToolResult", { ...given, result: "3" });
  await owner.until(isFinal);
  expect(owner.frames.map(({ params }) => params?.chunk ?? "").join("")).toBe("Let me see. It is 3.");
  expect(foreign.frames.every(({ method }) => method === undefined)).toBe(true);
});

test("claims of another user, role or scope in headers, addresses and parameters change nothing", async () => {
  const { sessionId } = await started();
  const claims = { role: "admin", roles: ["admin"], scope: "admin", scopes: ["*"], user: "ann", owner: "ann" };
  const headers = {
    authorization: `Bearer ${bob.token}`,
    "x-role": "admin",
    "x-scopes": "admin",
    "x-user": "ann",
    "x-forwarded-user": "ann",
    "x-remote-user": "ann",
    cookie: "role=admin; user=ann",
  };
  const address = program.url.replace("http", "ws");
  const query = `role=admin&user=ann&token=${ann.token}`;
  const client = await openSocket(`${address}/ws?${query}`, headers);
  expect((await client.request("capabilities", claims)).result).toMatchObject({ user: "bob", role: "user" });
  expect((await client.request("resumeSession", { ...claims, sessionId })).error?.data?.reason).toBe("unknown_session");
  const { request } = rpcOver(await openSocket(`${address}/rpc?${query}`, headers));
  expect((await request("load_session", { ...claims, sessionId })).error?.code).toBe(-32004);
  const init = await request("initialize_session", {
    ...claims,
    machineId: "ann",
    cwd: bench.cwd,
    skipPermissionsUnsafe: true,
  });
  expect(init.error?.message).toContain("role admin");
  expect((await program.get("/metrics", bob.token)).code).toBe(403);
});

test("a viewer can only watch, on /ws and on /rpc", async () => {
  const { owner, sessionId } = await started();
  const viewer = await ws(vic);
  expect((await viewer.request("resumeSession", { sessionId })).result).toMatchObject({ status: 1 });
  const allowed = ["echo", "resumeSession", "listSessions", "capabilities"];
  for (const method of Object.keys(interactiveParams).filter((name) => !allowed.includes(name))) {
    const { error } = await viewer.request(method, { ...all, sessionId });
    expect([method, error]).toEqual([
      method,
      {
        code: -32000,
        message: `${method} needs the role admin or user; this token has viewer.`,
        data: { reason: "forbidden" },
      },
    ]);
  }
  const looker = await rpc(vic);
  expect((await looker.request("load_session", { sessionId })).result).toBeDefined();
  for (const [method, params] of [
    ["initialize_session", { machineId: "m", cwd: bench.cwd }],
    ["add_user_message", { text: "no" }],
    ["interrupt_session", {}],
    ["update_session_settings", { autonomyLevel: "high" }],
    ["rename_session", { title: "no" }],
    ["fork_session", {}],
  ] as const) {
    expect([method, (await looker.request(method, params)).error?.code]).toEqual([method, -32602]);
  }
  await owner.request("sendUserMessage", { sessionId, message: "hello" });
  expect((await owner.until(isFinal)).params?.reason).toBe("completed");
  expect((await viewer.until(isFinal)).params?.reason).toBe("completed");
});

test("a user cannot start anything on the server's machine indirectly", async () => {
  for (const more of [
    { skipPermissionsUnsafe: true },
    { mcpServers: [{ name: "x", type: "stdio", command: "touch", args: ["/tmp/x"] }] },
    { modelId: "script:/dev/zero" },
  ]) {
    const { error } = await (await rpc(ann)).init(more);
    expect([more, error?.code, error?.message]).toEqual([more, -32602, expect.stringContaining("role admin")]);
  }
  const client = await ws(ann);
  const { error } = await client.request("startSession", { userId: "u", sessionParams: { model: "script:/dev/zero" } });
  expect(error).toMatchObject({ code: -32602, data: { reason: "model_unknown" } });
  expect(
    (await client.request("startSession", { userId: "u", sessionParams: { toolExecution: "server" } })).error,
  ).toMatchObject({ code: -32602, data: { reason: "tool_execution" } });
});

test("sessions of /ws joined over /rpc and of /rpc resumed over /ws: both clients get both", async () => {
  const { owner, sessionId } = await started();
  const attached = await rpc(ann);
  expect((await attached.request("load_session", { sessionId })).result).toBeDefined();
  expect((await attached.request("add_user_message", { text: "sum" })).result).toEqual({});
  const { params } = await owner.until(({ method }) => method === "ToolCallNotification");
  await owner.request("provideToolResult", { sessionId, toolCallId: params?.toolCallId, result: "3" });
  expect((await owner.until(isFinal)).params?.reason).toBe("completed");
  const isIdle = (frame: object): boolean => JSON.stringify(frame).includes('"newState":"idle"');
  await attached.client.until(isIdle);
  const heard = JSON.stringify(attached.client.frames);
  expect([heard.includes("It is 3."), heard.includes('"tool_result"')]).toEqual([true, true]);
  // Clients that run no tools are not asked to.
  expect(attached.client.frames.filter(({ id, method }) => id !== undefined && method !== undefined)).toEqual([]);

  const first = await rpc(ann);
  const { result } = await first.init();
  const follower = await ws(ann);
  await follower.request("resumeSession", { sessionId: result?.sessionId });
  await first.request("add_user_message", { text: "hello" });
  await follower.until(isFinal);
  // Watching is one thing, having the server run tools without configuration another.
  const sent = await follower.request("sendUserMessage", { sessionId: result?.sessionId, message: "and hello" });
  expect(sent.error).toMatchObject({ code: -32000, data: { reason: "tool_execution" } });
  await first.client.until(isIdle);
  await first.request("add_user_message", { text: "and hello" });
  await follower.until(isFinal);
  const told = follower.frames.flatMap(({ method, params: of }) =>
    method === undefined ? [] : [of?.message ?? of?.chunk],
  );
  expect(told).toEqual(["hello", "Well.", "", "and hello", "Well.", ""]);
  await first.client.until(isIdle);
  expect(JSON.stringify(first.client.frames)).toContain("and hello");
});
