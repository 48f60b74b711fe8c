import { afterEach, beforeEach, expect, test } from "vitest";
import { createAnthropicServer } from "./anthropic-server.ts";
import type { ProviderServer, Turn } from "./base.ts";
import { eventsOf, post } from "./post.ts";

let server: ProviderServer;

beforeEach(async () => {
  server = await createAnthropicServer();
});
afterEach(() => server.close());

const headers = () => ({
  "x-api-key": server.key,
  "anthropic-version": "2023-06-01",
  "content-type": "application/json",
});
const hello = {
  model: "claude-sonnet-4-6",
  max_tokens: 4096,
  messages: [{ role: "user", content: "Hello" }],
  stream: true,
};
const send = (body: unknown, more: Record<string, string> = {}) =>
  post(`${server.url}/v1/messages`, { ...headers(), ...more }, body);
const stream = async (turn: Turn, body: object = hello) => {
  server.enqueue(turn);
  const answer = await send(body);
  expect(server.requests.at(-1)?.faults).toEqual([]);
  return eventsOf(answer.text);
};

const start = (input = 25, read = 0, write = 0, model = hello.model) => ({
  event: "message_start",
  data: {
    type: "message_start",
    message: {
      model,
      id: expect.stringMatching(/^msg_01[A-Za-z0-9]{22}$/),
      type: "message",
      role: "assistant",
      content: [],
      container: null,
      diagnostics: null,
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: input,
        cache_creation_input_tokens: write,
        cache_read_input_tokens: read,
        cache_creation: { ephemeral_5m_input_tokens: write, ephemeral_1h_input_tokens: 0 },
        output_tokens: 1,
        output_tokens_details: null,
        server_tool_use: null,
        service_tier: "standard",
        inference_geo: "global",
        speed: "standard",
      },
    },
  },
});
const ping = { event: "ping", data: { type: "ping" } };
const stop = { event: "message_stop", data: { type: "message_stop" } };
const block = (index: number, content_block: unknown) => ({
  event: "content_block_start",
  data: { type: "content_block_start", index, content_block },
});
const delta = (index: number, piece: unknown) => ({
  event: "content_block_delta",
  data: { type: "content_block_delta", index, delta: piece },
});
const blockStop = (index: number) => ({ event: "content_block_stop", data: { type: "content_block_stop", index } });

test("streams every kind of content, like the real service", async () => {
  const thinking = { type: "adaptive" };
  const events = await stream(
    {
      thinking: ["Let me ", "see."],
      text: ["I look."],
      calls: [
        { name: "Read", input: { path: "/a" }, pieces: 3 },
        { name: "Now", input: {} },
      ],
      usage: { input: 12, cacheRead: 7, cacheWrite: 5, output: 40, thinking: 9 },
    },
    { ...hello, thinking },
  );
  const call = (name: string) => {
    const id = expect.stringMatching(/^toolu_01[A-Za-z0-9]{22}$/);
    return { type: "tool_use", id, name, input: {}, caller: { type: "direct" } };
  };
  const json = (partial_json: string) => ({ type: "input_json_delta", partial_json });
  expect(events).toEqual([
    start(12, 7, 5),
    block(0, { type: "thinking", thinking: "", signature: "" }),
    ping,
    delta(0, { type: "thinking_delta", thinking: "Let me " }),
    delta(0, { type: "thinking_delta", thinking: "see." }),
    delta(0, { type: "signature_delta", signature: expect.stringMatching(/^[A-Za-z0-9+/]{100,}=*$/) }),
    blockStop(0),
    block(1, { type: "text", text: "" }),
    delta(1, { type: "text_delta", text: "I look." }),
    blockStop(1),
    block(2, call("Read")),
    delta(2, json("")),
    delta(2, json('{"pat')),
    delta(2, json('h"')),
    delta(2, json(':"/a"}')),
    blockStop(2),
    block(3, call("Now")),
    delta(3, json("")),
    blockStop(3),
    {
      event: "message_delta",
      data: {
        type: "message_delta",
        delta: { stop_reason: "tool_use", stop_sequence: null, stop_details: null, container: null },
        usage: {
          input_tokens: 12,
          cache_creation_input_tokens: 5,
          cache_read_input_tokens: 7,
          output_tokens: 40,
          output_tokens_details: { thinking_tokens: 9 },
          server_tool_use: null,
        },
      },
    },
    stop,
  ]);
});

test.each<[Turn, unknown]>([
  [{ text: ["a"] }, { stop_reason: "end_turn" }],
  [{ text: ["a"], stop: "length" }, { stop_reason: "max_tokens" }],
  [
    { text: ["a"], stop: "refusal" },
    { stop_reason: "refusal", stop_details: { type: "refusal", category: "cyber" } },
  ],
  [{ text: ["a"], nativeStop: "pause_turn" }, { stop_reason: "pause_turn" }],
  [{ calls: [{ name: "a", input: {} }], stop: "end" }, { stop_reason: "end_turn" }],
])("%j stops with %j", async (turn, expected) => {
  const events = await stream(turn);
  expect(events.at(-2)?.data).toMatchObject({ delta: expected });
});

test("unreadable thinking is one block without deltas", async () => {
  const body = { ...hello, thinking: { type: "enabled", budget_tokens: 1024 } };
  const events = await stream({ redacted: true, text: ["x"] }, body);
  const data = expect.stringMatching(/^[A-Za-z0-9+/]+=*$/);
  expect(events.slice(0, 4)).toEqual([start(), block(0, { type: "redacted_thinking", data }), ping, blockStop(0)]);
});

test.each<[string, object, number]>([
  ["it is not requested", {}, 0],
  ["it is disabled", { thinking: { type: "disabled" } }, 0],
  ["its text is omitted on request", { thinking: { type: "adaptive", display: "omitted" } }, 1],
  ["the model omits its text by default", { model: "claude-opus-4-8", thinking: { type: "adaptive" } }, 1],
  ["the model thinks by default, and omits its text", { model: "claude-opus-5" }, 1],
  ["its text is requested", { model: "claude-opus-5", thinking: { type: "adaptive", display: "summarized" } }, 2],
])("thinking where %s", async (_, more, expected) => {
  const text = JSON.stringify(await stream({ thinking: ["hmm"], text: ["x"] }, { ...hello, ...more }));
  expect(Number(text.includes("signature_delta")) + Number(text.includes("thinking_delta"))).toBe(expected);
});

test("an empty answer has no blocks", async () => {
  const events = await stream({ text: ["dropped"], fault: "empty-answer" });
  expect(events.map(({ event }) => event)).toEqual(["message_start", "ping", "message_delta", "message_stop"]);
});

test("sends an error inside the stream", async () => {
  server.enqueue({ text: ["a", "b"], fault: { streamError: { after: 4 } } });
  const events = eventsOf((await send(hello)).text);
  expect(events.map(({ event }) => event)).toEqual([
    "message_start",
    "content_block_start",
    "ping",
    "content_block_delta",
    "error",
  ]);
  expect(events.at(-1)?.data).toEqual({
    type: "error",
    error: { details: null, type: "overloaded_error", message: "Overloaded" },
    request_id: expect.stringMatching(/^req_011C[A-Za-z0-9]{20}$/),
  });
});

test("a request without streaming gets one message", async () => {
  server.enqueue({ text: ["a", "b"], calls: [{ name: "Read", input: { path: 1 }, id: "toolu_x" }] });
  const answer = await send({ ...hello, stream: false });
  expect(JSON.parse(answer.text)).toMatchObject({
    type: "message",
    content: [
      { type: "text", text: "ab" },
      { type: "tool_use", id: "toolu_x", name: "Read", input: { path: 1 } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 25, output_tokens: 23 },
  });
});

const failure = (type: string, message: string) => ({
  type: "error",
  error: { type, message },
  request_id: expect.stringMatching(/^req_011C/),
});

test.each<[string, Record<string, string>, object, number, object, string[]]>([
  ["a wrong key", { "x-api-key": "nope" }, {}, 401, failure("authentication_error", "invalid x-api-key"), []],
  ["an unknown model", {}, { model: "claude-9" }, 404, failure("not_found_error", "model: claude-9"), []],
  [
    "an unknown version",
    { "anthropic-version": "2020-01-01" },
    {},
    400,
    failure("invalid_request_error", 'anthropic-version: "2020-01-01" is not a valid version'),
    ['anthropic-version: "2020-01-01" is not a valid version'],
  ],
  [
    "a missing content type",
    { "content-type": "text/plain" },
    {},
    400,
    failure("invalid_request_error", "content-type: expected application/json"),
    ["content-type: expected application/json"],
  ],
])("%s", async (_, more, change, status, body, faults) => {
  const answer = await send({ ...hello, ...change }, more);
  expect({ status: answer.status, body: JSON.parse(answer.text) }).toEqual({ status, body });
  expect(answer.headers["request-id"]).toBe((JSON.parse(answer.text) as { request_id: string }).request_id);
  expect(server.requests[0]?.faults).toEqual(faults);
});

test("rejects missing keys and versions, bearer tokens, other paths and methods, and malformed or oversized bodies", async () => {
  const to = (path: string, sent: Record<string, string>, body: unknown = hello, method = "POST") =>
    post(`${server.url}${path}`, sent, body, method);
  const { "x-api-key": key, ...noKey } = headers();
  const { "anthropic-version": _, ...noVersion } = headers();
  server.enqueue({ text: ["fine"] });
  const answers = [
    await to("/v1/messages", noKey),
    await to("/v1/messages", { ...noKey, authorization: "Bearer nope" }),
    await to("/v1/messages?beta=true", { ...noKey, authorization: `Bearer ${key}` }),
    await to("/v1/messages", noVersion),
    await to("/messages", headers()),
    await to("/v1/messages", headers(), "", "GET"),
    await to("/v1/messages", headers(), "{"),
    await to("/v1/messages", headers(), { ...hello, system: "x".repeat(32 * 1024 * 1024) }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([401, 401, 200, 400, 404, 405, 400, 413]);
  const words = answers.map(({ text }) => (text.startsWith("{") ? JSON.parse(text).error.message : ""));
  expect(words).toEqual([
    "x-api-key header is required",
    "Invalid bearer token",
    "",
    "anthropic-version: header is required",
    "Not Found",
    "Method Not Allowed",
    "The request body is not valid JSON",
    "Request exceeds the maximum size",
  ]);
});

test.each([
  [400, "invalid_request_error"],
  [403, "permission_error"],
  [413, "request_too_large"],
  [429, "rate_limit_error"],
  [500, "api_error"],
  [504, "timeout_error"],
  [529, "overloaded_error"],
])("status %i has the type %s", async (status, type) => {
  server.enqueue({ fault: { status } });
  const answer = await send(hello);
  expect({ status: answer.status, body: JSON.parse(answer.text) }).toEqual({
    status,
    body: failure(type, expect.any(String)),
  });
});

test("models that a test names itself accept everything", async () => {
  const own = await createAnthropicServer({ models: ["house-model"], key: "k" });
  try {
    own.enqueue({ thinking: ["hm"], text: ["x"] });
    const body = {
      ...hello,
      model: "house-model",
      thinking: { type: "adaptive" },
      output_config: { effort: "xhigh" },
    };
    const answer = await post(`${own.url}/v1/messages`, { ...headers(), "x-api-key": "k" }, body);
    expect([answer.status, own.requests[0]?.faults]).toEqual([200, []]);
  } finally {
    await own.close();
  }
});
