import { afterAll, expect, test } from "vitest";
import type { Full } from "./anthropic-fixture.ts";
import { createAnthropicFixture } from "./anthropic-fixture.ts";

const {
  asked,
  ended,
  full,
  image,
  mark,
  messages,
  plain,
  png,
  question,
  replied,
  result,
  said,
  send,
  server,
  text,
  tools,
} = await createAnthropicFixture();
afterAll(() => server.close());

const prefill = "This model does not support assistant message prefill. The conversation must end with a user message.";
const unanswered = (at: number, ids: string) =>
  `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
const orphan = (path: string, id: string) =>
  `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
const large = "A".repeat(5 * 1024 * 1024);

test.each<[string, () => object, string]>([
  [
    "more than the model's output limit",
    () => ({ ...plain, max_tokens: 128_001 }),
    "max_tokens: 128001 > 128000, which is the maximum allowed number of output tokens for claude-sonnet-4-6",
  ],
  [
    "a budget as large as max_tokens",
    () => ({ ...plain, thinking: { type: "enabled", budget_tokens: 8000 } }),
    "`max_tokens` must be greater than `thinking.budget_tokens`.",
  ],
  [
    "a temperature with thinking",
    () => ({ ...full(), temperature: 0.5 }),
    "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.",
  ],
  [
    "top_k with thinking",
    () => ({ ...full(), top_k: 5 }),
    "`top_k` must be unset when thinking is enabled or in adaptive mode.",
  ],
  [
    "top_p with thinking",
    () => ({ ...full(), top_p: 0.5 }),
    "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.",
  ],
  [
    "two sampling parameters",
    () => ({ ...plain, temperature: 0.5, top_p: 0.9 }),
    "`temperature` and `top_p` cannot both be specified for this model. Please use only one.",
  ],
  [
    "a temperature for a model that rejects it",
    () => ({ ...plain, model: "claude-opus-4-7", temperature: 0 }),
    "`temperature` is deprecated for this model.",
  ],
  [
    "a budget for a model without budgets",
    () => ({ ...plain, model: "claude-opus-4-7", thinking: { type: "enabled", budget_tokens: 2000 } }),
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  ],
  [
    "adaptive thinking for a model without it",
    () => ({ ...plain, model: "claude-haiku-4-5", thinking: { type: "adaptive" } }),
    "adaptive thinking is not supported on this model",
  ],
  [
    "thinking off for a model that always thinks",
    () => ({ ...plain, model: "claude-opus-5-5", thinking: { type: "disabled" } }),
    '"thinking.type.disabled" is not supported for this model.',
  ],
  [
    "an effort for a model without efforts",
    () => ({ ...plain, model: "claude-haiku-4-5", output_config: { effort: "low" } }),
    "This model does not support the effort parameter.",
  ],
  [
    "an effort that the model lacks",
    () => ({ ...plain, output_config: { effort: "xhigh" } }),
    "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
  ],
  [
    "a high effort with thinking disabled",
    () => ({ ...plain, model: "claude-opus-5", thinking: { type: "disabled" }, output_config: { effort: "max" } }),
    "output_config.effort 'max' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
  ],
  [
    "a forced call with thinking",
    () => ({ ...full(), tool_choice: { type: "any" } }),
    "Thinking may not be enabled when tool_choice forces tool use.",
  ],
  [
    "an answer at the end",
    () => ({ ...plain, messages: [...plain.messages, { role: "assistant", content: "The" }] }),
    prefill,
  ],
  ["two tools with one name", () => ({ ...plain, tools: [tools[0], tools[0]] }), "tools: Tool names must be unique."],
  [
    "a union as a schema",
    () => ({ ...plain, tools: [{ name: "a", input_schema: { type: "object", anyOf: [] } }] }),
    "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level",
  ],
  [
    "an invalid parameter name",
    () => ({ ...plain, tools: [{ name: "a", input_schema: { type: "object", properties: { "a b": {} } } }] }),
    "tools.0.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'",
  ],
  [
    "a tool choice without tools",
    () => ({ ...plain, tool_choice: { type: "auto" } }),
    "tool_choice: tool_choice may only be specified while providing tools",
  ],
  [
    "a choice of an unknown tool",
    () => ({ ...plain, tools, tool_choice: { type: "tool", name: "Write" } }),
    "Tool 'Write' not found in provided tools",
  ],
  [
    "calls without tools",
    () => ({ ...full(), tools: undefined, tool_choice: undefined }),
    "Requests which include `tool_use` or `tool_result` blocks must define tools",
  ],
  [
    "an answer at the beginning",
    () => ({ ...plain, messages: [{ role: "assistant", content: "Hi" }, ...plain.messages] }),
    'messages: first message must use the "user" role',
  ],
  [
    "an empty message",
    () => ({ ...plain, messages: [...plain.messages, { role: "user", content: [] }] }),
    "messages.1: all messages must have non-empty content except for the optional final assistant message",
  ],
  [
    "an image in an answer",
    () => replied(full(), [...said, image(png)]),
    "messages.1: `image` blocks can only be in `user` messages",
  ],
  ["an empty text", () => asked([text("")]), "messages: text content blocks must be non-empty"],
  ["a text of only white space", () => asked(" \n"), "messages: text content blocks must contain non-whitespace text"],
  [
    "an empty text in a result",
    () => ended(full(), [result("call_1", { content: [text("")] }), result("call_2")]),
    "messages: text content blocks must be non-empty",
  ],
  ["an empty system text", () => ({ ...plain, system: [text("")] }), "system: text content blocks must be non-empty"],
  [
    "white space at the very end",
    () => ({
      ...plain,
      model: "claude-haiku-4-5",
      messages: [...plain.messages, { role: "assistant", content: "The " }],
    }),
    "messages: final assistant content cannot end with trailing whitespace",
  ],
  [
    "a blank stop sequence",
    () => ({ ...plain, stop_sequences: ["\n"] }),
    "stop_sequences: each stop sequence must contain non-whitespace",
  ],
  ["a call without its result", () => ended(full(), [result("call_1")]), unanswered(1, "call_2")],
  [
    "text before a result",
    () => ended(full(), [text("Here:"), result("call_1"), result("call_2")]),
    unanswered(1, "call_1, call_2"),
  ],
  [
    "a result two messages later",
    () =>
      messages(
        ended(full(), [result("call_1"), result("call_2")]) as Full,
        { role: "assistant", content: "Ok" },
        { role: "user", content: [result("call_1")] },
      ),
    orphan("messages.4.content.0", "call_1"),
  ],
  [
    "a result without a call",
    () => ended(full(), [result("call_1"), result("call_2"), result("call_3")]),
    orphan("messages.2.content.2", "call_3"),
  ],
  [
    "two results for one call",
    () => ended(full(), [result("call_1"), result("call_2"), result("call_2")]),
    "messages.2.content.2: each tool_use must have a single result. Found multiple `tool_result` blocks with id: call_2",
  ],
  ["two calls with one id", () => replied(full(), [...said, said[3]]), "messages.1: `tool_use` ids must be unique"],
  [
    "an error with an image",
    () => ended(full(), [result("call_1", { is_error: true, content: [image(png)] }), result("call_2")]),
    'messages.2.content.0.tool_result: all content must be type "text" if "is_error" is true',
  ],
  [
    "another thought",
    () => replied(full(), [{ ...said[0], thinking: "Let me see!" }, ...said.slice(1)]),
    "messages.1.content.0: Invalid `signature` in `thinking` block",
  ],
  [
    "another signature",
    () => replied(full(), [{ ...said[0], signature: png }, ...said.slice(1)]),
    "messages.1.content.0: Invalid `signature` in `thinking` block",
  ],
  [
    "changed redacted thinking",
    () => replied(full(), [{ type: "redacted_thinking", data: png }, ...said.slice(1)]),
    "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
  ],
  [
    "an answer with only thinking",
    () => ({ ...plain, messages: [question, { role: "assistant", content: [said[0]] }, question] }),
    "messages.1: The final block in an assistant message cannot be `thinking`.",
  ],
  [
    "a turn of calls that starts without thinking",
    () => replied(full(), said.slice(2)),
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).",
  ],
  [
    "five marks",
    () => asked([1, 2, 3, 4, 5].map((n) => text(`${n}`, mark()))),
    "A maximum of 4 blocks with cache_control may be provided. Found 5.",
  ],
  [
    "a long mark after a short one",
    () => asked([text("a", mark()), text("b", mark("1h"))]),
    "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
  ],
  [
    "an oversized image",
    () => asked([image(png.replace("==", "AA") + large)]),
    `messages.0.content.0.image.source.base64: image exceeds 5 MB maximum: ${png.length + large.length} bytes > 5242880 bytes`,
  ],
  [
    "an image with the wrong media type",
    () => asked([image(png, "image/gif")]),
    "messages.0.content.0.image.source.base64.data: Image does not match the provided media type image/gif: it appears to be image/png",
  ],
  [
    "a malformed image",
    () => asked([image("AAAA")]),
    "messages.0.content.0.image.source.base64: Could not process image",
  ],
  [
    "a malformed document",
    () => asked([{ type: "document", source: { type: "base64", media_type: "application/pdf", data: "AAAA" } }]),
    "messages.0.content.0.document.source.base64.data: The PDF specified was not valid.",
  ],
])("rejects a request that breaks a rule: %s", async (_, make, message) => {
  expect(await send(make())).toMatchObject({
    status: 400,
    body: { type: "error", error: { type: "invalid_request_error", message } },
    faults: expect.arrayContaining([message]),
  });
});
