import { z } from "zod";

/**
 * Requests to `POST <base>/chat/completions` as the published types describe them, unknown keys being faults, with what
 * compatible servers add: a field with the model's reasoning on assistant messages, and parameters of their own.
 */
export interface ChatSchemaOptions {
  /** The field of assistant messages with the model's thinking. Without it, the field is unknown. */
  readonly reasoningField?: "reasoning_content" | "reasoning";
  readonly openRouter?: boolean;
  /** Parameters of this server besides the published ones. */
  readonly extraParameters?: readonly string[];
  /** Maximum length of call ids. OpenAI: 40. */
  readonly callIdLength?: number;
}

const breakpoint = z.strictObject({ mode: z.literal("explicit"), ttl: z.enum(["30m", "12h"]).optional() });
const name = z.string().optional();
const jsonSchema = z.record(z.string(), z.unknown());
const toolName = z
  .string()
  .regex(/^[a-zA-Z0-9_-]+$/)
  .max(64);

const textPart = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  prompt_cache_breakpoint: breakpoint.optional(),
});
const cacheMark = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() });
const imagePart = z.strictObject({
  type: z.literal("image_url"),
  image_url: z.strictObject({
    url: z.string(),
    detail: z.enum(["auto", "low", "high", "original"]).optional(),
  }),
  prompt_cache_breakpoint: breakpoint.optional(),
});
const audioPart = z.strictObject({
  type: z.literal("input_audio"),
  input_audio: z.strictObject({ data: z.string(), format: z.enum(["wav", "mp3"]) }),
  prompt_cache_breakpoint: breakpoint.optional(),
});
const filePart = z.strictObject({
  type: z.literal("file"),
  file: z.strictObject({
    file_data: z.string().optional(),
    file_id: z.string().optional(),
    filename: z.string().optional(),
  }),
  prompt_cache_breakpoint: breakpoint.optional(),
});
const refusalPart = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });

const functionTool = z.strictObject({
  type: z.literal("function"),
  function: z.strictObject({
    name: toolName,
    description: z.string().optional(),
    parameters: jsonSchema.optional(),
    strict: z.boolean().nullable().optional(),
  }),
});

/** OpenRouter's form of thoughts, complete: its stream's pieces joined. */
const reasoningDetail = z.strictObject({
  type: z.enum(["reasoning.text", "reasoning.summary", "reasoning.encrypted"]),
  text: z.string().nullable().optional(),
  summary: z.string().optional(),
  data: z.string().optional(),
  signature: z.string().nullable().optional(),
  id: z.string().nullable().optional(),
  format: z.string().optional(),
  index: z.number().int().optional(),
});

function messageSchema({ reasoningField, openRouter, callIdLength = 40 }: ChatSchemaOptions) {
  const callId = z.string().min(1).max(callIdLength);
  // OpenRouter passes Anthropic's marks on.
  const text = openRouter === true ? textPart.extend({ cache_control: cacheMark.optional() }) : textPart;
  const words = z.union([z.string(), z.array(text).min(1)]);
  const toolCall = z.strictObject({
    id: callId,
    type: z.literal("function"),
    function: z.strictObject({ name: toolName, arguments: z.string() }),
  });
  const assistant = z.strictObject({
    role: z.literal("assistant"),
    content: z
      .union([z.string(), z.array(z.discriminatedUnion("type", [textPart, refusalPart])).min(1)])
      .nullable()
      .optional(),
    name,
    refusal: z.string().nullable().optional(),
    tool_calls: z.array(toolCall).min(1).optional(),
  });
  const reasoned = assistant.extend({
    ...(reasoningField === "reasoning_content" ? { reasoning_content: z.string().nullable().optional() } : {}),
    ...(reasoningField === "reasoning" ? { reasoning: z.string().nullable().optional() } : {}),
    ...(openRouter === true ? { reasoning_details: z.array(reasoningDetail).optional() } : {}),
  });
  return z.discriminatedUnion("role", [
    z.strictObject({ role: z.literal("system"), content: words, name }),
    z.strictObject({ role: z.literal("developer"), content: words, name }),
    z.strictObject({
      role: z.literal("user"),
      content: z.union([
        z.string(),
        z.array(z.discriminatedUnion("type", [text, imagePart, audioPart, filePart])).min(1),
      ]),
      name,
    }),
    reasoned,
    z.strictObject({ role: z.literal("tool"), content: words, tool_call_id: callId }),
  ]);
}

const responseFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    json_schema: z.strictObject({
      name: toolName,
      description: z.string().optional(),
      schema: jsonSchema.optional(),
      strict: z.boolean().nullable().optional(),
    }),
  }),
]);

const parameters = {
  model: z.string(),
  tools: z.array(functionTool).min(1).optional(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.strictObject({ type: z.literal("function"), function: z.strictObject({ name: z.string() }) }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().optional(),
  max_tokens: z.int().min(1).nullable().optional(),
  max_completion_tokens: z.int().min(1).nullable().optional(),
  temperature: z.number().min(0).max(2).nullable().optional(),
  top_p: z.number().min(0).max(1).nullable().optional(),
  frequency_penalty: z.number().min(-2).max(2).nullable().optional(),
  presence_penalty: z.number().min(-2).max(2).nullable().optional(),
  logit_bias: z.record(z.string(), z.number()).nullable().optional(),
  logprobs: z.boolean().nullable().optional(),
  top_logprobs: z.int().min(0).max(20).nullable().optional(),
  n: z.literal(1).nullable().optional(),
  seed: z.int().nullable().optional(),
  stop: z
    .union([z.string(), z.array(z.string()).max(4)])
    .nullable()
    .optional(),
  reasoning_effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullable().optional(),
  verbosity: z.enum(["low", "medium", "high"]).nullable().optional(),
  response_format: responseFormat.optional(),
  metadata: z.record(z.string(), z.string()).nullable().optional(),
  store: z.boolean().nullable().optional(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast"]).nullable().optional(),
  prompt_cache_key: z.string().nullable().optional(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullable().optional(),
  safety_identifier: z.string().nullable().optional(),
  user: z.string().optional(),
  stream: z.boolean().nullable().optional(),
  stream_options: z
    .strictObject({ include_usage: z.boolean().optional(), include_obfuscation: z.boolean().optional() })
    .nullable()
    .optional(),
};

export function chatRequestSchema(options: ChatSchemaOptions = {}) {
  const extra = Object.fromEntries((options.extraParameters ?? []).map((key) => [key, z.unknown().optional()]));
  return z.strictObject({ ...extra, ...parameters, messages: z.array(messageSchema(options)).min(1) });
}

export type ChatRequest = z.infer<ReturnType<typeof chatRequestSchema>>;
export type ChatMessage = ChatRequest["messages"][number];
