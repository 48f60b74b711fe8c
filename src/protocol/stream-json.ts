import { z } from "zod";

/*
 * The lines of `-o stream-json` and the object of `-o json`. Keys are sent in this order: established ones first, additions
 * last. Keys are only ever added.
 */

const timestamp = z.number().int().describe("Milliseconds since 1970.");
const sessionId = z.string().describe("Empty if the run failed before it had a session.");
const model = z.string().optional().describe("The model used. Absent if the run failed before it was known.");

const usageSchema = z.object({
  input_tokens: z.number().describe("Excludes tokens read from a cache."),
  output_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
  thinking_tokens: z.number().describe("Part of output_tokens."),
});

const failureSchema = z.object({
  code: z.string().describe("A code of docs/errors.md."),
  message: z.string(),
});

const denialSchema = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  rule: z.string(),
  reason: z.string(),
  contained: z
    .boolean()
    .optional()
    .describe("Present if commands run in a sandbox here: whether this one would have run in it."),
  allowWith: z.string().optional().describe("The option that would have allowed the call, if any."),
});

const systemLine = z.object({
  type: z.literal("system"),
  subtype: z.literal("init"),
  cwd: z.string(),
  session_id: z.string(),
  tools: z.array(z.string()).describe("The tools of this run."),
  model: z.string(),
  reasoning_effort: z.string(),
  autonomy: z.string(),
  protocol_version: z.string(),
});

const messageLine = z.object({
  type: z.literal("message"),
  role: z.enum(["user", "assistant"]),
  id: z.string(),
  text: z.string(),
  timestamp,
  session_id: z.string(),
});

const reasoningLine = z.object({
  type: z.literal("reasoning"),
  id: z.string().describe("Id of its message."),
  text: z.string(),
  timestamp,
  session_id: z.string(),
});

const toolCallLine = z.object({
  type: z.literal("tool_call"),
  id: z.string(),
  messageId: z.string(),
  toolId: z.string(),
  toolName: z.string(),
  parameters: z.unknown().describe("Usually an object; a string if the model's arguments were not JSON."),
  timestamp,
  session_id: z.string(),
});

const toolResultLine = z.object({
  type: z.literal("tool_result"),
  id: z.string(),
  messageId: z.string(),
  toolId: z.string(),
  isError: z.boolean(),
  value: z.string(),
  timestamp,
  session_id: z.string(),
  error: z
    .object({ type: z.literal("tool_error"), message: z.string() })
    .optional()
    .describe("Only if isError is true."),
});

const noticeLine = z.object({
  type: z.literal("notice"),
  level: z.enum(["info", "warning"]),
  message: z.string().describe("Text for people. It ends nothing."),
  timestamp,
  session_id: z.string(),
});

const errorLine = z.object({
  type: z.literal("error"),
  source: z.enum(["cli", "agent_loop"]),
  message: z.string(),
  timestamp,
  session_id: sessionId,
  code: z.string(),
});

export const completionLine = z.object({
  type: z.literal("completion"),
  finalText: z.string(),
  numTurns: z.number().int(),
  durationMs: z.number(),
  session_id: sessionId,
  timestamp,
  usage: usageSchema,
  isError: z.boolean(),
  stopReason: z.string().describe("How the turn ended, or the error code if it did not start."),
  exitCode: z.number().int(),
  model,
  totalCostUsd: z.number().optional().describe("Only if the prices of every model called are configured."),
  error: failureSchema.optional(),
  denials: z.array(denialSchema).optional(),
});

export const streamJsonLine = z.discriminatedUnion("type", [
  systemLine,
  messageLine,
  reasoningLine,
  toolCallLine,
  toolResultLine,
  noticeLine,
  errorLine,
  completionLine,
]);

export const resultObject = z.object({
  type: z.literal("result"),
  subtype: z.enum(["success", "failure"]),
  is_error: z.boolean(),
  duration_ms: z.number(),
  num_turns: z.number().int().describe("User turns of this run."),
  result: z.string().describe("The model's text; on failure without text, the error message."),
  session_id: sessionId,
  usage: usageSchema,
  stop_reason: z.string(),
  exit_code: z.number().int(),
  model,
  total_cost_usd: z.number().optional().describe("Only if the prices of every model called are configured."),
  error: failureSchema.optional(),
  denials: z.array(denialSchema).optional(),
});

export type StreamJsonLine = z.infer<typeof streamJsonLine>;
export type CompletionLine = z.infer<typeof completionLine>;
export type ResultObject = z.infer<typeof resultObject>;
export type DenialEntry = z.infer<typeof denialSchema>;
export type UsageObject = z.infer<typeof usageSchema>;
