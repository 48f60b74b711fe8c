import { type ChatCompletionRequest, LLMock } from "@copilotkit/aimock";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ask, createKit } from "../../fakes/kit.ts";
import { isFullRun } from "../../full-run.ts";
import { catalogOf, eventsOf, type WireName, wireNames } from "./wire.ts";

/** An independent provider fake: it shows what our own fakes and adapters both misunderstand. */

const addresses = {
  anthropic: { provider: "anthropic", model: "claude-sonnet-4-5", path: "/v1" },
  "openai-responses": { provider: "openai", model: "gpt-5.1", path: "/v1", prefersPatch: false },
  "openai-chat": { provider: "openai-compatible", model: "local-model", path: "/v1" },
  google: { provider: "google", model: "gemini-2.5-pro", path: "/v1beta" },
} as const satisfies Readonly<Record<WireName, object>>;

/** In every provider's format. */
const usage = {
  ...{ prompt_tokens: 30, completion_tokens: 7, total_tokens: 37 },
  ...{ input_tokens: 30, output_tokens: 7 },
  ...{ promptTokenCount: 30, candidatesTokenCount: 7, totalTokenCount: 37 },
};

let mock: LLMock;
beforeEach(async () => {
  mock = new LLMock({ port: 0, logLevel: "silent" });
  await mock.start();
});
afterEach(() => mock.stop());

async function open(name: WireName) {
  const { path, ...rest } = addresses[name];
  const entry = { id: "model", ...rest, baseUrl: `${mock.url}${path}`, apiKey: "mock-key" };
  const kit = createKit([], { models: catalogOf([entry]), files: { "/ws/a.txt": "alpha\n", "/ws/b.txt": "beta\n" } });
  return { kit, session: await kit.open({ modelId: "model", reasoningEffort: "high" }) };
}

const wanted = wireNames.filter((name) => isFullRun || name === "openai-chat");

describe.each(wanted)("%s", (name) => {
  test("does a job: thinks, reads two files at once, writes one, answers, and continues", async () => {
    const read = (path: string) => ({ name: "Read", arguments: JSON.stringify({ file_path: path }) });
    const afterResults = (results: number) => ({
      userMessage: "Join the files",
      predicate: ({ messages }: ChatCompletionRequest) =>
        messages.filter(({ role }) => role === "tool").length === results,
    });
    mock.on(afterResults(0), {
      content: "I read both.",
      reasoning: "First look.",
      toolCalls: [read("a.txt"), read("b.txt")],
      usage,
    });
    const text = JSON.stringify({ file_path: "c.txt", content: "alpha beta “ü” 木\n" });
    mock.on(afterResults(2), { toolCalls: [{ name: "Create", arguments: text }], usage });
    mock.on(afterResults(3), { content: "Done: c.txt is there.", usage });
    mock.on({ userMessage: "What was in it" }, { content: "alpha beta" });
    const { kit, session } = await open(name);
    const first = await ask(session, "Join the files.");
    expect(first).toMatchObject({
      reason: "completed",
      finalText: "Done: c.txt is there.",
      modelCalls: 3,
      usage: { input: 90, output: 21 },
    });
    expect(kit.host.text("/ws/c.txt")).toBe("alpha beta “ü” 木\n");
    const [, reply, results] = session.history();
    expect(reply?.content.map((block) => block.type)).toEqual(["thinking", "text", "tool_call", "tool_call"]);
    expect(results?.content).toMatchObject([{ status: "ok" }, { status: "ok" }]);
    expect(await ask(session, "What was in it?")).toMatchObject({ reason: "completed", finalText: "alpha beta" });
  });

  test("waits out an overload, and continues a truncated reply", async () => {
    mock.nextRequestError(name === "anthropic" ? 529 : 503, { message: "Busy.", type: "overloaded_error" });
    mock.on({ userMessage: "Continue exactly" }, { content: "and the end." });
    mock.on(
      { userMessage: "A story" },
      { content: `Once ${"and so on ".repeat(20)}` },
      { truncateAfterChunks: 9, chunkSize: 5, latency: 5 },
    );
    const { session } = await open(name);
    const events = await eventsOf(session, async () => {
      expect(await ask(session, "A story.")).toMatchObject({ reason: "completed" });
    });
    expect(events.flatMap((event) => (event.type === "retry.scheduled" ? [event.failure.code] : []))).toEqual([
      "model_overloaded",
      "model_failed",
    ]);
    const told = events.flatMap((event) => (event.type === "message.delta" ? [event.text] : [])).join("");
    expect(told).toMatch(/^Once .*and the end\.$/);
  });

  test("fails at once with its message when the request is rejected", async () => {
    mock.nextRequestError(401, { message: "No such key.", type: "authentication_error" });
    const { session } = await open(name);
    expect(await ask(session, "Hello.")).toMatchObject({
      reason: "failed",
      failure: { code: "model_auth", message: expect.stringContaining("No such key.") },
    });
    expect(mock.getRequests()).toHaveLength(1);
  });
});
