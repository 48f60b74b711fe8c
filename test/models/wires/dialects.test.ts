import { afterEach, expect, test } from "vitest";
import { ask, createKit } from "../../fakes/kit.ts";
import type { ProviderServer } from "../../fakes/providers/base.ts";
import { chatDialects, createOpenAIChatServer } from "../../fakes/providers/openai-chat-server.ts";
import { catalogOf } from "./wire.ts";

let server: ProviderServer;
afterEach(() => server.close());

/** Nearly identical dialects, by the provider that a user would name. */
const presets = [
  ["deepseek", chatDialects.deepseek, "reasoning_content"],
  ["moonshot", chatDialects.moonshot, "reasoning_content"],
  ["openrouter", chatDialects.openRouter, "reasoning"],
  ["mistral", chatDialects.mistral, undefined],
  ["ollama", chatDialects.ollama, "reasoning"],
  ["vllm", chatDialects.vllm, "reasoning"],
] as const;

test.each(presets)(
  "%s: a conversation with thinking, parallel calls and two turns",
  async (provider, dialect, field) => {
    server = await createOpenAIChatServer(dialect);
    const model = dialect.models.at(-1) ?? "";
    const key = server.key === "" ? {} : { apiKey: server.key };
    const models = catalogOf([{ id: "model", provider, model, baseUrl: server.url, ...key }]);
    const kit = createKit([], { models, files: { "/ws/a.txt": "alpha\n", "/ws/b.txt": "beta\n" } });
    server.enqueue(
      {
        thinking: ["Let me ", "look."],
        calls: ["a.txt", "b.txt"].map((file_path) => ({ name: "Read", input: { file_path } })),
        usage: { input: 100, cacheRead: 40, output: 20, thinking: 5 },
      },
      { text: ["Both read."] },
      { text: ["Nothing more."] },
    );
    const session = await kit.open({ modelId: "model" });
    const first = await ask(session, "Read both.");
    expect(server.requests.flatMap(({ faults }) => faults)).toEqual([]);
    expect(first).toMatchObject({ reason: "completed", finalText: "Both read." });
    expect(await ask(session, "And now?")).toMatchObject({ reason: "completed", finalText: "Nothing more." });
    expect(server.requests.map(({ faults }) => faults)).toEqual([[], [], []]);
    const body = server.requests.at(-1)?.body as { messages: Record<string, unknown>[] } | undefined;
    const sent = body?.messages[2] ?? {};
    expect([sent.reasoning, sent.reasoning_content].map((text) => text !== undefined)).toEqual([
      field === "reasoning",
      field === "reasoning_content",
    ]);
    // It arrived in pieces and goes back in one.
    const details = [{ type: "reasoning.text", text: "Let me look.", format: "unknown", index: 0 }];
    expect(sent.reasoning_details).toEqual(provider === "openrouter" ? details : undefined);
    // Cached tokens are counted once, whatever the server calls them.
    const counted =
      "usageFields" in dialect && dialect.usageFields === "plain" ? { input: 140 } : { input: 100, cacheRead: 40 };
    const { events } = await kit.store.read(session.id);
    expect(events.find((event) => event.type === "usage.updated")).toMatchObject({ call: counted });
  },
);
