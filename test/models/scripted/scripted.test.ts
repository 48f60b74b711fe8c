import { describe, expect, test } from "vitest";
import { AgentError } from "../../../src/engine/errors.ts";
import type { Message, ToolResultBlock } from "../../../src/engine/message.ts";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import { scriptJsonSchema } from "../../../src/models/scripted/script-format.ts";
import { createScriptedModel } from "../../../src/models/scripted/scripted.ts";
import {
  assistantMessage,
  collect,
  createChat,
  instantClock,
  requestOf,
  stoppedClock,
  toolMessage,
  userMessage,
} from "../harness.ts";

const clock = instantClock();
const model = (replies: readonly unknown[], extra: object = {}) =>
  createScriptedModel({ id: "script:s.yaml", path: "s.yaml", script: { replies, ...extra }, clock });
const textsOf = (events: readonly ModelEvent[]) =>
  events.flatMap((event) => (event.type === "text" ? [event.text] : []));
const ask = (replies: readonly unknown[], messages: readonly Message[] = [userMessage("hi")]) =>
  collect(model(replies), requestOf(messages));

describe("reports an invalid script in one line", () => {
  const wrong: readonly (readonly [name: string, script: unknown, message: string])[] = [
    ["not an object", "hello", "s.yaml: the script: Invalid input: expected object, received string"],
    ["empty file", null, "s.yaml: the script: Invalid input: expected object, received null"],
    ["no replies", {}, "s.yaml: replies: Invalid input: expected array, received undefined"],
    ["no reply", { replies: [] }, "s.yaml: replies: Too small: expected array to have >=1 items"],
    ["unknown key", { replies: [{ txt: "a" }] }, 's.yaml: replies[0]: unknown key "txt"'],
    [
      "unknown condition",
      { replies: [{ text: "a" }, { text: "b", when: { users: "x" } }] },
      's.yaml: replies[1].when: unknown key "users"',
    ],
    [
      "no condition",
      { replies: [{ text: "a", when: {} }] },
      "s.yaml: replies[0].when: must have at least one condition",
    ],
    [
      "text of the wrong type",
      { replies: [{ text: 5 }] },
      "s.yaml: replies[0].text: must be a string or a list of strings",
    ],
    [
      "chunk of the wrong type",
      { replies: [{ text: ["a", 5] }] },
      "s.yaml: replies[0].text[1]: Invalid input: expected string, received number",
    ],
    [
      "invalid times",
      { replies: [{ text: "a", times: "often" }] },
      "s.yaml: replies[0].times: must be a whole number from 1, or any",
    ],
    [
      "negative delay",
      { replies: [{ text: "a", delay_ms: -1 }] },
      "s.yaml: replies[0].delay_ms: Too small: expected number to be >=0",
    ],
    [
      "invalid regular expression",
      { replies: [{ text: "a", when: { user: "/(/" } }] },
      "s.yaml: replies[0].when.user: Invalid regular expression: /(/: Unterminated group",
    ],
    [
      "tool call without a name",
      { replies: [{ tool_calls: [{ input: {} }] }] },
      "s.yaml: replies[0].tool_calls[0].name: Invalid input: expected string, received undefined",
    ],
    [
      "deeply nested input",
      {
        replies: [
          { tool_calls: [{ name: "LS", input: JSON.parse(`{"a":${"[".repeat(6_000)}${"]".repeat(6_000)}}`) }] },
        ],
      },
      "s.yaml: replies[0].tool_calls[0].input: is nested more than 500 levels deep",
    ],
    [
      "input and raw",
      { replies: [{ tool_calls: [{ name: "LS", input: {}, raw: "{" }] }] },
      "s.yaml: replies[0].tool_calls[0]: has both input and raw; give one",
    ],
    [
      "unknown error",
      { replies: [{ error: "boom" }] },
      "s.yaml: replies[0].error: must be connection, cut, or an object with status",
    ],
    [
      "status out of range",
      { replies: [{ error: { status: 200 } }] },
      "s.yaml: replies[0].error.status: Too small: expected number to be >=400",
    ],
    [
      "unknown key of an error",
      { replies: [{ error: { status: 500, retry: 1 } }] },
      's.yaml: replies[0].error: unknown key "retry"',
    ],
    [
      "empty and text",
      { replies: [{ text: "a", empty: true }] },
      "s.yaml: replies[0]: has both empty and content; give one",
    ],
    [
      "no content",
      { replies: [{ delay_ms: 5 }] },
      "s.yaml: replies[0]: has no content; use empty: true for an empty reply",
    ],
    [
      "error and stop",
      { replies: [{ error: "cut", stop: "end" }] },
      "s.yaml: replies[0]: has both error and stop; give one",
    ],
    [
      "fractional usage",
      { replies: [{ text: "a", usage: { input: 1.5 } }] },
      "s.yaml: replies[0].usage.input: Invalid input: expected int, received number",
    ],
    [
      "unknown effort",
      { replies: [{ text: "a" }], model: { reasoningEfforts: ["huge"] } },
      expect.stringContaining("s.yaml: model.reasoningEfforts[0]: ") as unknown as string,
    ],
    [
      "too much text",
      { replies: [{ repeat_text: { text: "x".repeat(1000), times: 1_000_000 } }] },
      "s.yaml: replies[0].repeat_text: is longer than 200 million characters",
    ],
  ];
  test.each(wrong)("%s", (_, script, message) => {
    let thrown: unknown;
    try {
      createScriptedModel({ id: "script:s.yaml", path: "s.yaml", script, clock });
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(AgentError);
    expect((thrown as AgentError).failure).toEqual({ code: "script_invalid", message });
    expect((thrown as AgentError).message).not.toContain("\n");
  });

  test("has the same keys in the JSON Schema", () => {
    const schema = scriptJsonSchema() as {
      properties: { replies: { items: { properties: object } } };
      required: unknown;
    };
    expect(schema.required).toEqual(["replies"]);
    expect(Object.keys(schema.properties.replies.items.properties)).toEqual([
      "when",
      "times",
      "delay_ms",
      "chunk_delay_ms",
      "reasoning",
      "text",
      "repeat_text",
      "tool_calls",
      "error",
      "empty",
      "stop",
      "usage",
    ]);
  });
});

test("takes the model's info from the script, with defaults", () => {
  expect(model([{ text: "a" }]).info).toEqual({
    id: "script:s.yaml",
    provider: "script",
    displayName: "Script s.yaml",
    contextWindow: 200_000,
    maxOutputTokens: 8_192,
    reasoningEfforts: ["none", "low", "medium", "high"],
    images: true,
  });
  const given = {
    displayName: "Tiny",
    contextWindow: 4_000,
    maxOutputTokens: 100,
    reasoningEfforts: ["high"],
    images: false,
  };
  expect(model([{ text: "a" }], { model: given }).info).toEqual({ id: "script:s.yaml", provider: "script", ...given });
});

describe("a reply", () => {
  test("sends reasoning, text, calls and usage in this order", async () => {
    const reply = {
      reasoning: ["hm", "…"],
      text: ["one ", "two"],
      tool_calls: [
        { name: "Read", input: { file_path: "a.txt" } },
        { name: "LS", raw: "{oops", id: "mine" },
        { name: "Grep", input: { pattern: "x" }, chunks: 2 },
      ],
      usage: { input: 10, output: 5, cache_read: 3, cache_write: 2, thinking: 1 },
    };
    expect(await ask([reply])).toEqual([
      { type: "thinking", text: "hm" },
      { type: "thinking", text: "…" },
      { type: "text", text: "one " },
      { type: "text", text: "two" },
      { type: "tool_call", id: "call_1", name: "Read", inputText: '{"file_path":"a.txt"}' },
      { type: "tool_call", id: "mine", name: "LS", inputText: "{oops" },
      { type: "tool_input", id: "call_3", name: "Grep", text: '{"patter' },
      { type: "tool_input", id: "call_3", name: "Grep", text: 'n":"x"}' },
      { type: "tool_call", id: "call_3", name: "Grep", inputText: '{"pattern":"x"}' },
      { type: "usage", usage: { input: 10, output: 5, cacheRead: 3, cacheWrite: 2, thinking: 1 } },
      { type: "end", stop: "tool_calls" },
    ]);
  });

  test("estimates usage by default", async () => {
    const events = await collect(
      model([{ text: "abcdefgh", reasoning: "abcd" }]),
      requestOf([userMessage("abcd")], { system: "", tools: [] }),
    );
    expect(events.find((event) => event.type === "usage")).toEqual({
      type: "usage",
      usage: { input: 9, output: 3, cacheRead: 0, cacheWrite: 0, thinking: 1 },
    });
  });

  test.each(["end", "length", "refusal"])("can stop with %s", async (stop) => {
    expect((await ask([{ text: "a", stop }])).at(-1)).toEqual({ type: "end", stop });
  });

  test("can be empty", async () => {
    expect((await ask([{ empty: true }])).map((event) => event.type)).toEqual(["usage", "end"]);
  });

  test("streams repeated text in pieces", async () => {
    const texts = textsOf(await ask([{ text: "a", repeat_text: { text: "0123456789", times: 100_000 } }]));
    expect(texts.join("").length).toBe(1_000_001);
    expect(texts.length).toBeLessThan(100);
  });

  test("fills in the prompt and the tool results", async () => {
    const result: ToolResultBlock = { type: "tool_result", callId: "c", name: "LS", status: "ok", text: "x.txt" };
    const call = assistantMessage([{ type: "tool_call", id: "c", name: "LS", input: {} }], "tool_calls");
    const reply = {
      when: { after_tool: "LS" },
      text: "{{user}}: {{ tool_result }} {{other}}",
      tool_calls: [
        { name: "Create", input: { file_path: "out", list: ["{{tool_result}}", 3, null] } },
        { name: "Raw", raw: "{{user}}" },
      ],
    };
    const events = await ask([reply], [userMessage("go"), call, toolMessage([result])]);
    expect(textsOf(events)).toEqual(["go: x.txt {{other}}"]);
    expect(events.flatMap((event) => (event.type === "tool_call" ? [event.inputText] : []))).toEqual([
      '{"file_path":"out","list":["x.txt",3,null]}',
      "go",
    ]);
  });

  test("pauses before the first chunk and between chunks", async () => {
    const own = instantClock();
    const slow = createScriptedModel({
      id: "script:s",
      path: "s",
      clock: own,
      script: { replies: [{ delay_ms: 50, chunk_delay_ms: 7, text: ["a", "b", "c"] }] },
    });
    await collect(slow, requestOf([userMessage("hi")]));
    expect(own.pauses).toEqual([50, 7, 7]);
  });

  test.each([
    [{ delay_ms: 60_000, text: "never" }, []],
    [{ chunk_delay_ms: 60_000, text: ["a", "never"] }, ["a"]],
  ])("ends at once on an abort during a pause", async (reply, seen) => {
    const own = stoppedClock();
    const held = createScriptedModel({ id: "script:s", path: "s", clock: own, script: { replies: [reply] } });
    const controller = new AbortController();
    const events = collect(held, requestOf([userMessage("hi")]), controller.signal);
    while (own.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    expect(textsOf(await events)).toEqual(seen);
    expect(own.waiting()).toBe(0);
  });
});

describe("failures", () => {
  const codes: readonly (readonly [status: number, code: string, retryable: boolean, cause?: string])[] = [
    [400, "model_bad_request", false],
    [401, "model_auth", false],
    [403, "model_auth", false],
    [404, "model_bad_request", false],
    [408, "model_failed", true, "timeout"],
    [409, "model_failed", true],
    [413, "model_bad_request", false, "too_large"],
    [422, "model_bad_request", false],
    [425, "model_failed", true],
    [429, "model_overloaded", true, "rate_limited"],
    [500, "model_failed", true],
    [502, "model_failed", true],
    [503, "model_overloaded", true, "overloaded"],
    [504, "model_failed", true, "timeout"],
    [529, "model_overloaded", true, "overloaded"],
  ];
  test.each(codes)("status %i is %s", async (status, code, retryable, cause) => {
    const message = `The model returned HTTP status ${status}.`;
    const failure = { code, message, ...(cause === undefined ? {} : { cause }) };
    expect(await ask([{ error: { status } }])).toStrictEqual([{ type: "error", failure, retryable }]);
  });

  test("a status can have a message and a retry-after", async () => {
    expect(await ask([{ error: { status: 429, message: "slow down", retry_after_ms: 1_200 } }])).toEqual([
      {
        type: "error",
        failure: { code: "model_overloaded", message: "slow down", cause: "rate_limited" },
        retryable: true,
        retryAfterMs: 1_200,
      },
    ]);
  });

  test("a cut stream keeps its text", async () => {
    expect(await ask([{ text: ["half a", " sent"], error: "cut", usage: { input: 4 } }])).toEqual([
      { type: "text", text: "half a" },
      { type: "text", text: " sent" },
      { type: "usage", usage: { input: 4, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 } },
      {
        type: "error",
        failure: { code: "model_failed", message: "The model's reply was cut off.", cause: "network" },
        retryable: true,
      },
    ]);
    expect(await ask([{ error: "connection" }])).toEqual([
      {
        type: "error",
        failure: { code: "model_failed", message: "The connection to the model failed.", cause: "network" },
        retryable: true,
      },
    ]);
  });

  test("an exhausted script names the prompt or the tool result", async () => {
    const chat = createChat(model([{ text: "only" }]));
    await chat.say("first");
    expect((await chat.say("and\nnow?")).error).toEqual({
      type: "error",
      failure: { code: "script_exhausted", message: 'The script s.yaml has no reply left for the prompt "and now?".' },
      retryable: false,
    });
    const tool = createChat(model([{ tool_calls: [{ name: "LS" }] }]));
    expect((await tool.say("go", { results: { LS: "a.txt" } })).error?.failure.message).toBe(
      'The script s.yaml has no reply left for the tool result "a.txt".',
    );
  });
});
