import { request } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Fault, ProviderServer, Turn } from "./base.ts";
import { createIds, serveWire, splitUnevenly, sse, usageOf } from "./base.ts";
import { post } from "./post.ts";
import { createSeal } from "./seal.ts";

let server: ProviderServer;

beforeEach(async () => {
  server = await serveWire({
    basePath: "/v1",
    key: "secret",
    judge: ({ body }) => {
      const wish = body as { fine?: boolean; stream?: boolean } | undefined;
      if (!wish?.fine) return { faults: ["not fine"], reply: { status: 400, body: { error: "not fine" } } };
      return {
        faults: [],
        stream: wish.stream ?? true,
        render: (turn) => ({
          events: [...(turn.text ?? []).map((text) => sse({ text })), sse("[DONE]")],
          finishEvents: 1,
          whole: { text: (turn.text ?? []).join("") },
        }),
      };
    },
    errorBody: (status, message) => ({ error: message ?? `usual words of ${status}` }),
    errorHeaders: () => ({ "request-id": "req_1" }),
    streamError: (type = "overloaded", message = "too much", after) => [sse({ type, message, after }, "error")],
  });
});

afterEach(() => server.close());

const ask = (turn: Turn, body: unknown = { fine: true }) => {
  server.enqueue(turn);
  return post(server.url, { "content-type": "application/json" }, body);
};
const faulty = (fault: Fault) => ask({ text: ["a", "b", "c"], fault });

test("streams a turn event by event, and records the request unchanged", async () => {
  const answer = await ask({ text: ["a", "b"] });
  expect(answer).toMatchObject({ status: 200, text: 'data: {"text":"a"}\n\ndata: {"text":"b"}\n\ndata: [DONE]\n\n' });
  expect(answer.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
  expect(server.requests).toEqual([
    {
      method: "POST",
      path: "/v1",
      headers: expect.objectContaining({ "content-type": "application/json" }),
      body: { fine: true },
      rawBody: '{"fine":true}',
      faults: [],
      aborted: false,
    },
  ]);
});

test("a request without streaming gets the whole answer", async () => {
  const answer = await ask({ text: ["a", "b"] }, { fine: true, stream: false });
  expect(answer).toMatchObject({ status: 200, text: '{"text":"ab"}' });
  expect(answer.headers["content-type"]).toBe("application/json");
});

test("records a rejected request with its faults, without using a turn", async () => {
  server.enqueue({ text: ["kept"] });
  expect(await post(server.url, {}, { fine: false })).toMatchObject({ status: 400, text: '{"error":"not fine"}' });
  expect(await post(server.url, {}, "no json")).toMatchObject({ status: 400 });
  expect((await post(server.url, {}, { fine: true })).text).toContain("kept");
  expect(server.requests.map(({ faults }) => faults)).toEqual([["not fine"], ["not fine"], []]);
  expect(server.requests[1]).toMatchObject({ body: undefined, rawBody: "no json" });
});

test("a request without a turn left is a fault of the test", async () => {
  const words = "no turn was enqueued for this request";
  expect(await post(server.url, {}, { fine: true })).toMatchObject({ status: 400, text: `{"error":"${words}"}` });
  expect(server.requests[0]?.faults).toEqual([words]);
});

test("uses turns in order", async () => {
  server.enqueue({ text: ["one"] }, { text: ["two"] });
  const first = await post(server.url, {}, { fine: true });
  const second = await post(server.url, {}, { fine: true });
  expect([first.text, second.text].map((text) => /one|two/.exec(text)?.[0])).toEqual(["one", "two"]);
});

test("a status has the provider's message, or the test's", async () => {
  expect(await faulty({ status: 503 })).toMatchObject({
    status: 503,
    headers: { "request-id": "req_1" },
    text: '{"error":"usual words of 503"}',
  });
  expect(await faulty({ status: 429, headers: { "retry-after": "7" }, body: "slow down" })).toMatchObject({
    status: 429,
    headers: { "retry-after": "7" },
    text: "slow down",
  });
});

test("a refused connection ends before any header", async () => {
  await expect(faulty("refuse-connection-after-accept")).rejects.toMatchObject({ code: "ECONNRESET" });
  expect(server.requests[0]?.aborted).toBe(false);
});

test.each<[string, Fault, { text: string; broken?: string }]>([
  ["cut", { cutAfter: 1 }, { text: 'data: {"text":"a"}\n\n', broken: "ECONNRESET" }],
  ["empty body", "empty-body", { text: "" }],
  ["empty answer", "empty-answer", { text: "data: [DONE]\n\n" }],
  ["no finish", { endWithoutFinish: true }, { text: '{"text":"a"} {"text":"b"} {"text":"c"}' }],
  ["malformed", { malformedAfter: 1 }, { text: '{"text":"a"} {"text" {"text":"c"} [DONE]' }],
  [
    "error inside",
    { streamError: { after: 1 } },
    { text: 'data: {"text":"a"}\n\nevent: error\ndata: {"type":"overloaded","message":"too much","after":1}\n\n' },
  ],
  [
    "error inside, chosen by the test",
    { streamError: { after: 0, type: "t", message: "m" } },
    { text: 'event: error\ndata: {"type":"t","message":"m","after":0}\n\n' },
  ],
])("a stream with a fault: %s", async (_, fault, expected) => {
  const { text, broken, status } = await faulty(fault);
  // Where only the data matter, the frames around them are left out of the comparison.
  const shown = expected.text.startsWith("{")
    ? text
        .replace(/^data: /, "")
        .replace(/\n\ndata: /g, " ")
        .trim()
    : text;
  expect({ status, text: shown, broken }).toEqual({ status: 200, broken: undefined, ...expected });
});

test("sends a web page instead of an answer", async () => {
  const answer = await faulty("html-body");
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "text/html" } });
  expect(answer.text).toContain("<!DOCTYPE html>");
});

test.each<[Fault, string | undefined]>([
  ["silence", undefined],
  ["headers-then-silence", ""],
  [{ idleAfter: 2 }, 'data: {"text":"a"}\n\ndata: {"text":"b"}\n\n'],
])("an open response counts as aborted once the client leaves: %j", async (fault, expected) => {
  server.enqueue({ text: ["a", "b", "c"], fault });
  const sent = request(server.url, { method: "POST", agent: false });
  sent.on("error", () => {});
  let text: string | undefined;
  const received = new Promise<void>((resolve) => {
    if (expected === undefined) void server.until(() => server.requests.length === 1).then(resolve);
    sent.on("response", (response) => {
      text = "";
      response.on("error", () => {});
      response.on("data", (chunk: Buffer) => {
        text += chunk.toString();
        if (text === expected) resolve();
      });
      if (expected === "") resolve();
    });
  });
  sent.end('{"fine":true}');
  await received;
  expect(text).toBe(expected);
  expect(server.requests[0]?.aborted).toBe(false);
  expect(server.openSockets).toBe(1);
  sent.destroy();
  await server.until(() => server.requests[0]?.aborted === true && server.openSockets === 0);
  expect(server.requests).toHaveLength(1);
});

test("closing ends open responses", async () => {
  server.enqueue({ fault: "silence" }, { delayMs: 3_600_000 });
  const open = [1, 2].map(() => post(server.url, {}, { fine: true }).catch((error: { code: string }) => error.code));
  await server.until(() => server.requests.length === 2);
  await server.close();
  expect(await Promise.all(open)).toEqual(["ECONNRESET", "ECONNRESET"]);
  expect(server.openSockets).toBe(0);
});

test("slices join to the whole, even if characters were cut", async () => {
  const pieces = ["grüße ", "🙂🙃"];
  const sliced = await ask({ text: pieces, sliceBytes: 1, chunkDelayMs: 1, delayMs: 1 });
  const whole = await ask({ text: pieces });
  expect(sliced.text).toBe(whole.text);
});

test("ids have the requested style, are unique, and are the same in every run", () => {
  const [first, second] = [createIds("seed"), createIds("seed")];
  const some = [first("msg_01", 22), first("msg_01", 22), first("", 40, "ab")];
  expect(some).toEqual([second("msg_01", 22), second("msg_01", 22), second("", 40, "ab")]);
  expect(some[0]).toMatch(/^msg_01[A-Za-z0-9]{22}$/);
  expect(some[2]).toMatch(/^[ab]{40}$/);
  expect(some[0]).not.toBe(some[1]);
  expect(createIds("other")("msg_01", 22)).not.toBe(some[0]);
});

test.each([1, 2, 3, 5, 9, 40])("text in %i pieces has that many, and joins to the whole", (count) => {
  const text = '{"path":"/a b","lines":[1,2,3]}';
  const pieces = splitUnevenly(text, count);
  expect(pieces.join("")).toBe(text);
  expect(pieces).toHaveLength(count);
  if (count < text.length) expect(pieces.every((piece) => piece !== "")).toBe(true);
});

test("missing counts are made up, and thinking is part of the output", () => {
  expect(usageOf({ text: ["a"], thinking: ["b"] })).toEqual({
    input: 25,
    cacheRead: 0,
    cacheWrite: 0,
    output: 7,
    thinking: 4,
  });
  expect(usageOf({ usage: { input: 3, output: 9, thinking: 2 } })).toEqual({
    input: 3,
    cacheRead: 0,
    cacheWrite: 0,
    output: 9,
    thinking: 2,
  });
});

test("a seal is valid only for its content, even at another server", () => {
  const seal = createSeal("s");
  const proof = seal.sign("words");
  expect(seal.sign("words")).not.toBe(proof);
  expect(createSeal("s").holds(proof, "words")).toBe(true);
  expect([
    seal.holds(proof, "word"),
    seal.holds(`${proof.slice(0, -4)}AAA=`, "words"),
    seal.holds("", "words"),
    createSeal("t").holds(proof, "words"),
  ]).toEqual([false, false, false, false]);
});
