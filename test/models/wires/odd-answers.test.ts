import { afterEach, describe, expect, test } from "vitest";
import type { ModelEntry } from "../../../src/models/providers/model-entry.ts";
import { ask, createKit } from "../../fakes/kit.ts";
import { type Answer, closePlainServers, events, servePlainly } from "./plain-server.ts";
import { catalogOf } from "./wire.ts";

/** Servers with unusual or wrong behaviour. */

afterEach(closePlainServers);

const chunk = (delta: object, finish_reason: string | null = null) => {
  return {
    id: "c",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  };
};

async function talk(entry: Partial<ModelEntry>, answers: readonly Answer[], prompts: readonly string[] = ["go"]) {
  const { url, paths, bodies } = await servePlainly(answers);
  const whole = {
    id: "model",
    provider: "openai-compatible",
    model: "m",
    ...entry,
    baseUrl: `${url}${entry.baseUrl ?? ""}`,
  };
  const kit = createKit([], { models: catalogOf([whole]) });
  const session = await kit.open({ modelId: "model" });
  const outcomes = [];
  for (const prompt of prompts) outcomes.push(await ask(session, prompt));
  return { outcomes, outcome: outcomes[0], paths, bodies, session };
}

describe("chat completions", () => {
  test("reports a refusal sent in its own field", async () => {
    const { outcome, paths } = await talk({}, [
      events(chunk({ refusal: "I can" }), chunk({ refusal: "not." }, "stop"), "[DONE]"),
    ]);
    expect(outcome).toMatchObject({ reason: "refused", finalText: "I cannot.", failure: { code: "model_refused" } });
    expect(paths).toHaveLength(1);
  });

  test("accepts a missing finish reason after [DONE]", async () => {
    const { outcome, paths } = await talk({}, [
      events(chunk({ content: "All " }), chunk({ content: "said." }), "[DONE]"),
    ]);
    expect(outcome).toMatchObject({ reason: "completed", finalText: "All said." });
    expect(paths).toHaveLength(1);
  });

  test("treats [DONE] within a text as text, so the reply was cut off", async () => {
    const { outcome, paths } = await talk({}, [
      events(chunk({ content: "Every stream ends in data: [DONE]" })),
      events(chunk({ content: ", as it should." }, "stop"), "[DONE]"),
    ]);
    expect(outcome).toMatchObject({
      reason: "completed",
      finalText: "Every stream ends in data: [DONE], as it should.",
    });
    expect(paths).toHaveLength(2);
  });

  test("reports no cost without token counts", async () => {
    const entry = { prices: { input: 1, output: 1 } };
    const { outcome } = await talk(entry, [events(chunk({ content: "Hi." }, "stop"), "[DONE]")]);
    expect(outcome).toMatchObject({ reason: "completed" });
    expect(outcome).not.toHaveProperty("cost");
  });

  test.each([
    [
      "an error with status 200",
      { error: { message: "model not loaded" } },
      /aborted its reply: model not loaded\./,
      4,
    ],
    ["something else", { choices: [{ text: "Hi." }] }, /did not stream its reply/, 1],
  ] as const)("JSON instead of a stream: %s", async (_, body, message, requests) => {
    const json: Answer = (response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const { outcome, paths } = await talk({}, [json]);
    expect(outcome?.failure?.message).toMatch(message);
    expect(paths).toHaveLength(requests);
  });

  test("reports a redirect instead of following it", async () => {
    const { url: other, paths: asked } = await servePlainly([events("[DONE]")]);
    const { outcome, paths } = await talk({}, [
      (response) => response.writeHead(307, { location: `${other}/x` }).end(),
    ]);
    expect(outcome?.failure).toEqual({
      code: "model_failed",
      message: expect.stringContaining(`redirects to ${other}, and redirects are not followed. Check baseUrl.`),
    });
    expect([paths.length, asked.length]).toEqual([1, 0]);
  });

  test("appends the address's query to the path", async () => {
    const good = events(chunk({ content: "Hi." }, "stop"), "[DONE]");
    const { outcome, paths } = await talk({ baseUrl: "/v1?api-version=2" }, [good]);
    expect([outcome?.finalText, paths]).toEqual(["Hi.", ["/v1/chat/completions?api-version=2"]]);
  });

  test.each([
    ["firstByte", () => undefined],
    ["firstByte", (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()],
    [
      "firstByte",
      (response) => void response.writeHead(200, { "content-type": "text/event-stream" }).write(": hello\n\n"),
    ],
    [
      "idle",
      (response) =>
        void response
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(`data: ${JSON.stringify(chunk({ content: "Well" }))}\n\n`),
    ],
  ] satisfies [string, Answer][])("names timeouts.%s if the server is silent", async (key, silent) => {
    const { outcome } = await talk({ timeouts: { firstByte: 0.1, idle: 0.1 } }, [silent]);
    expect(outcome?.failure).toMatchObject({
      cause: "timeout",
      message: expect.stringContaining(`The model's timeouts.${key} in config.yaml sets this limit.`),
    });
  });

  test("limits the wait for a server that sends only keep-alives", async () => {
    const alive: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => response.write(": keepalive\n\n"), 20);
      response.on("close", () => clearInterval(timer));
    };
    const { outcome, paths } = await talk({ timeouts: { firstByte: 0.2, idle: 0.1 } }, [alive]);
    expect(outcome?.failure?.message).toMatch(
      /sent only keep-alives for 0\.3\d* s\. The model's timeouts in config\.yaml/,
    );
    expect(outcome?.failure?.cause).toBe("timeout");
    expect(paths).toHaveLength(2);
  });

  test("stops an endless event and does not retry", async () => {
    const endless: Answer = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const piece = Buffer.alloc(1024 * 1024, "x");
      const write = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on("drain", write);
      response.write("data: ");
      write();
    };
    const { outcome, paths } = await talk({}, [endless]);
    expect(outcome?.failure?.message).toMatch(/an event of more than 16 MB/);
    expect(paths).toHaveLength(1);
  });

  test("rejects more calls than any model makes", async () => {
    const call = (index: number) => ({
      index,
      id: "same",
      type: "function",
      function: { name: "LS", arguments: "{}" },
    });
    const many = Array.from({ length: 300 }, (_, index) => chunk({ tool_calls: [call(index)] }));
    const { outcome, session } = await talk({}, [events(...many, chunk({}, "tool_calls"), "[DONE]")]);
    expect(outcome?.failure?.message).toMatch(/It made more than 256 calls in one reply\.$/);
    expect(session.history().map(({ role }) => role)).toEqual(["user"]);
  });

  test("gives calls unique ids if the server repeats an id in each reply", async () => {
    const call = { index: 0, id: "call_0", type: "function", function: { name: "LS", arguments: "{}" } };
    const calls = events(chunk({ tool_calls: [call] }, "tool_calls"), "[DONE]");
    const good = events(chunk({ content: "Done." }, "stop"), "[DONE]");
    const { bodies } = await talk({}, [calls, calls, good]);
    const { messages } = JSON.parse(bodies.at(-1) ?? "") as { messages: Record<string, never>[] };
    const made = messages.flatMap(({ tool_calls }) => ((tool_calls ?? []) as { id: string }[]).map(({ id }) => id));
    expect(made).toEqual(["call_0", "call_0#2"]);
    expect(messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(made);
  });
});

describe("Anthropic", () => {
  const start = {
    type: "message_start",
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  };
  const text = [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
    { type: "content_block_stop", index: 0 },
  ];
  const end = (stop_reason: string) => [
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ];
  const entry = { provider: "anthropic", model: "claude-sonnet-4-5", baseUrl: "/v1" };

  test("skips unknown events, blocks and deltas", async () => {
    const odd = [
      { type: "future_event", anything: 1 },
      { type: "content_block_start", index: 1, content_block: { type: "future_block", x: 1 } },
      { type: "content_block_delta", index: 1, delta: { type: "future_delta", x: 1 } },
      { type: "content_block_stop", index: 1 },
    ];
    const { outcome, paths } = await talk(entry, [events(start, ...text, ...odd, ...end("end_turn"))]);
    expect(outcome).toMatchObject({ reason: "completed", finalText: "Hello." });
    expect(paths).toHaveLength(1);
  });

  test("classifies an error at the start of a stream by its type", async () => {
    const broken = events({ type: "error", error: { type: "invalid_request_error", message: "No." } });
    const { outcome, paths } = await talk(entry, [broken]);
    expect(outcome?.failure).toEqual({ code: "model_bad_request", message: "Anthropic aborted its reply: No." });
    expect(paths).toHaveLength(1);
  });

  test.each([
    ["overloaded_error", "model_overloaded", "overloaded"],
    ["rate_limit_error", "model_overloaded", "rate_limited"],
    ["timeout_error", "model_failed", "timeout"],
    ["api_error", "model_failed", undefined],
  ] as const)("reports the cause of an error in a stream: %s", async (type, code, cause) => {
    const { outcome } = await talk(entry, [events(start, { type: "error", error: { type, message: "No." } })]);
    const failure = { code, message: "Anthropic aborted its reply: No." };
    expect(outcome?.failure).toEqual(cause === undefined ? failure : { ...failure, cause });
  });

  test("reports a cut reply as a network failure", async () => {
    const { outcome } = await talk(entry, [events(start, ...text)]);
    expect(outcome?.failure).toMatchObject({
      code: "model_failed",
      message: expect.stringContaining("reply ended early"),
      cause: "network",
    });
  });

  test("a window that fills in the middle of an answer ends the turn", async () => {
    const { outcome, paths } = await talk(entry, [events(start, ...text, ...end("model_context_window_exceeded"))]);
    expect(outcome).toMatchObject({ reason: "context_full", failure: { code: "context_full" } });
    expect(paths).toHaveLength(1);
  });
});
