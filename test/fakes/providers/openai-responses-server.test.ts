import { afterEach, describe, expect, test } from "vitest";
import type { ProviderServer, Turn } from "./base.ts";
import { eventsOf, send } from "./openai-client.ts";
import { openAIFaults } from "./openai-errors.ts";
import { createOpenAIResponsesServer } from "./openai-responses-server.ts";

type Json = Record<string, unknown>;

let server: ProviderServer;
afterEach(() => server.close());

const thoughtful = {
  model: "gpt-5",
  input: [{ role: "user", content: [{ type: "input_text", text: "hello" }] }],
  reasoning: { effort: "low", summary: "auto" },
  include: ["reasoning.encrypted_content"],
  store: false,
  stream: true,
  stream_options: { include_obfuscation: false },
};

async function ask(body: unknown = thoughtful) {
  return await send(`${server.url}/responses`, { key: server.key, body });
}

async function stream(turn: Turn, body: unknown = thoughtful): Promise<Json[]> {
  server.enqueue(turn);
  const answer = await ask(body);
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "text/event-stream; charset=utf-8" } });
  expect(server.requests.at(-1)?.faults).toEqual([]);
  const events = eventsOf(answer.text);
  for (const [index, { name, data }] of events.entries()) {
    expect(data).toMatchObject({ type: name, sequence_number: index });
  }
  return events.map(({ data }) => data as Json);
}

/** The output of the last event's response. */
function outputOf(events: readonly Json[]): readonly Json[] {
  const { response } = events.at(-1) as { response: { output: Json[] } };
  return response.output;
}

function itemOf(event: Json | undefined): Json {
  return (event as { item: Json }).item;
}

function types(events: readonly Json[]): unknown[] {
  return events.map(({ type }) => type);
}

describe("streams", () => {
  test("streams thinking, text and a call, every event complete", async () => {
    server = await createOpenAIResponsesServer();
    const events = await stream({
      thinking: ["**Plan**\n\n", "Look."],
      text: ["Hi", " there"],
      calls: [{ name: "read", input: { path: "a" }, id: "call_1", pieces: 2 }],
      usage: { input: 10, cacheRead: 4, cacheWrite: 2, output: 9, thinking: 5 },
    });
    const response = events[0]?.response as Json;
    expect(response).toEqual({
      id: expect.stringMatching(/^resp_[0-9a-f]{50}$/),
      object: "response",
      access_programs: null,
      created_at: 1_760_000_000,
      status: "in_progress",
      background: false,
      completed_at: null,
      error: null,
      incomplete_details: null,
      instructions: null,
      max_output_tokens: null,
      max_tool_calls: null,
      metadata: {},
      model: "gpt-5",
      output: [],
      parallel_tool_calls: true,
      previous_response_id: null,
      prompt_cache_key: null,
      prompt_cache_retention: null,
      reasoning: { effort: "low", summary: "auto" },
      safety_identifier: null,
      service_tier: "auto",
      store: false,
      temperature: 1,
      text: { format: { type: "text" }, verbosity: "medium" },
      tool_choice: "auto",
      tools: [],
      top_logprobs: 0,
      top_p: 1,
      truncation: "disabled",
      usage: null,
      user: null,
    });
    const [reasoning, message, call] = outputOf(events) as [Json, Json, Json];
    const [rs, msg, fc] = [reasoning.id, message.id, call.id];
    expect([rs, msg, fc]).toEqual([
      expect.stringMatching(/^rs_[0-9a-f]{50}$/),
      expect.stringMatching(/^msg_[0-9a-f]{50}$/),
      expect.stringMatching(/^fc_[0-9a-f]{50}$/),
    ]);
    const early = itemOf(events[2]).encrypted_content;
    expect(early).toEqual(expect.stringMatching(/^gAAAAAB/));
    expect(early).not.toBe(reasoning.encrypted_content);
    const thought = { item_id: rs, output_index: 0, summary_index: 0 };
    const said = { item_id: msg, output_index: 1, content_index: 0 };
    const argument = { item_id: fc, output_index: 2 };
    const part = (text: string) => ({ type: "output_text", annotations: [], logprobs: [], text });
    const summary = { type: "summary_text", text: "**Plan**\n\nLook." };
    const calling = { id: fc, type: "function_call", call_id: "call_1", name: "read" };
    const speaking = { id: msg, type: "message", role: "assistant" };
    const expected: Json[] = [
      { type: "response.created", response },
      { type: "response.in_progress", response },
      {
        type: "response.output_item.added",
        output_index: 0,
        item: { id: rs, type: "reasoning", encrypted_content: early, summary: [] },
      },
      { type: "response.reasoning_summary_part.added", ...thought, part: { type: "summary_text", text: "" } },
      { type: "response.reasoning_summary_text.delta", ...thought, delta: "**Plan**\n\n" },
      { type: "response.reasoning_summary_text.delta", ...thought, delta: "Look." },
      { type: "response.reasoning_summary_text.done", ...thought, text: summary.text },
      { type: "response.reasoning_summary_part.done", ...thought, part: summary },
      {
        type: "response.output_item.done",
        output_index: 0,
        item: {
          id: rs,
          type: "reasoning",
          encrypted_content: expect.stringMatching(/^gAAAAAB[\w-]+==$/),
          summary: [summary],
        },
      },
      {
        type: "response.output_item.added",
        output_index: 1,
        item: { ...speaking, status: "in_progress", content: [] },
      },
      { type: "response.content_part.added", ...said, part: part("") },
      { type: "response.output_text.delta", ...said, delta: "Hi", logprobs: [] },
      { type: "response.output_text.delta", ...said, delta: " there", logprobs: [] },
      { type: "response.output_text.done", ...said, text: "Hi there", logprobs: [] },
      { type: "response.content_part.done", ...said, part: part("Hi there") },
      {
        type: "response.output_item.done",
        output_index: 1,
        item: { ...speaking, status: "completed", content: [part("Hi there")] },
      },
      {
        type: "response.output_item.added",
        output_index: 2,
        item: { ...calling, status: "in_progress", arguments: "" },
      },
      { type: "response.function_call_arguments.delta", ...argument, delta: expect.any(String) },
      { type: "response.function_call_arguments.delta", ...argument, delta: expect.any(String) },
      { type: "response.function_call_arguments.done", ...argument, arguments: '{"path":"a"}' },
      {
        type: "response.output_item.done",
        output_index: 2,
        item: { ...calling, status: "completed", arguments: '{"path":"a"}' },
      },
      {
        type: "response.completed",
        response: {
          ...response,
          status: "completed",
          completed_at: 1_760_000_003,
          service_tier: "default",
          output: [events[8]?.item, events[15]?.item, events[20]?.item],
          usage: {
            input_tokens: 16,
            input_tokens_details: { cache_write_tokens: 2, cached_tokens: 4 },
            output_tokens: 9,
            output_tokens_details: { reasoning_tokens: 5 },
            total_tokens: 25,
          },
        },
      },
    ];
    expect(events).toEqual(expected.map((event, index) => ({ ...event, sequence_number: index })));
    const deltas = events.filter(({ type }) => type === "response.function_call_arguments.delta");
    expect(deltas.map(({ delta }) => delta).join("")).toBe('{"path":"a"}');
  });

  test("hides thinking unless requested", async () => {
    server = await createOpenAIResponsesServer();
    const { include: _, ...rest } = thoughtful;
    const plain = { ...rest, reasoning: { effort: "low" } };
    const events = await stream({ thinking: ["secret"], text: ["x"] }, plain);
    const added = { type: "reasoning", id: itemOf(events[2]).id, summary: [] };
    expect(events[2]?.item).toEqual(added);
    expect(events[3]).toMatchObject({ type: "response.output_item.done", item: added });
  });

  test("a reasoning item with an empty summary still has its proof", async () => {
    server = await createOpenAIResponsesServer();
    const events = await stream({ redacted: true, text: ["x"] });
    expect(types(events).slice(2, 4)).toEqual(["response.output_item.added", "response.output_item.done"]);
    expect(events[3]?.item).toMatchObject({ summary: [], encrypted_content: expect.stringMatching(/==$/) });
  });

  test("a bold title begins a new part of the summary", async () => {
    server = await createOpenAIResponsesServer();
    const events = await stream({ thinking: ["**A**", "a", "**B**", "b"] });
    const done = events.filter(({ type }) => type === "response.reasoning_summary_part.done");
    expect(done.map(({ summary_index, part }) => [summary_index, (part as Json).text])).toEqual([
      [0, "**A**a"],
      [1, "**B**b"],
    ]);
  });

  test("parallel calls follow each other, with padding unless disabled", async () => {
    server = await createOpenAIResponsesServer();
    const { stream_options: _, ...padded } = thoughtful;
    const events = await stream(
      {
        calls: [
          { name: "a", input: {} },
          { name: "b", input: "{not json" },
        ],
      },
      padded,
    );
    const output = outputOf(events);
    expect(output.map(({ name, arguments: text, call_id: id }) => [name, text, id])).toEqual([
      ["a", "{}", expect.stringMatching(/^call_[A-Za-z0-9]{24}$/)],
      ["b", "{not json", expect.stringMatching(/^call_[A-Za-z0-9]{24}$/)],
    ]);
    const delta = events.find(({ type }) => type === "response.function_call_arguments.delta");
    expect(delta?.obfuscation).toEqual(expect.any(String));
  });

  test("a refusal is a separate part", async () => {
    server = await createOpenAIResponsesServer();
    const events = await stream({ text: ["I can't ", "do that."], stop: "refusal" });
    expect(types(events)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.refusal.delta",
      "response.refusal.delta",
      "response.refusal.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed",
    ]);
    expect(events[8]?.item).toMatchObject({ content: [{ type: "refusal", refusal: "I can't do that." }] });
  });

  test.each<[string, Turn, Json]>([
    ["the token limit", { text: ["x"], stop: "length" }, { reason: "max_output_tokens" }],
    [
      "the content filter",
      { text: ["x"], stop: "refusal", nativeStop: "content_filter" },
      { reason: "content_filter" },
    ],
  ])("incomplete for %s", async (_name, turn, details) => {
    server = await createOpenAIResponsesServer();
    const events = await stream(turn);
    expect(events.at(-1)).toMatchObject({
      type: "response.incomplete",
      response: {
        status: "incomplete",
        incomplete_details: details,
        output: [{ status: "incomplete", content: [{ type: "output_text", text: "x" }] }],
      },
    });
  });

  test("streams an empty answer, and a refused prompt", async () => {
    server = await createOpenAIResponsesServer();
    const silent = await stream({ text: ["x"], fault: "empty-answer" });
    expect(types(silent)).toEqual(["response.created", "response.in_progress", "response.completed"]);
    expect(silent.at(-1)).toMatchObject({ response: { output: [], status: "completed" } });
    const blocked = await stream({ blocked: "invalid_prompt" });
    expect(blocked.at(-1)).toMatchObject({
      type: "response.failed",
      response: { status: "failed", error: { code: "invalid_prompt" } },
    });
  });

  test("without streaming, the answer is only the last response", async () => {
    server = await createOpenAIResponsesServer();
    server.enqueue({ text: ["a", "b"] });
    const answer = await ask({ model: "gpt-4.1", input: "hello" });
    expect(answer.headers["content-type"]).toBe("application/json");
    expect(JSON.parse(answer.text)).toMatchObject({ status: "completed", output: [{ content: [{ text: "ab" }] }] });
  });
});

describe("failures", () => {
  test("sends errors inside a stream, in all three forms", async () => {
    server = await createOpenAIResponsesServer();
    const failing = (type?: string) =>
      stream({
        text: ["x"],
        fault: { streamError: { after: 3, ...(type === undefined ? {} : { type }), message: "no" } },
      });
    expect((await failing()).slice(3)).toEqual([
      {
        type: "response.failed",
        sequence_number: 3,
        response: expect.objectContaining({ status: "failed", error: { code: "server_error", message: "no" } }),
      },
    ]);
    expect((await failing("rate_limit_exceeded")).at(-1)).toMatchObject({
      response: { error: { code: "rate_limit_exceeded" } },
    });
    expect((await failing("error/server_error")).slice(3)).toEqual([
      { type: "error", code: "server_error", message: "no", param: null, sequence_number: 3 },
    ]);
    expect((await failing("both/server_error")).slice(3)).toEqual([
      {
        type: "error",
        sequence_number: 3,
        error: { type: "server_error", code: "server_error", message: "no", param: null },
      },
      expect.objectContaining({ type: "response.failed", sequence_number: 4 }),
    ]);
  });

  test("can cut a stream, and omit its end", async () => {
    server = await createOpenAIResponsesServer();
    server.enqueue({ text: ["x"], fault: { cutAfter: 3 } }, { text: ["x"], fault: { endWithoutFinish: true } });
    const cut = await ask();
    expect([cut.broken, eventsOf(cut.text).length]).toEqual([true, 3]);
    const unfinished = await ask();
    expect([unfinished.broken, eventsOf(unfinished.text).at(-1)?.name]).toEqual([false, "response.output_item.done"]);
  });

  test.each([
    [openAIFaults.rateLimit(7), 429, { type: "tokens", code: "rate_limit_exceeded" }],
    [openAIFaults.quota(), 429, { type: "insufficient_quota", code: "insufficient_quota" }],
    [openAIFaults.contextLength("responses"), 400, { param: "input", code: "context_length_exceeded" }],
    [{ status: 413 }, 413, { type: "server_error" }],
    [{ status: 500 }, 500, { type: "server_error" }],
    [{ status: 503 }, 503, { type: "server_error" }],
  ])("%j", async (fault, status, error) => {
    server = await createOpenAIResponsesServer();
    server.enqueue({ fault });
    const answer = await ask();
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text).error).toEqual({
      message: expect.any(String),
      param: null,
      code: null,
      type: "invalid_request_error",
      ...error,
    });
    const isLimit = "code" in error && error.code === "rate_limit_exceeded";
    expect(answer.headers["retry-after"]).toBe(isLimit ? "7" : undefined);
  });
});
