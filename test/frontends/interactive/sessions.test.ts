import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import { calls, says, until } from "../../fakes/kit.ts";
import { ann, isFinal, serve, textIn } from "./served.ts";

function streams(...texts: readonly string[]): ModelEvent[] {
  return [...texts.map((text) => ({ type: "text", text }) as const), { type: "end", stop: "end" }];
}

test("starting a session: first the response, then its status", async () => {
  const client = serve([]).connect();
  const response = await client.request("startSession", { userId: "u1", sessionParams: { language: "en" } });
  const sessionId = response.result?.sessionId;
  expect(response).toEqual({ jsonrpc: "2.0", id: 1, result: { sessionId, status: 1 } });
  expect(await client.next()).toEqual({
    jsonrpc: "2.0",
    method: "SessionStatusNotification",
    params: { sessionId, status: 1, reason: "started", seq: 1 },
  });
  await client.close();
});

test("an answer: the response, the chunks as they come, and one end that repeats nothing", async () => {
  const client = serve([streams("Hel", "lo ", "you")]).connect();
  const sessionId = await client.start();
  const { result } = await client.request("sendUserMessage", { sessionId, message: "hello" });
  const messageId = result?.messageId;
  expect(result).toEqual({ messageId, status: 0, seq: 2 });
  const chunks = await client.until(isFinal);
  const turnId = chunks[0]?.params?.turnId;
  const of = { sessionId, messageId, turnId };
  expect(chunks.map(({ params }) => params)).toEqual([
    { ...of, chunk: "Hel", isFinal: false, offset: 0 },
    { ...of, chunk: "lo ", isFinal: false, offset: 3 },
    { ...of, chunk: "you", isFinal: false, offset: 6 },
    { ...of, chunk: "", isFinal: true, offset: 9, seq: 7, reason: "completed" },
  ]);
  await client.close();
});

test("the client runs a tool call, and one final answer follows the last result", async () => {
  const { kit, connect } = serve([
    [{ type: "text", text: "Looking. " }, ...calls(["Read", { file_path: "a" }], ["Sum", [1, 2]])],
    says("It is 3."),
  ]);
  const client = connect();
  const sessionId = await client.start({
    tools: [{ name: "Sum", description: "adds", inputSchema: { type: "array" } }],
  });
  await client.request("sendUserMessage", { sessionId, message: "sum" });
  const before = await client.until(({ params }) => params?.toolName === "Sum");
  const told = before.filter(({ method }) => method === "ToolCallNotification").map(({ params }) => params);
  expect(told.map((params) => [params?.toolName, params?.arguments, params?.execution])).toEqual([
    ["Read", { file_path: "a" }, "client"],
    ["Sum", [1, 2], "client"],
  ]);
  const [read, sum] = told.map((params) => params?.toolCallId);
  const second = await client.request("provideToolResult", { sessionId, toolCallId: sum, result: "3" });
  expect(second.result).toEqual({ status: 0 });
  const first = await client.request("provideToolResult", { sessionId, toolCallId: read, result: "no", isError: true });
  expect(first.result).toEqual({ status: 0 });
  const after = await client.until(isFinal);
  expect(textIn([...before, ...after])).toBe("Looking. It is 3.");
  expect(client.frames.filter(isFinal)).toHaveLength(1);
  const results = kit.requests[1]?.messages.at(-1);
  expect(results?.content).toEqual([
    { type: "tool_result", callId: "call_1", name: "Read", status: "failed", text: "Error: no" },
    { type: "tool_result", callId: "call_2", name: "Sum", status: "ok", text: "3" },
  ]);
  const again = await client.request("provideToolResult", { sessionId, toolCallId: sum, result: "4" });
  expect(again.error).toMatchObject({ code: -32602, data: { reason: "unexpected_tool_result" } });
  await client.close();
});

test("a model that is silent for too long: a final chunk, then status 3, and the session continues", async () => {
  const silent = async function* (): AsyncGenerator<ModelEvent> {
    yield { type: "text", text: "Wait" };
    await new Promise(() => undefined);
  };
  const { kit, connect } = serve([silent, says("Here I am.")]);
  const client = connect();
  const sessionId = await client.start();
  const { result } = await client.request("sendUserMessage", { sessionId, message: "hi" });
  await client.until(({ params }) => params?.chunk === "Wait");
  await until(() => kit.clock.waiting > 0);
  kit.clock.advance(10_000);
  const [final, status] = [await client.next(), await client.next()];
  expect(final.params).toMatchObject({ chunk: "", isFinal: true, offset: 4, reason: "timeout" });
  expect(status.params).toEqual({
    sessionId,
    status: 3,
    reason: "timeout",
    code: "timeout",
    messageId: result?.messageId,
    errorId: final.params?.turnId,
    seq: final.params?.seq,
  });
  expect(textIn(await client.ask(sessionId, "again"))).toBe("Here I am.");
  await client.close();
});

test("a stopped session: one status, and further stops succeed", async () => {
  const client = serve([]).connect();
  const sessionId = await client.start();
  expect((await client.request("stopSession", { sessionId })).result).toEqual({ status: 2 });
  expect((await client.next()).params).toEqual({ sessionId, status: 2, reason: "completed" });
  expect((await client.request("stopSession", { sessionId })).result).toEqual({ status: 2 });
  expect((await client.request("stopSession", { sessionId: "nonexistent" })).result).toEqual({ status: 2 });
  expect((await client.request("sendUserMessage", { sessionId, message: "x" })).error?.code).toBe(-32602);
  expect(client.frames.filter(({ params }) => params?.status === 2)).toHaveLength(1);
  await client.close();
});

test("another user's session looks nonexistent", async () => {
  const { connect } = serve([says("one")]);
  const [owner, other] = [connect(), connect({ user: "bob", role: "user" })];
  const sessionId = await owner.start();
  for (const method of ["sendUserMessage", "provideToolResult", "cancel", "resumeSession"]) {
    const params = { sessionId, message: "x", toolCallId: "x", result: "x" };
    expect((await other.request(method, params)).error).toMatchObject({
      code: -32602,
      message: "Invalid params",
      data: { reason: "unknown_session" },
    });
  }
  expect((await other.request("stopSession", { sessionId })).result).toEqual({ status: 2 });
  expect((await other.request("listSessions")).result).toEqual({ sessions: [] });
  expect(textIn(await owner.ask(sessionId, "still there?"))).toBe("one");
  await Promise.all([owner.close(), other.close()]);
});

test("a returning client gets what happened since, and the answer under way", async () => {
  let goOn = (): void => undefined;
  const slow = async function* (): AsyncGenerator<ModelEvent> {
    yield { type: "text", text: "Half" };
    await new Promise<void>((resolve) => {
      goOn = resolve;
    });
    yield { type: "text", text: " and half" };
    yield { type: "end", stop: "end" };
  };
  const { connect } = serve([says("First."), slow]);
  const gone = connect();
  const sessionId = await gone.start();
  const first = await gone.ask(sessionId, "one");
  const afterSeq = first.at(-1)?.params?.seq;
  await gone.request("sendUserMessage", { sessionId, message: "two" });
  await gone.until(({ params }) => params?.chunk === "Half");
  await gone.close();
  const back = connect(ann);
  const { result } = await back.request("resumeSession", { sessionId, afterSeq });
  expect(result).toMatchObject({ sessionId, status: 1, running: true, waiting: [], toolExecution: "client" });
  const seen = [await back.next(), await back.next()];
  expect(seen.map(({ method, params }) => [method, params?.message ?? params?.chunk, params?.snapshot])).toEqual([
    ["UserMessageNotification", "two", undefined],
    ["AIMessageChunkNotification", "Half", true],
  ]);
  goOn();
  expect(textIn([...seen, ...(await back.until(isFinal))])).toBe("Half and half");
  await back.close();
});
