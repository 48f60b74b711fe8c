import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isFinal, textIn } from "../../frontends/interactive/served.ts";
import { replies } from "./replies.ts";
import { type Server, startServer } from "./server.ts";
import { isCall, isChunk, isStatus, type WireClient } from "./wire-client.ts";

let server: Server;
let client: WireClient;

beforeAll(async () => {
  server = await startServer({ replies });
});
afterAll(() => server.remove());
beforeEach(async () => {
  client = await server.connect();
});
afterEach(() => client.close());

describe("a session starts", () => {
  test("with the response, then its status, and nothing else", async () => {
    client.post(1, "startSession", { userId: "u1", sessionParams: { language: "en" } });
    client.post(2, "echo");
    const frames = await client.until(({ id }) => id === 2);
    const sessionId = frames[0]?.result?.sessionId;
    expect(frames.slice(0, -1)).toEqual([
      { jsonrpc: "2.0", id: 1, result: { sessionId, status: 1 } },
      {
        jsonrpc: "2.0",
        method: "SessionStatusNotification",
        params: { sessionId, status: 1, reason: "started", seq: 1 },
      },
    ]);
    expect(sessionId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  });

  test("any number of times on one connection, each with its own id", async () => {
    for (let id = 0; id < 5; id += 1) client.post(id, "startSession", { userId: "u" });
    const frames = await client.until((frame) => isStatus(1)(frame) && client.frames.filter(isStatus(1)).length === 5);
    const ids = frames.filter(({ id }) => id !== undefined).map(({ result }) => result?.sessionId);
    expect(new Set(ids).size).toBe(5);
    // Each response is followed by the status of that session.
    expect(frames.map(({ result, params }) => result?.sessionId ?? params?.sessionId)).toEqual(
      ids.flatMap((id) => [id, id]),
    );
  });
});

describe("a message", () => {
  test("is answered with its id, then its chunks, then one end that repeats nothing", async () => {
    const sessionId = await client.start();
    client.post("m", "sendUserMessage", { sessionId, message: "hello" });
    const frames = await client.until(isFinal);
    const { messageId } = frames[0]?.result ?? {};
    const turnId = frames[1]?.params?.turnId;
    const of = { sessionId, messageId, turnId };
    expect([typeof messageId, typeof turnId]).toEqual(["string", "string"]);
    expect(frames[0]).toEqual({ jsonrpc: "2.0", id: "m", result: { messageId, status: 0, seq: 2 } });
    expect(frames.slice(1)).toEqual(
      [
        { chunk: "Hel", isFinal: false, offset: 0 },
        { chunk: "lo ", isFinal: false, offset: 3 },
        { chunk: "you", isFinal: false, offset: 6 },
        { chunk: "", isFinal: true, offset: 9, seq: expect.any(Number), reason: "completed" },
      ].map((params) => ({ jsonrpc: "2.0", method: "AIMessageChunkNotification", params: { ...of, ...params } })),
    );
  });

  test("can be empty, large, and have any characters", async () => {
    const sessionId = await client.start();
    for (const message of ["", "naïve 🦊 \u0000 \u2028", '"}\n', "x".repeat(400_000)]) {
      const frames = await client.ask(sessionId, message);
      expect(textIn(frames) === `You said: ${message}`).toBe(true);
    }
  });

  test("waits while another is answered, and order is kept", async () => {
    const sessionId = await client.start();
    const messages = ["hello", "second", "third"];
    for (const [id, message] of messages.entries()) client.post(id, "sendUserMessage", { sessionId, message });
    let ends = 0;
    const frames = await client.until((frame) => isFinal(frame) && ++ends === 3);
    expect(frames.filter(isFinal).map(({ params }) => params?.messageId)).toEqual(
      messages.map((_, at) => frames.find(({ id }) => id === at)?.result?.messageId),
    );
    expect(textIn(frames)).toBe("Hello youYou said: secondYou said: third");
  });
});

describe("a session is stopped", () => {
  test("with status 2 in response and notification, and is then unknown", async () => {
    const sessionId = await client.start();
    client.post(1, "stopSession", { sessionId });
    client.post(2, "stopSession", { sessionId });
    client.post(3, "stopSession", { sessionId });
    const frames = [await client.next(), await client.next(), await client.next(), await client.next()];
    expect(frames.filter(({ id }) => id !== undefined).map(({ id, result }) => [id, result])).toEqual([
      [1, { status: 2 }],
      [2, { status: 2 }],
      [3, { status: 2 }],
    ]);
    expect(frames.filter(({ method }) => method !== undefined)).toEqual([
      {
        jsonrpc: "2.0",
        method: "SessionStatusNotification",
        params: { sessionId, status: 2, reason: "completed" },
      },
    ]);
    // Long stopped, and still no error.
    expect((await client.request("stopSession", { sessionId })).result).toEqual({ status: 2 });
    expect((await client.request("sendUserMessage", { sessionId, message: "x" })).error).toMatchObject({
      code: -32602,
      message: "Invalid params",
    });
    expect(client.frames.filter(isStatus(2))).toHaveLength(1);
  });

  test("that never existed: status 2, no error and no notification", async () => {
    expect((await client.request("stopSession", { sessionId: "nonexistent" })).result).toEqual({ status: 2 });
    await client.request("echo");
    expect(client.frames).toHaveLength(2);
  });

  test("alone: others of the connection continue", async () => {
    const [one, two] = [await client.start(), await client.start()];
    await client.request("stopSession", { sessionId: one });
    expect((await client.next()).params).toMatchObject({ sessionId: one, status: 2 });
    expect(textIn(await client.ask(two, "hello"))).toBe("Hello you");
  });
});

describe("a tool call", () => {
  test("is acknowledged, reported, answered by the client, and then the answer ends", async () => {
    const sessionId = await client.start();
    client.post("m", "sendUserMessage", { sessionId, message: "one tool" });
    const before = await client.until(isCall);
    const { messageId } = before[0]?.result ?? {};
    expect(before[0]).toMatchObject({ id: "m", result: { status: 0 } });
    const told = before.at(-1)?.params;
    expect(told).toEqual({
      sessionId,
      toolCallId: expect.any(String),
      toolName: "Read",
      arguments: { file_path: "a.txt" },
      messageId,
      turnId: expect.any(String),
      seq: expect.any(Number),
      execution: "client",
    });
    client.post("r", "provideToolResult", { sessionId, toolCallId: told?.toolCallId, result: "42" });
    expect(await client.next()).toEqual({ jsonrpc: "2.0", id: "r", result: { status: 0 } });
    const after = await client.until(isFinal);
    expect(after.every(isChunk)).toBe(true);
    expect(textIn([...before, ...after])).toBe("Looking. It says: 42");
    expect(client.frames.filter(isFinal)).toHaveLength(1);
  });

  test("two in one answer are two notifications, and one end after the last result", async () => {
    const sessionId = await client.start();
    await client.request("sendUserMessage", { sessionId, message: "two tools" });
    const calls = [await client.next(), await client.next()].map(({ params }) => params);
    expect(calls.map((params) => params?.toolName)).toEqual(["Read", "LS"]);
    const [read, ls] = calls.map((params) => params?.toolCallId);
    await client.request("provideToolResult", { sessionId, toolCallId: ls, result: "of LS" });
    await client.request("echo");
    expect(client.frames.filter(isChunk)).toEqual([]);
    await client.request("provideToolResult", { sessionId, toolCallId: read, result: "of Read" });
    const after = await client.until(isFinal);
    expect(textIn(after)).toContain("of Read");
    await client.ask(sessionId, "hello");
    expect(client.frames.filter(isFinal)).toHaveLength(2);
  });

  test("has arguments of every kind, even none", async () => {
    const sessionId = await client.start({ tools: [{ name: "Odd" }] });
    await client.request("sendUserMessage", { sessionId, message: "odd arguments" });
    const calls = (await client.until(() => client.frames.filter(isCall).length === 5)).map(({ params }) => params);
    expect(calls.map((params) => params?.arguments)).toEqual([
      { count: 3, deep: [true, null, { a: 1.5 }], text: "" },
      {},
      [1, 2],
      "words",
      {},
    ]);
    expect(new Set(calls.map((params) => params?.toolCallId)).size).toBe(5);
    for (const [at, params] of calls.entries()) {
      const { toolCallId } = params ?? {};
      const answer = await client.request("provideToolResult", { sessionId, toolCallId, result: `${at}` });
      expect(answer.result).toEqual({ status: 0 });
    }
    await client.until(isFinal);
    expect(client.frames.filter(isFinal)).toHaveLength(1);
  });

  test("accepts one result: an unknown, a second and a late one are rejected and change nothing", async () => {
    const sessionId = await client.start();
    const refused = { code: -32602, data: { reason: "unexpected_tool_result" } };
    const provide = async (toolCallId: unknown, result: string) =>
      (await client.request("provideToolResult", { sessionId, toolCallId, result })).error;
    expect(await provide("nobody-asked", "0")).toMatchObject(refused);
    await client.request("sendUserMessage", { sessionId, message: "one tool" });
    const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
    expect(await provide("unknown", "0")).toMatchObject(refused);
    expect(await provide(toolCallId, "first")).toBeUndefined();
    const second = await provide(toolCallId, "second");
    expect(second).toMatchObject(refused);
    expect(second?.message).toMatch(/^Invalid params: no tool call with this id is waiting/);
    if (!client.frames.some(isFinal)) await client.until(isFinal);
    expect(await provide(toolCallId, "late")).toMatchObject(refused);
    expect(textIn(client.frames)).toBe("Looking. It says: first");
    expect(client.frames.filter(isStatus(3))).toEqual([]);
  });

  test("of one session cannot be answered for another", async () => {
    const [one, two] = [await client.start(), await client.start()];
    await client.request("sendUserMessage", { sessionId: one, message: "one tool" });
    const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
    const wrong = await client.request("provideToolResult", { sessionId: two, toolCallId, result: "x" });
    expect(wrong.error).toMatchObject({ code: -32602, data: { reason: "unexpected_tool_result" } });
    expect((await client.request("provideToolResult", { sessionId: one, toolCallId, result: "ok" })).result).toEqual({
      status: 0,
    });
    expect(textIn(await client.until(isFinal))).toBe("It says: ok");
  });

  test("that the client reports as failed: the model learns it", async () => {
    const sessionId = await client.start();
    await client.request("sendUserMessage", { sessionId, message: "one tool" });
    const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
    await client.request("provideToolResult", { sessionId, toolCallId, result: "no such file", isError: true });
    expect(textIn(await client.until(isFinal))).toMatch(/^It says: Error: no such file/);
  });
});
