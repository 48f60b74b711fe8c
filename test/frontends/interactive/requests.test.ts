import { describe, expect, test } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import type { ModelCatalog } from "../../../src/engine/ports.ts";
import { calls, info, says, until } from "../../fakes/kit.ts";
import { ann, isFinal, serve, textIn } from "./served.ts";

describe("a request's id comes back as it was written", () => {
  test.each([
    "9007199254740993",
    "-9223372036854775808",
    "1794821015355000180",
    "1e400",
    "0.5",
    '"a\\"b"',
    '{"a":[1]}',
    "null",
    '""',
  ])("%s", async (id) => {
    const client = serve([]).connect();
    client.raw(
      `{"a":{"id":7},"b":"\\"id\\":8","jsonrpc":"2.0", "id" : ${id} ,"method":"echo","params":{"message":"x"}}`,
    );
    await client.next();
    client.raw(`{"jsonrpc":"2.0","id":${id},"method":"nothing"}`);
    await client.next();
    expect(client.texts).toEqual([
      `{"jsonrpc":"2.0","id":${id},"result":"x"}`,
      `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"Method not found"}}`,
    ]);
    await client.close();
  });
});

test("a too deeply nested request is answered under its id", async () => {
  const client = serve([]).connect();
  const deep = `${"[".repeat(600)}${"]".repeat(600)}`;
  client.raw(`{"jsonrpc":"2.0","id":3,"method":"echo","params":${deep}}`);
  expect(await client.next()).toEqual({ jsonrpc: "2.0", id: 3, error: { code: -32600, message: "Invalid Request" } });
  await client.close();
});

test("calls of undeclared tools, and arguments of any kind, go to the client", async () => {
  const { kit, connect } = serve([
    calls(["clock", null], ["weather", { at: "home" }], ["clock", 5]),
    says("Noon, rain."),
  ]);
  const client = connect();
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "go" });
  const told = (await client.until(({ params }) => params?.arguments === 5)).filter(({ params }) => params?.toolName);
  expect(told.map(({ params }) => [params?.toolName, params?.arguments])).toEqual([
    ["clock", null],
    ["weather", { at: "home" }],
    ["clock", 5],
  ]);
  for (const { params } of told) {
    await client.request("provideToolResult", { sessionId, toolCallId: params?.toolCallId, result: "ok" });
  }
  expect(textIn(await client.until(isFinal))).toBe("Noon, rain.");
  expect(kit.requests[1]?.messages.at(-1)?.content).toMatchObject([
    { status: "ok" },
    { status: "ok" },
    { status: "ok" },
  ]);
  await client.close();
});

test("where the server runs the tools, an unknown one fails", async () => {
  const { connect } = serve([calls(["clock", {}]), says("I have none.")], { toolExecution: "server" });
  const client = connect();
  const frames = await client.ask(await client.start(), "go");
  const result = frames.find(({ method }) => method === "ToolResultNotification")?.params;
  expect(result).toMatchObject({
    toolName: "clock",
    status: 1,
    result: expect.stringContaining("Unknown tool: clock"),
  });
  await client.close();
});

test.each([
  ["userId", { userId: "u".repeat(257) }],
  ["sessionParams.model", { userId: "u", sessionParams: { model: "m".repeat(201) } }],
  ["sessionParams.context", { userId: "u", sessionParams: { context: "c".repeat(100_001) } }],
])("rejects a too long %s", async (name, params) => {
  const client = serve([]).connect();
  expect((await client.request("startSession", params)).error).toMatchObject({
    code: -32602,
    message: "Invalid params",
    data: { reason: "params", detail: expect.stringMatching(`^${name} exceeds the limit of \\d+$`) },
  });
  await client.close();
});

test("limits what a user's sessions are started with, for each and in total", async () => {
  const { connect } = serve([], {});
  const client = connect();
  const start = (characters: number) =>
    client.request("startSession", {
      userId: "u",
      sessionParams: { tools: [{ name: "t", description: "d".repeat(characters) }] },
    });
  expect((await start(200_000)).error).toMatchObject({ code: -32602, data: { reason: "tools" } });
  let started = 0;
  let last = await start(199_000);
  for (; last.error === undefined; last = await start(199_000)) started += 1;
  expect(started).toBe(Math.floor(64_000_000 / 199_018));
  expect(last.error).toMatchObject({ code: -32000, data: { reason: "too_many_sessions" } });
  expect((await start(1)).result?.status).toBe(1);
  await client.close();
});

test("an unusable model is the client's mistake, and the reason goes to the log", async () => {
  const models: ModelCatalog = {
    list: async () => [info],
    unusable: async () => [],
    resolve: async () => {
      throw new AgentError("script_invalid", "/secret/path.yaml: no such file");
    },
  };
  const { log, connect } = serve([], {}, { models });
  const client = connect();
  const { error } = await client.request("startSession", { userId: "u" });
  expect(error).toEqual({
    code: -32602,
    message: "Invalid params: this model is unavailable; see the server's log",
    data: { reason: "model_unusable", errorId: expect.any(String) },
  });
  expect(log).toMatchObject([
    { level: "error", errorId: error?.data?.errorId, message: expect.stringContaining("/secret") },
  ]);
  await client.close();
});

test("the configured number of messages can wait, even above a session's default", async () => {
  const slow = async function* () {
    await new Promise(() => undefined);
    yield* says("never");
  };
  const limits = { queuedMessages: 150, openSessions: 9, sessionsPerMinute: 9, messagesPerMinute: 999 };
  const client = serve([slow], { limits }).connect();
  const sessionId = await client.start();
  for (let at = 0; at < 151; at += 1) client.post(`m${at}`, "sendUserMessage", { sessionId, message: "x" });
  await client.until(({ id }) => id === "m150");
  expect(client.frames.filter(({ error }) => error !== undefined)).toEqual([]);
  expect((await client.request("sendUserMessage", { sessionId, message: "x" })).error?.data).toEqual({
    reason: "queue_full",
  });
  await client.close();
});

test("limits what waits per user, and gives it back with the answers", async () => {
  const client = serve([]).connect();
  const sessionId = await client.start();
  const large = "x".repeat(9 * 1024 * 1024);
  for (const id of ["a", "b", "c", "d"]) client.post(id, "sendUserMessage", { sessionId, message: large });
  const frames = await client.until(({ id }) => id === "d");
  expect(frames.find(({ id }) => id === "d")?.error?.data).toEqual({ reason: "queue_full" });
  await until(() => client.frames.filter(isFinal).length === 3);
  expect((await client.request("sendUserMessage", { sessionId, message: "small" })).result?.status).toBe(0);
  await client.close();
});

test("each role learns its methods, and sees its sessions", async () => {
  const { connect } = serve([]);
  const [user, viewer] = [connect(), connect({ user: "vic", role: "viewer" })];
  await user.start();
  const [all, few] = [await user.request("capabilities"), await viewer.request("capabilities")];
  expect(few.result?.methods).toEqual(["echo", "resumeSession", "listSessions", "capabilities"]);
  expect(all.result).toMatchObject({
    defaultModel: "fake",
    methods: expect.arrayContaining(["startSession", "cancel"]),
  });
  expect((await viewer.request("listSessions")).result?.sessions).toMatchObject([{ user: ann.user, userId: "u1" }]);
  const own = (await user.request("listSessions")).result?.sessions;
  expect(own).toEqual([expect.not.objectContaining({ user: ann.user })]);
  await Promise.all([user.close(), viewer.close()]);
});
