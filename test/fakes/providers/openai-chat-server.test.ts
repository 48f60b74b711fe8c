import { afterEach, describe, expect, test } from "vitest";
import type { ProviderServer, Turn } from "./base.ts";
import type { OpenAIChatOptions } from "./openai-chat-server.ts";
import { chatDialects, createOpenAIChatServer } from "./openai-chat-server.ts";
import { eventsOf, send } from "./openai-client.ts";
import { openAIFaults } from "./openai-errors.ts";

type Json = Record<string, unknown>;

let server: ProviderServer;
afterEach(() => server.close());

const base = { model: "gpt-4.1", messages: [{ role: "user", content: "hello" }], stream: true };
const withUsage = { ...base, stream_options: { include_usage: true } };

async function start(options?: OpenAIChatOptions): Promise<void> {
  server = await createOpenAIChatServer(options);
}

async function ask(body: unknown) {
  const { key } = server;
  return await send(`${server.url}/chat/completions`, { ...(key === "" ? {} : { key }), body });
}

/** The chunks; the last one is the text `[DONE]`. */
async function stream(turn: Turn, body: unknown = base): Promise<Json[]> {
  server.enqueue(turn);
  const answer = await ask(body);
  expect(answer).toMatchObject({ status: 200, headers: { "content-type": "text/event-stream; charset=utf-8" } });
  expect(server.requests.at(-1)?.faults).toEqual([]);
  const events = eventsOf(answer.text);
  expect(events.at(-1)).toEqual({ name: undefined, data: "[DONE]" });
  return events.slice(0, -1).map(({ data }) => data as Json);
}

/** The chunks' content, and how they finish. */
function said(chunks: readonly Json[]): unknown[] {
  return chunks.flatMap(({ choices }) =>
    (choices as Json[]).map(({ delta, finish_reason: finish }) => (finish === null ? delta : finish)),
  );
}

const two: Turn = {
  text: ["Hi"],
  calls: [
    { name: "read", input: { path: "a" }, id: "call_a", pieces: 2 },
    { name: "list", input: {}, id: "call_b", pieces: 1 },
  ],
};

describe("OpenAI's streams", () => {
  test("sends text and usage, every chunk complete", async () => {
    await start();
    const usage = { input: 10, cacheRead: 4, cacheWrite: 0, output: 9, thinking: 5 };
    const chunks = await stream({ thinking: ["hidden"], text: ["Hi", " there"], usage }, withUsage);
    const id = chunks[0]?.id;
    expect(id).toEqual(expect.stringMatching(/^chatcmpl-[A-Za-z0-9]{29}$/));
    const chunk = (choices: unknown[], counts: unknown = null) => ({
      id,
      object: "chat.completion.chunk",
      created: 1_760_000_000,
      model: "gpt-4.1",
      service_tier: "default",
      system_fingerprint: "fp_44709d6fcb",
      choices,
      usage: counts,
    });
    const choice = (delta: unknown, finish: string | null = null) => {
      return { index: 0, delta, logprobs: null, finish_reason: finish };
    };
    expect(chunks).toEqual([
      chunk([choice({ role: "assistant", content: "", refusal: null })]),
      chunk([choice({ content: "Hi" })]),
      chunk([choice({ content: " there" })]),
      chunk([choice({}, "stop")]),
      chunk([], {
        prompt_tokens: 14,
        completion_tokens: 9,
        total_tokens: 23,
        prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 5,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      }),
    ]);
    expect(JSON.stringify(await stream({ text: ["x"] }))).not.toContain("usage");
  });

  test("sends parallel calls interleaved, or one after the other", async () => {
    await start();
    const begin = (index: number, id: string, name: string) => {
      return { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] };
    };
    const piece = (index: number, text: string) => ({ tool_calls: [{ index, function: { arguments: text } }] });
    const chunks = said(await stream(two));
    const [a, b] = [begin(0, "call_a", "read"), begin(1, "call_b", "list")];
    const pieces = [
      ...chunks.flatMap(
        (delta) => JSON.stringify(delta).match(/"index":0,"function":\{"arguments":"(.*)"\}/)?.[1] ?? [],
      ),
    ].map((text) => JSON.parse(`"${text}"`) as string);
    expect(pieces.join("")).toBe('{"path":"a"}');
    const [first = "", second = ""] = pieces;
    const start0 = [{ role: "assistant", content: "", refusal: null }, { content: "Hi" }];
    expect(chunks).toEqual([...start0, a, b, piece(0, first), piece(1, "{}"), piece(0, second), "tool_calls"]);
    await server.close();
    await start({ interleaved: false });
    expect(said(await stream(two))).toEqual([
      ...start0,
      a,
      piece(0, first),
      piece(0, second),
      b,
      piece(1, "{}"),
      "tool_calls",
    ]);
    expect(said(await stream({ calls: [{ name: "read", input: {} }] }))[0]).toEqual({
      role: "assistant",
      content: null,
      refusal: null,
    });
  });

  test.each<[string, Turn, unknown[]]>([
    ["length", { text: ["x"], stop: "length" }, [{ content: "x" }, "length"]],
    ["the filter", { text: ["x"], stop: "refusal" }, [{ content: "x" }, "content_filter"]],
    ["a spoken refusal", { text: ["x"], stop: "refusal", nativeStop: "stop" }, [{ refusal: "x" }, "stop"]],
    ["another word", { text: ["x"], nativeStop: "eos" }, [{ content: "x" }, "eos"]],
    ["a refused prompt", { text: ["x"], blocked: "yes" }, ["content_filter"]],
    ["nothing said", { text: ["x"], fault: "empty-answer" }, ["stop"]],
  ])("finishes: %s", async (_name, turn, expected) => {
    await start();
    expect(said(await stream(turn)).slice(1)).toEqual(expected);
  });

  test("without streaming, the answer is one object", async () => {
    await start();
    server.enqueue(two);
    const { stream: _, ...body } = base;
    expect(JSON.parse((await ask(body)).text)).toMatchObject({
      object: "chat.completion",
      choices: [
        {
          message: {
            role: "assistant",
            content: "Hi",
            refusal: null,
            tool_calls: [{ id: "call_a", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }, {}],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { total_tokens: expect.any(Number) },
    });
  });
});

describe("compatible servers' streams", () => {
  const turn: Turn = { thinking: ["a", "b"], text: ["x"], usage: { input: 10, cacheRead: 6, output: 3, thinking: 2 } };

  test("DeepSeek: reasoning_content, and usage with the finish in any case", async () => {
    await start(chatDialects.deepseek);
    const chunks = await stream(turn, { ...base, model: "deepseek-reasoner" });
    expect(said(chunks)).toEqual([
      { role: "assistant", content: "" },
      { content: null, reasoning_content: "a" },
      { content: null, reasoning_content: "b" },
      { content: "x", reasoning_content: null },
      "stop",
    ]);
    expect(chunks.at(-1)?.usage).toEqual({
      prompt_tokens: 16,
      completion_tokens: 3,
      total_tokens: 19,
      prompt_tokens_details: { cached_tokens: 6 },
      completion_tokens_details: { reasoning_tokens: 2 },
      prompt_cache_hit_tokens: 6,
      prompt_cache_miss_tokens: 10,
    });
  });

  test("OpenRouter: comments, reasoning with details, its own names", async () => {
    await start(chatDialects.openRouter);
    server.enqueue(turn);
    const body = { ...withUsage, model: "qwen/qwen3-coder", reasoning: { effort: "low" } };
    const { text } = await ask(body);
    expect(server.requests.at(-1)?.path).toBe("/api/v1/chat/completions");
    expect(text.startsWith(": OPENROUTER PROCESSING\n\ndata: {")).toBe(true);
    const chunks = eventsOf(text)
      .slice(0, -1)
      .map(({ data }) => data as Json);
    expect(chunks[0]).toMatchObject({ id: expect.stringMatching(/^gen-/), provider: "Fake" });
    expect(said(chunks)[1]).toEqual({
      role: "assistant",
      content: "",
      reasoning: "a",
      reasoning_details: [{ type: "reasoning.text", text: "a", format: "unknown", index: 0 }],
    });
    expect(chunks.at(-2)).toMatchObject({ choices: [{ finish_reason: "stop", native_finish_reason: "stop" }] });
  });

  test("Ollama: calls in one piece and without an index, no key, plain totals", async () => {
    await start({ ...chatDialects.ollama, finishReasons: { calls: "stop" } });
    const chunks = await stream(two, { ...withUsage, model: "qwen3:8b" });
    expect(server.requests.at(-1)?.headers.authorization).toBeUndefined();
    expect(said(chunks).slice(2)).toEqual([
      { tool_calls: [{ id: "call_a", type: "function", function: { name: "read", arguments: '{"path":"a"}' } }] },
      { tool_calls: [{ id: "call_b", type: "function", function: { name: "list", arguments: "{}" } }] },
      "stop",
    ]);
    expect(chunks.at(-1)?.usage).toEqual({ prompt_tokens: 25, completion_tokens: 37, total_tokens: 62 });
  });

  test("Mistral: ids of nine characters; Moonshot: its own count of cached tokens", async () => {
    await start(chatDialects.mistral);
    const chunks = await stream({ calls: [{ name: "read", input: {} }] }, { ...base, model: "devstral-medium-latest" });
    const [call] = (said(chunks)[1] as { tool_calls: Json[] }).tool_calls;
    expect(call?.id).toEqual(expect.stringMatching(/^[A-Za-z0-9]{9}$/));
    await server.close();
    await start(chatDialects.moonshot);
    const counted = await stream(turn, { ...withUsage, model: "kimi-k2.5" });
    expect(counted.at(-1)?.usage).toMatchObject({ prompt_tokens: 16, cached_tokens: 6 });
  });

  test("the list of models has a local server's fields", async () => {
    await start(chatDialects.vllm);
    const { status, text } = await send(`${server.url}/models`, {});
    expect([status, JSON.parse(text)]).toEqual([
      200,
      {
        object: "list",
        data: [
          { id: "Qwen/Qwen3-32B", object: "model", created: 1_750_000_000, owned_by: "system", max_model_len: 32768 },
        ],
      },
    ]);
  });
});

describe("failures", () => {
  test("an error in a chunk, as OpenAI and as OpenRouter send it", async () => {
    await start();
    const fault = { streamError: { after: 2, message: "no" } };
    server.enqueue({ text: ["x", "y"], fault });
    const plain = eventsOf((await ask(base)).text);
    expect(plain.slice(2)).toEqual([
      { name: undefined, data: { error: { message: "no", type: "server_error", param: null, code: null } } },
    ]);
    await server.close();
    await start(chatDialects.openRouter);
    server.enqueue({ text: ["x", "y"], fault });
    const routed = eventsOf((await ask({ ...base, model: "qwen/qwen3-coder" })).text);
    expect(routed.slice(2)).toEqual([
      {
        name: undefined,
        data: expect.objectContaining({
          id: expect.stringMatching(/^gen-/),
          error: { code: 502, message: "no" },
          choices: [expect.objectContaining({ finish_reason: "error" })],
        }),
      },
    ]);
  });

  test("a stream without its end lacks the finish, the usage and the last line", async () => {
    await start();
    server.enqueue({ text: ["x"], fault: { endWithoutFinish: true } });
    const events = eventsOf((await ask(withUsage)).text);
    expect(said(events.map(({ data }) => data as Json)).slice(1)).toEqual([{ content: "x" }]);
  });

  test.each([
    [openAIFaults.rateLimit(3), 429, "rate_limit_exceeded"],
    [openAIFaults.quota(), 429, "insufficient_quota"],
    [openAIFaults.contextLength("chat"), 400, "context_length_exceeded"],
    [{ status: 413 }, 413, null],
    [{ status: 500 }, 500, null],
    [{ status: 503 }, 503, null],
  ])("%j", async (fault, status, code) => {
    await start();
    server.enqueue({ fault });
    const answer = await ask(base);
    expect([answer.status, JSON.parse(answer.text).error.code]).toEqual([status, code]);
    if (code === "rate_limit_exceeded") {
      expect(answer.headers).toMatchObject({ "retry-after": "3", "x-ratelimit-reset-tokens": "3s" });
    }
  });
});
