import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type Frame, isFinal } from "../../frontends/interactive/served.ts";
import { replies } from "./replies.ts";
import { type Server, startServer } from "./server.ts";
import { answerTo, isCall, isChunk, isStatus, type WireClient } from "./wire-client.ts";

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

async function framesUntilEnds(count: number): Promise<Frame[]> {
  let ends = 0;
  return client.until((frame) => isFinal(frame) && ++ends === count);
}

test("acknowledges each of many messages before the first chunk of its answer", async () => {
  const sessionId = await client.start();
  for (let at = 0; at < 30; at += 1) client.post(`m${at}`, "sendUserMessage", { sessionId, message: `number ${at}.` });
  const frames = await framesUntilEnds(30);
  const acknowledged = frames.filter(({ id }) => id !== undefined);
  expect(acknowledged.map(({ id }) => id)).toEqual(Array.from({ length: 30 }, (_, at) => `m${at}`));
  for (const [at, frame] of acknowledged.entries()) {
    const { messageId } = frame.result ?? {};
    const first = frames.findIndex((each) => isChunk(each) && each.params?.messageId === messageId);
    expect(first).toBeGreaterThan(frames.indexOf(frame));
    expect(answerTo(messageId, frames)).toEqual({ text: `You said: number ${at}.`, ends: ["completed"] });
  }
});

test("concurrent sessions on one connection do not mix", async () => {
  const sessions = [await client.start(), await client.start(), await client.start()];
  for (const sessionId of sessions) {
    client.post(`a-${sessionId}`, "sendUserMessage", { sessionId, message: "long answer" });
    client.post(`b-${sessionId}`, "sendUserMessage", { sessionId, message: sessionId });
  }
  const frames = await framesUntilEnds(6);
  for (const sessionId of sessions) {
    const own = frames.filter(({ params }) => params?.sessionId === sessionId);
    const idOf = (id: string): unknown => frames.find((frame) => frame.id === id)?.result?.messageId;
    const [first, second] = [idOf(`a-${sessionId}`), idOf(`b-${sessionId}`)];
    expect(answerTo(first, own)).toEqual({
      text: Array.from({ length: 400 }, (_, at) => `${at} `).join(""),
      ends: ["completed"],
    });
    expect(answerTo(second, own)).toEqual({ text: `You said: ${sessionId}`, ends: ["completed"] });
    // One answer after the other, never interleaved.
    expect(own.map(({ params }) => params?.messageId)).toEqual([
      ...own.filter(({ params }) => params?.messageId === first).map(() => first),
      ...own.filter(({ params }) => params?.messageId === second).map(() => second),
    ]);
  }
});

test("clients can detect losses: chunks have offsets, durable frames rising numbers", async () => {
  const sessionId = await client.start();
  const { result } = await client.request("sendUserMessage", { sessionId, message: "one tool" });
  const { toolCallId, turnId } = (await client.until(isCall)).at(-1)?.params ?? {};
  await client.request("provideToolResult", { sessionId, toolCallId, result: "42" });
  await client.until(isFinal);
  await client.ask(sessionId, "hello");
  const first = client.frames.filter(({ params }) => params?.messageId === result?.messageId);
  expect(new Set(first.map(({ params }) => params?.turnId))).toEqual(new Set([turnId]));
  let length = 0;
  for (const { params } of first.filter(isChunk)) {
    expect(params?.offset).toBe(length);
    length += String(params?.chunk).length;
  }
  const numbers = client.frames
    .map((frame) => frame.params?.seq ?? frame.result?.seq)
    .filter((seq) => seq !== undefined);
  // The start, two messages, a tool call and two ends.
  expect(numbers).toHaveLength(6);
  expect(numbers).toEqual([...new Set(numbers)].sort((one, other) => Number(one) - Number(other)));
});

/** How many requests another client gets answered in sequence before `isDone`; at most `most`. */
async function turnsOfAnother(isDone: () => boolean, most: number): Promise<number> {
  const other = await server.connect();
  let turns = 0;
  while (!isDone() && turns < most) {
    await other.request("echo");
    turns += 1;
  }
  await other.close();
  return turns;
}

test("no response is delayed: not a refusal, not a tool's result, not a stop", async () => {
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "one tool" });
  const { toolCallId } = (await client.until(isCall)).at(-1)?.params ?? {};
  client.post("bad", "sendUserMessage", { sessionId, message: {} });
  client.post("tool", "provideToolResult", { sessionId, toolCallId, result: "42" });
  client.post("stop", "stopSession", { sessionId });
  client.post("echo", "echo");
  // Measured by another client, so that a busy machine slows both: a pause of a second is thousands of its turns.
  const isDone = (): boolean => client.frames.some(({ id }) => id === "echo") && client.frames.some(isStatus(2));
  expect(await turnsOfAnother(isDone, 1_000)).toBeLessThan(1_000);
  await client.until(({ id }) => id === "echo");
  const answered = client.frames.filter(({ id }) => typeof id === "string").map(({ id }) => id);
  expect(answered).toEqual(["bad", "tool", "stop", "echo"]);
});
