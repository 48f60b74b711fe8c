import { imageTypes } from "./words.ts";
import { type Wire, z } from "./zod.ts";

/* Messages in `create_message` and in the history of `load_session`. */

export const tokenUsage = z.strictObject({
  inputTokens: z.number().int().describe("Excludes tokens read from or written to a cache."),
  outputTokens: z.number().int().describe("Includes thinkingTokens."),
  cacheCreationTokens: z.number().int(),
  cacheReadTokens: z.number().int(),
  thinkingTokens: z.number().int().describe("Part of outputTokens."),
});

export const lastCallTokenUsage = z.strictObject({
  inputTokens: z.number().int(),
  cacheReadTokens: z.number().int(),
  outputTokens: z.number().int().optional(),
});

export const textBlock = z.strictObject({ type: z.literal("text"), text: z.string() });

export const imageBlock = z.strictObject({
  type: z.literal("image"),
  source: z.strictObject({ type: z.literal("base64"), mediaType: z.enum(imageTypes), data: z.string() }),
});

export const documentBlock = z.strictObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("base64"),
      mediaType: z.literal("application/pdf"),
      data: z.string(),
      name: z.string().optional(),
    }),
    z.strictObject({
      type: z.literal("text"),
      mediaType: z.literal("text/plain"),
      data: z.string(),
      name: z.string().optional(),
    }),
  ]),
});

export const thinkingBlock = z.strictObject({
  type: z.literal("thinking"),
  thinking: z.string(),
  signature: z.string().describe("The provider's signature; empty without one."),
});

export const redactedThinkingBlock = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() });

export const toolUseBlock = z.strictObject({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()).describe("Empty if the model's arguments are not a JSON object."),
});

/** A string, or blocks if the tool also returned images. */
export const toolContent = z.union([z.string(), z.array(z.discriminatedUnion("type", [textBlock, imageBlock]))]);

export const toolResultBlock = z.strictObject({
  type: z.literal("tool_result"),
  toolUseId: z.string(),
  content: toolContent,
  isError: z.boolean(),
});

export const block = z.discriminatedUnion("type", [
  textBlock,
  imageBlock,
  documentBlock,
  thinkingBlock,
  redactedThinkingBlock,
  toolUseBlock,
  toolResultBlock,
]);

export const message = z.strictObject({
  id: z.string(),
  role: z.enum(["user", "assistant", "tool"]).describe("Role tool occurs only in histories."),
  content: z.array(block),
  createdAt: z.number().int().describe("Milliseconds since 1970."),
  updatedAt: z.number().int(),
  parentId: z.string().describe('Id of the previous message, or "root".'),
});

export type TokenUsage = Wire<typeof tokenUsage>;
export type ToolUseBlock = Wire<typeof toolUseBlock>;
export type ToolContent = Wire<typeof toolContent>;
export type WireBlock = Wire<typeof block>;
export type WireMessage = Wire<typeof message>;
