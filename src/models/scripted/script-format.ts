import { z } from "zod";
import { AgentError } from "../../engine/errors.ts";
import { reasoningEfforts } from "../../engine/settings.ts";
import { terminalLine } from "../../text/terminal-text.ts";

// A script is validated once, so compiling its validator would cost more than it saves.
z.config({ jitless: true });

/** The format of `script:<file>` models, see `docs/scripted-models.md`. The JSON Schema is generated from it. */

const count = z.int().min(0);
const milliseconds = z.int().min(0).max(86_400_000);

const pattern = z
  .string()
  .min(1)
  .superRefine((text, context) => {
    const parts = regexParts(text);
    if (parts === undefined) return;
    try {
      new RegExp(parts.source, parts.flags);
    } catch (error) {
      context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    }
  })
  .describe("Text that must occur, or a regular expression as /…/flags.");

const chunks = z
  .union([z.string(), z.array(z.string())], { error: "must be a string or a list of strings" })
  .describe("Text, or the chunks to stream it in.");

const when = z
  .strictObject({
    user: pattern.optional().describe("The user's prompt, until the turn has a tool result."),
    contains: pattern.optional().describe("Any prompt or tool result in the conversation."),
    tool_result: pattern.optional().describe("The latest tool results."),
    after_tool: z.string().min(1).optional().describe("The name of a tool with a result among the latest."),
    system: pattern.optional().describe("The system prompt."),
    model_call: z.int().min(1).optional().describe("The n-th call of this model in this process, from 1."),
  })
  .refine((value) => Object.keys(value).length > 0, { error: "must have at least one condition" });

const maxLevels = 500;

/** `JSON.parse` accepts deeper nesting than our recursion and `JSON.stringify` can handle. */
function isWithin(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return levels > 0 && Object.values(value).every((part) => isWithin(part, levels - 1));
}

const toolCall = z
  .strictObject({
    name: z.string().min(1),
    input: z
      .record(z.string(), z.unknown())
      .refine((value) => isWithin(value, maxLevels), { error: `is nested more than ${maxLevels} levels deep` })
      .optional()
      .describe("The arguments."),
    raw: z.string().optional().describe("The arguments as text, which can be invalid JSON."),
    id: z.string().min(1).optional(),
    chunks: z.int().min(1).max(1_000).optional().describe("Number of pieces to stream the arguments in."),
  })
  .refine((call) => call.input === undefined || call.raw === undefined, { error: "has both input and raw; give one" });

const httpError = z.strictObject({
  status: z.int().min(400).max(599),
  message: z.string().optional(),
  retry_after_ms: milliseconds.optional(),
});

const error = z
  .union([z.enum(["connection", "cut"]), httpError], { error: "must be connection, cut, or an object with status" })
  .describe("How the reply fails, after its content.");

const usage = z.strictObject({
  input: count.optional(),
  output: count.optional(),
  cache_read: count.optional(),
  cache_write: count.optional(),
  thinking: count.optional(),
});

const reply = z
  .strictObject({
    when: when.optional(),
    times: z
      .union([z.int().min(1), z.literal("any")], { error: "must be a whole number from 1, or any" })
      .optional()
      .describe("How often the reply can be used. Default: 1."),
    delay_ms: milliseconds.optional().describe("Pause before the first chunk."),
    chunk_delay_ms: milliseconds.optional().describe("Pause between chunks."),
    reasoning: chunks.optional(),
    text: chunks.optional(),
    repeat_text: z
      .strictObject({ text: z.string().min(1), times: z.int().min(1).max(100_000_000) })
      .refine((value) => value.text.length * value.times <= 200_000_000, {
        error: "is longer than 200 million characters",
      })
      .optional()
      .describe("Large output, generated while streaming."),
    tool_calls: z.array(toolCall).min(1).optional(),
    error: error.optional(),
    empty: z.literal(true).optional().describe("An empty reply."),
    stop: z.enum(["end", "length", "refusal"]).optional(),
    usage: usage.optional().describe("Token counts. Default: estimated."),
  })
  .superRefine((value, context) => {
    const hasContent =
      value.text !== undefined ||
      value.reasoning !== undefined ||
      value.repeat_text !== undefined ||
      value.tool_calls !== undefined;
    if (value.empty === true && hasContent) {
      context.addIssue({ code: "custom", message: "has both empty and content; give one" });
    }
    if (value.empty !== true && !hasContent && value.error === undefined && value.stop === undefined) {
      context.addIssue({ code: "custom", message: "has no content; use empty: true for an empty reply" });
    }
    if (value.error !== undefined && value.stop !== undefined) {
      context.addIssue({ code: "custom", message: "has both error and stop; give one" });
    }
  });

const script = z.strictObject({
  model: z
    .strictObject({
      displayName: z.string().min(1).optional(),
      contextWindow: z.int().min(1_000).optional(),
      maxOutputTokens: z.int().min(1).optional(),
      reasoningEfforts: z.array(z.enum(reasoningEfforts)).min(1).optional(),
      images: z.boolean().optional(),
    })
    .optional(),
  replies: z.array(reply).min(1),
  summaries: z
    .array(reply)
    .optional()
    .describe("Replies to requests for a summary of a long conversation, in order. Without one, such a request fails."),
});

export type Script = z.infer<typeof script>;
export type ScriptReply = Script["replies"][number];
export type ScriptConditions = NonNullable<ScriptReply["when"]>;

/** Throws `script_invalid` with one line that names the file and where its first invalid value is. */
export function parseScript(value: unknown, path: string): Script {
  const parsed = script.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = deepest(parsed.error.issues[0]);
  const place = issue === undefined || issue.path.length === 0 ? "the script" : placeOf(issue.path);
  throw new AgentError("script_invalid", `${path}: ${place}: ${problem(issue)}`);
}

export function scriptJsonSchema(): unknown {
  return z.toJSONSchema(script, { io: "input", target: "draft-2020-12" });
}

/** Splits `/…/flags`; `undefined` for plain text. */
export function regexParts(text: string): { readonly source: string; readonly flags: string } | undefined {
  const match = /^\/([\s\S]+)\/([a-z]*)$/.exec(text);
  return match === null ? undefined : { source: match[1] ?? "", flags: match[2] ?? "" };
}

type Issue = z.core.$ZodIssue;

/** The union branch that matched furthest has the most useful error. */
function deepest(issue: Issue | undefined, base: readonly PropertyKey[] = []): Issue | undefined {
  if (issue === undefined) return undefined;
  const path = [...base, ...issue.path];
  if (issue.code === "invalid_union") {
    const inner = issue.errors.flat().find((other) => other.path.length > 0 || other.code === "unrecognized_keys");
    if (inner !== undefined) return deepest(inner, path);
  }
  return { ...issue, path };
}

function placeOf(path: readonly PropertyKey[]): string {
  let place = "";
  for (const part of path) {
    if (typeof part === "number") place += `[${part}]`;
    else place += place === "" ? String(part) : `.${String(part)}`;
  }
  return place;
}

function problem(issue: Issue | undefined): string {
  if (issue === undefined) return "is invalid";
  if (issue.code === "unrecognized_keys")
    return terminalLine(`unknown key ${issue.keys.map((key) => JSON.stringify(key)).join(", ")}`);
  return issue.message.replace(/\s+/g, " ");
}
