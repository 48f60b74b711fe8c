import { z } from "zod";

/**
 * Requests to `POST /v1/responses` as the published types describe them, unknown keys being faults. Left out are the items
 * and tools that OpenAI runs itself (search, shell, image generation, MCP…). Where the types demand what the service does
 * without (id, status and annotations of an assistant's message, an image's detail, a tool's `parameters` and `strict`), it
 * is optional here too.
 */

const breakpoint = z.strictObject({ mode: z.literal("explicit"), ttl: z.enum(["30m", "12h"]).optional() });
const status = z.enum(["in_progress", "completed", "incomplete"]);
const phase = z.enum(["commentary", "final_answer"]).nullable();
const id = z.string().max(64);
const metadata = z.record(z.string().max(64), z.string().max(512));
const jsonSchema = z.record(z.string(), z.unknown());

const inputText = z.strictObject({
  type: z.literal("input_text"),
  text: z.string(),
  prompt_cache_breakpoint: breakpoint.optional(),
});
const inputImage = z.strictObject({
  type: z.literal("input_image"),
  detail: z.enum(["low", "high", "auto", "original"]).optional(),
  file_id: z.string().nullable().optional(),
  image_url: z.string().nullable().optional(),
  prompt_cache_breakpoint: breakpoint.optional(),
});
const inputFile = z.strictObject({
  type: z.literal("input_file"),
  detail: z.enum(["auto", "low", "high"]).optional(),
  file_data: z.string().optional(),
  file_id: z.string().nullable().optional(),
  file_url: z.string().optional(),
  filename: z.string().optional(),
  prompt_cache_breakpoint: breakpoint.optional(),
});
const inputContent = z.discriminatedUnion("type", [inputText, inputImage, inputFile]);

const userMessage = z.strictObject({
  type: z.literal("message").optional(),
  role: z.enum(["user", "system", "developer"]),
  content: z.union([z.string(), z.array(inputContent)]),
  status: status.optional(),
});

const outputText = z.strictObject({
  type: z.literal("output_text"),
  text: z.string(),
  annotations: z.array(z.record(z.string(), z.unknown())).optional(),
  logprobs: z.array(z.unknown()).optional(),
});
const outputRefusal = z.strictObject({ type: z.literal("refusal"), refusal: z.string() });

const assistantMessage = z.strictObject({
  type: z.literal("message").optional(),
  role: z.literal("assistant"),
  content: z.union([z.string(), z.array(z.discriminatedUnion("type", [outputText, outputRefusal]))]),
  id: id.optional(),
  status: status.optional(),
  phase: phase.optional(),
});

const functionCall = z.strictObject({
  type: z.literal("function_call"),
  call_id: z.string().max(64),
  name: z.string(),
  arguments: z.string(),
  id: id.optional(),
  namespace: z.string().optional(),
  status: status.optional(),
});

const functionCallOutput = z.strictObject({
  type: z.literal("function_call_output"),
  call_id: z.string().max(64),
  output: z.union([z.string(), z.array(inputContent)]),
  id: id.nullable().optional(),
  status: status.nullable().optional(),
});

const reasoningItem = z.strictObject({
  type: z.literal("reasoning"),
  id,
  summary: z.array(z.strictObject({ type: z.literal("summary_text"), text: z.string() })),
  content: z.array(z.strictObject({ type: z.literal("reasoning_text"), text: z.string() })).optional(),
  encrypted_content: z.string().nullable().optional(),
  status: status.optional(),
});

const itemReference = z.strictObject({ type: z.literal("item_reference").nullable().optional(), id });

const inputItem = z.union([
  userMessage,
  assistantMessage,
  functionCall,
  functionCallOutput,
  reasoningItem,
  itemReference,
]);

const functionTool = z.strictObject({
  type: z.literal("function"),
  name: z
    .string()
    .regex(/^[a-zA-Z0-9_-]+$/)
    .max(64),
  description: z.string().nullable().optional(),
  parameters: jsonSchema.nullable().optional(),
  strict: z.boolean().nullable().optional(),
});

const textFormat = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text") }),
  z.strictObject({ type: z.literal("json_object") }),
  z.strictObject({
    type: z.literal("json_schema"),
    name: z.string().max(64),
    schema: jsonSchema,
    description: z.string().optional(),
    strict: z.boolean().nullable().optional(),
  }),
]);

export const responsesRequest = z.strictObject({
  model: z.string(),
  input: z.union([z.string(), z.array(inputItem)]).optional(),
  instructions: z.string().nullable().optional(),
  tools: z.array(functionTool).optional(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.strictObject({ type: z.literal("function"), name: z.string() }),
      z.strictObject({
        type: z.literal("allowed_tools"),
        mode: z.enum(["auto", "required"]),
        tools: z.array(z.record(z.string(), z.unknown())),
      }),
    ])
    .optional(),
  parallel_tool_calls: z.boolean().nullable().optional(),
  max_tool_calls: z.int().nullable().optional(),
  store: z.boolean().nullable().optional(),
  include: z
    .array(
      z.enum([
        "file_search_call.results",
        "web_search_call.results",
        "web_search_call.action.sources",
        "message.input_image.image_url",
        "computer_call_output.output.image_url",
        "code_interpreter_call.outputs",
        "reasoning.encrypted_content",
        "message.output_text.logprobs",
      ]),
    )
    .nullable()
    .optional(),
  reasoning: z
    .strictObject({
      effort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).nullable().optional(),
      summary: z.enum(["auto", "concise", "detailed"]).nullable().optional(),
      generate_summary: z.enum(["auto", "concise", "detailed"]).nullable().optional(),
      context: z.enum(["auto", "current_turn", "all_turns"]).nullable().optional(),
      mode: z.string().optional(),
    })
    .nullable()
    .optional(),
  max_output_tokens: z.int().min(16).nullable().optional(),
  temperature: z.number().min(0).max(2).nullable().optional(),
  top_p: z.number().min(0).max(1).nullable().optional(),
  top_logprobs: z.int().min(0).max(20).nullable().optional(),
  text: z
    .strictObject({
      format: textFormat.optional(),
      verbosity: z.enum(["low", "medium", "high"]).nullable().optional(),
    })
    .optional(),
  prompt_cache_key: z.string().max(64).nullable().optional(),
  prompt_cache_retention: z.enum(["in_memory", "24h"]).nullable().optional(),
  prompt_cache_options: z
    .strictObject({ mode: z.enum(["implicit", "explicit"]).optional(), ttl: z.enum(["30m", "12h"]).optional() })
    .optional(),
  previous_response_id: z.string().nullable().optional(),
  truncation: z.enum(["auto", "disabled"]).nullable().optional(),
  service_tier: z.enum(["auto", "default", "flex", "scale", "priority", "fast", "ultrafast"]).nullable().optional(),
  safety_identifier: z.string().max(64).nullable().optional(),
  user: z.string().optional(),
  metadata: metadata.nullable().optional(),
  background: z.boolean().nullable().optional(),
  stream: z.boolean().nullable().optional(),
  stream_options: z.strictObject({ include_obfuscation: z.boolean().optional() }).nullable().optional(),
});

export type ResponsesRequest = z.infer<typeof responsesRequest>;
export type InputItem = z.infer<typeof inputItem>;
export type InputContent = z.infer<typeof inputContent>;

const upToHigh = ["low", "medium", "high"];

/** The efforts that a model accepts; the first matching line counts. A model without a line does not reason. */
const effortsByModel: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^gpt-5(\.\d)?-chat-latest/, ["medium"]],
  [/^gpt-5-pro/, ["high"]],
  [/^gpt-5-codex/, upToHigh],
  [/^gpt-5(-mini|-nano)?(-\d|$)/, ["minimal", ...upToHigh]],
  [/^gpt-5\.1-codex-max/, [...upToHigh, "xhigh"]],
  [/^gpt-5\.1-codex/, upToHigh],
  [/^gpt-5\.1/, ["none", ...upToHigh]],
  [/^gpt-5\.[2-5]-pro/, ["medium", "high", "xhigh"]],
  [/^gpt-5\.[23]-codex/, [...upToHigh, "xhigh"]],
  [/^gpt-5\.[2-5]/, ["none", ...upToHigh, "xhigh"]],
  [/^gpt-(5\.[6-9]|[6-9])/, ["none", ...upToHigh, "xhigh", "max"]],
  [/^o\d/, upToHigh],
];

export function effortsOf(model: string): readonly string[] | undefined {
  return effortsByModel.find(([pattern]) => pattern.test(model))?.[1];
}
