import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { isFinal, textIn } from "../../frontends/interactive/served.ts";
import { replies } from "./replies.ts";
import { type Server, startServer } from "./server.ts";
import { answerTo, isCall, isChunk, isStatus, type WireClient } from "./wire-client.ts";

let server: Server;
let client: WireClient;

beforeAll(async () => {
  const timeouts = { ai: "1500ms", toolResult: "1500ms" };
  server = await startServer({ replies, config: { interactive: { timeouts } } });
});
afterAll(() => server.remove());
beforeEach(async () => {
  client = await server.connect();
});
afterEach(() => client.close());

/** Once a later message is answered, this one has been reported completely. */
async function everythingAbout(sessionId: string, messageId: unknown): Promise<ReturnType<typeof answerTo>> {
  const last = await client.ask(sessionId, "hello");
  expect(textIn(last.filter(({ params }) => params?.messageId !== messageId))).toBe("Hello you");
  return answerTo(messageId, client.frames);
}

async function send(sessionId: string, message: string): Promise<unknown> {
  return (await client.request("sendUserMessage", { sessionId, message })).result?.messageId;
}

describe("every answer has exactly one end", () => {
  test.each([
    ["hello", { text: "Hello you", ends: ["completed"] }],
    ["long answer", { text: expect.stringMatching(/^0 1 2 .* 398 399 $/), ends: ["completed"] }],
    ["empty", { text: "", ends: ["completed"] }],
    ["think only", { text: "", ends: ["completed"] }],
    ["fail at once", { text: "", ends: ["error"] }],
    ["fail later", { text: "Half", ends: ["error"] }],
    ["wrong key", { text: "", ends: ["error"] }],
    ["hang", { text: "Wait", ends: ["timeout"] }],
    ["stay silent", { text: "", ends: ["timeout"] }],
  ])("of %j", async (message, expected) => {
    const sessionId = await client.start();
    expect(await everythingAbout(sessionId, await send(sessionId, message))).toEqual(expected);
  });

  test("even if it is cancelled while waiting", async () => {
    const sessionId = await client.start();
    const running = await send(sessionId, "hang");
    const waiting = [await send(sessionId, "hello"), await send(sessionId, "one tool")];
    expect((await client.request("cancel", { sessionId })).result).toEqual({ status: 1, cancelled: 3 });
    await everythingAbout(sessionId, running);
    expect([running, ...waiting].map((id) => answerTo(id, client.frames))).toEqual([
      { text: expect.stringMatching(/^(Wait)?$/), ends: ["cancelled"] },
      { text: "", ends: ["cancelled"] },
      { text: "", ends: ["cancelled"] },
    ]);
    expect(client.frames.filter(isStatus(3))).toEqual([]);
  });

  test("even if the session is stopped: all ends, then one status, then nothing", async () => {
    const sessionId = await client.start();
    const ids = [await send(sessionId, "hang"), await send(sessionId, "hello"), await send(sessionId, "hello")];
    await client.request("stopSession", { sessionId });
    await client.until(isStatus(2));
    expect(ids.map((id) => answerTo(id, client.frames).ends)).toEqual([["cancelled"], ["cancelled"], ["cancelled"]]);
    await client.request("echo");
    expect(client.frames.slice(-2).map(({ method }) => method)).toEqual(["SessionStatusNotification", undefined]);
  });

  test("even if it waits for a tool and is cancelled", async () => {
    const sessionId = await client.start();
    const messageId = await send(sessionId, "one tool");
    const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
    await client.request("cancel", { sessionId });
    await client.until(isFinal);
    const late = await client.request("provideToolResult", { sessionId, toolCallId, result: "late" });
    expect(late.error).toMatchObject({ code: -32602, data: { reason: "unexpected_tool_result" } });
    expect(await everythingAbout(sessionId, messageId)).toEqual({ text: "Looking. ", ends: ["cancelled"] });
  });

  test.each(["stopSession", "cancel"])(
    "even if %s comes right after the messages: one response per request, one end per accepted message",
    async (method) => {
      const sessionId = await client.start();
      for (const id of ["a", "b", "c"]) client.post(id, "sendUserMessage", { sessionId, message: "hang" });
      client.post("end", method, { sessionId });
      await client.until(method === "cancel" ? () => client.frames.filter(isFinal).length === 3 : isStatus(2));
      await client.request("echo");
      const responses = client.frames.filter(({ id }) => typeof id === "string");
      expect(responses.map(({ id }) => id).sort()).toEqual(["a", "b", "c", "end"]);
      const taken = responses.flatMap(({ result }) => result?.messageId ?? []);
      // Waiting messages are dropped before a running answer ends; whether the first one had ended is timing.
      const ended = client.frames.filter(isFinal).map(({ params }) => params?.messageId);
      expect([taken, [...taken.slice(1), ...taken.slice(0, 1)]]).toContainEqual(ended);
      expect(taken.map((id) => answerTo(id, client.frames).ends)).toEqual(taken.map(() => ["cancelled"]));
      // A refused message was answered by its error.
      expect(responses.filter(({ error }) => error !== undefined).length + taken.length).toBe(3);
    },
  );

  test("even if there is nothing to cancel", async () => {
    const sessionId = await client.start();
    expect((await client.request("cancel", { sessionId })).result).toEqual({ status: 1, cancelled: 0 });
    const frames = await client.ask(sessionId, "hello");
    expect([textIn(frames), client.frames.filter(isFinal).length]).toEqual(["Hello you", 1]);
  });
});

describe("a failure", () => {
  test.each([
    ["hang", "timeout", "timeout"],
    ["fail later", "error", "model_bad_request"],
    ["wrong key", "error", "model_auth"],
  ])(
    "of %j is a final chunk, then one status 3 with the reason %j, and the session continues",
    async (message, reason, code) => {
      const sessionId = await client.start();
      const messageId = await send(sessionId, message);
      const frames = await client.until(isStatus(3));
      const [final, status] = frames.slice(-2);
      const of = { sessionId, messageId, seq: final?.params?.seq };
      expect(final?.params).toMatchObject({ ...of, chunk: "", isFinal: true, reason, code });
      expect(status?.params).toEqual({ ...of, status: 3, reason, code, errorId: final?.params?.turnId });
      await everythingAbout(sessionId, messageId);
      expect(client.frames.filter(isStatus(3))).toHaveLength(1);
    },
  );

  test("reveals no internals to the client, only an id that is in the log", async () => {
    const sessionId = await client.start();
    for (const [message, words] of [
      ["fail at once", "inner words of a validator"],
      ["wrong key", "sk-inner-secret"],
    ] as const) {
      await send(sessionId, message);
      const { errorId } = (await client.until(isStatus(3))).at(-1)?.params ?? {};
      expect(JSON.stringify(client.frames)).not.toContain(words.slice(0, 8));
      expect(await server.logged((line) => line.errorId === errorId)).toMatchObject({ level: "error", sessionId });
    }
  });
});

test("an answer is not cut while the model keeps talking, however long it takes", async () => {
  const sessionId = await client.start();
  // 1.8 seconds, with a silence limit of 1.5.
  expect(textIn(await client.ask(sessionId, "slow answer"))).toBe("0 1 2 3 4 5 6 ");
  expect(client.frames.filter(isStatus(3))).toEqual([]);
});

test("a tool that the client does not run in time has failed, and the model reacts", async () => {
  const sessionId = await client.start();
  const messageId = await send(sessionId, "one tool");
  const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
  const rest = await client.until(isFinal);
  expect(textIn(rest)).toMatch(/^It says: Error: .*Read/);
  const late = await client.request("provideToolResult", { sessionId, toolCallId, result: "late" });
  expect(late.error).toMatchObject({ code: -32602, data: { reason: "unexpected_tool_result" } });
  expect((await everythingAbout(sessionId, messageId)).ends).toEqual(["completed"]);
});

test("a stop neither waits for a silent model nor delays other requests", async () => {
  const slow = await startServer({ replies });
  onTestFinished(() => slow.remove());
  const hung = await slow.connect();
  const sessionId = await hung.start();
  await hung.request("sendUserMessage", { sessionId, message: "hang" });
  await hung.until(isChunk);
  hung.post("stop", "stopSession", { sessionId });
  hung.post("echo", "echo", { message: 1 });
  const frames = await hung.until(isStatus(2));
  expect(frames.filter(({ id }) => id !== undefined).map(({ id }) => id)).toEqual(["stop", "echo"]);
});
