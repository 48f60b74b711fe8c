import { afterAll, expect, test } from "vitest";
import { createAnthropicFixture } from "./anthropic-fixture.ts";

const { asked, ended, full, image, mark, messages, plain, png, replied, result, said, send, server, text, tools } =
  await createAnthropicFixture();
afterAll(() => server.close());

test.each<[string, () => object]>([
  ["everything", full],
  ["only a question", () => plain],
  [
    "consecutive user messages, results separate from text",
    () => {
      const body = full();
      const results = [
        { role: "user", content: [result("call_1")] },
        { role: "user", content: [result("call_2")] },
      ];
      return { ...body, messages: [...body.messages.slice(0, 2), ...results, { role: "user", content: "Go on." }] };
    },
  ],
  [
    "results that are empty or an error",
    () =>
      ended(full(), [
        { type: "tool_result", tool_use_id: "call_1" },
        result("call_2", { content: "", is_error: true }),
      ]),
  ],
  [
    "an earlier answer without its thinking",
    () => {
      const next = messages(full(), { role: "assistant", content: "Done." }, { role: "user", content: "More." });
      return {
        ...next,
        messages: next.messages.map((m) => (m.content === said ? { ...m, content: said.slice(1) } : m)),
      };
    },
  ],
  [
    "calls without thinking on an adaptive model",
    () => ({ ...replied(full(), said.slice(1)), thinking: { type: "adaptive" } }),
  ],
  ["replayed thinking while it is disabled", () => ({ ...full(), thinking: { type: "disabled" }, temperature: 0 })],
  ["an effort that the model supports", () => ({ ...plain, output_config: { effort: "max" } })],
  [
    "a prefilled answer, for a model that continues it",
    () => ({
      ...plain,
      model: "claude-haiku-4-5",
      messages: [...plain.messages, { role: "assistant", content: "The" }],
    }),
  ],
  [
    "a system message in the middle",
    () =>
      messages(
        full(),
        { role: "assistant", content: "Ok." },
        { role: "user", content: "And?" },
        { role: "system", content: "Hurry." },
      ),
  ],
])("accepts a valid request: %s", async (_, make) => {
  server.enqueue({ text: ["fine"] });
  expect(await send(make())).toMatchObject({ status: 200, faults: [] });
});

test.each<[string, () => object, string]>([
  [
    "an unknown field",
    () => ({ ...plain, max_completion_tokens: 1 }),
    "max_completion_tokens: Extra inputs are not permitted",
  ],
  ["no max_tokens", () => ({ ...plain, max_tokens: undefined }), "max_tokens: Field required"],
  ["an invalid number", () => ({ ...plain, max_tokens: 9.5 }), "max_tokens: Input should be a valid integer"],
  ["no messages", () => ({ ...plain, messages: [] }), "messages: List should have at least 1 item after validation"],
  [
    "an unknown role",
    () => ({ ...plain, messages: [{ role: "tool", content: "x" }] }),
    "messages.0: Input tag 'tool' found using 'role' does not match any of the expected tags",
  ],
  [
    "an unknown block",
    () => asked([{ type: "video" }]),
    "messages.0.content.0: Input tag 'video' found using 'type' does not match any of the expected tags",
  ],
  [
    "an unknown field of a block",
    () => asked([text("a", { id: 1 })]),
    "messages.0.content.0.text.id: Extra inputs are not permitted",
  ],
  ["content of the wrong type", () => asked(5), "messages.0.content: Input should be a valid string or list"],
  [
    "an unsupported image type",
    () => asked([image(png, "image/bmp")]),
    "messages.0.content.0.image.source.base64.media_type: Input should be 'image/jpeg' or 'image/png' or 'image/gif' or 'image/webp'",
  ],
  ["invalid base64", () => asked([image("é")]), "messages.0.content.0.image.source.base64.data: Invalid base64 data"],
  [
    "an unknown cache mark",
    () => asked([text("a", { cache_control: { type: "forever" } })]),
    "messages.0.content.0.text.cache_control.type: Input should be 'ephemeral'",
  ],
  [
    "a cache mark on thinking",
    () => replied(full(), [{ ...said[0], ...mark() }, ...said.slice(1)]),
    "messages.1.content.0.thinking.cache_control: Extra inputs are not permitted",
  ],
  [
    "an invalid tool name",
    () => ({ ...plain, tools: [{ ...tools[0], name: "a b" }] }),
    "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
  ],
  [
    "a schema that is not an object",
    () => ({ ...plain, tools: [{ name: "a", input_schema: { type: "string" } }] }),
    "tools.0.custom.input_schema.type: Input should be 'object'",
  ],
  [
    "an invalid call id",
    () => replied(full(), [said[0], { type: "tool_use", id: "a.b", name: "Read", input: {} }]),
    "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
  ],
  [
    "arguments that are not an object",
    () => replied(full(), [said[0], { type: "tool_use", id: "a", name: "Read", input: "{}" }]),
    "messages.1.content.1.tool_use.input: Input should be a valid dictionary",
  ],
  [
    "a budget below the minimum",
    () => ({ ...plain, thinking: { type: "enabled", budget_tokens: 1000 } }),
    "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
  ],
  [
    "an unknown effort",
    () => ({ ...plain, output_config: { effort: "huge" } }),
    "output_config.effort: Input should be 'low' or 'medium' or 'high' or 'xhigh' or 'max'",
  ],
])("rejects a request that breaks the schema: %s", async (_, make, message) => {
  expect(await send(make())).toEqual({
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message }, request_id: expect.any(String) },
    faults: [message],
  });
});

test("newer API versions have no sampling parameters", async () => {
  expect(await send({ ...plain, temperature: 1 }, "2026-10-21")).toMatchObject({
    status: 400,
    faults: ["temperature: Extra inputs are not permitted"],
  });
  server.enqueue({ text: ["fine"] });
  expect(await send(full(), "2026-10-21")).toMatchObject({ status: 200, faults: [] });
});
