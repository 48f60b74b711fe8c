import { z } from "zod";

/*
 * The requests of `POST /v1/messages`, after the type definitions of the official SDK: 0.137 for the API version
 * 2023-06-01, 1.8 for 2026-10-21. Tools and blocks that run on the provider's side (web search, code execution, browser)
 * are left out: a client that sends them gets an error about an unknown field.
 */

const cacheControl = z.strictObject({ type: z.literal("ephemeral"), ttl: z.enum(["5m", "1h"]).optional() });
const cached = { cache_control: cacheControl.nullish() };

const text = z.strictObject({
  type: z.literal("text"),
  text: z.string(),
  citations: z.array(z.unknown()).nullish(),
  ...cached,
});

const image = z.strictObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("base64"),
      data: z.base64(),
      media_type: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
    }),
    z.strictObject({ type: z.literal("url"), url: z.string() }),
    z.strictObject({ type: z.literal("file"), file_id: z.string() }),
  ]),
  transformations: z.strictObject({ oversized_image: z.enum(["downsize", "error"]).optional() }).nullish(),
  ...cached,
});

const citations = z.strictObject({ enabled: z.boolean().optional() });

const document = z.strictObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("base64"), data: z.base64(), media_type: z.literal("application/pdf") }),
    z.strictObject({ type: z.literal("text"), data: z.string(), media_type: z.literal("text/plain") }),
    z.strictObject({
      type: z.literal("content"),
      content: z.union([z.string(), z.array(z.discriminatedUnion("type", [text, image]))]),
    }),
    z.strictObject({ type: z.literal("url"), url: z.string() }),
    z.strictObject({ type: z.literal("file"), file_id: z.string() }),
  ]),
  citations: citations.nullish(),
  context: z.string().nullish(),
  title: z.string().nullish(),
  ...cached,
});

const searchResult = z.strictObject({
  type: z.literal("search_result"),
  source: z.string(),
  title: z.string(),
  content: z.array(text),
  citations: citations.optional(),
  ...cached,
});

const toolReference = z.strictObject({ type: z.literal("tool_reference"), tool_name: z.string(), ...cached });

const thinking = z.strictObject({ type: z.literal("thinking"), thinking: z.string(), signature: z.string() });
const redactedThinking = z.strictObject({ type: z.literal("redacted_thinking"), data: z.string() });

const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);

const toolUse = z.strictObject({
  type: z.literal("tool_use"),
  id: toolId,
  name: z.string().min(1).max(200),
  input: z.record(z.string(), z.unknown()),
  caller: z.strictObject({ type: z.literal("direct") }).optional(),
  toolset_name: z.string().nullish(),
  ...cached,
});

const toolResult = z.strictObject({
  type: z.literal("tool_result"),
  tool_use_id: toolId,
  content: z
    .union([z.string(), z.array(z.discriminatedUnion("type", [text, image, searchResult, document, toolReference]))])
    .optional(),
  is_error: z.boolean().optional(),
  toolset_name: z.string().nullish(),
  ...cached,
});

const block = z.discriminatedUnion("type", [
  text,
  image,
  document,
  searchResult,
  thinking,
  redactedThinking,
  toolUse,
  toolResult,
]);

const message = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("user"), content: z.union([z.string(), z.array(block)]) }),
  z.strictObject({ role: z.literal("assistant"), content: z.union([z.string(), z.array(block)]) }),
  z.strictObject({ role: z.literal("system"), content: z.union([z.string(), z.array(text)]) }),
]);

const tool = z.strictObject({
  name: toolName,
  type: z.literal("custom").nullish(),
  description: z.string().optional(),
  input_schema: z.looseObject({
    type: z.literal("object"),
    properties: z.record(z.string(), z.unknown()).nullish(),
    required: z.array(z.string()).nullish(),
  }),
  allowed_callers: z.array(z.literal("direct")).optional(),
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: z.array(z.record(z.string(), z.unknown())).optional(),
  strict: z.boolean().optional(),
  ...cached,
});

const parallel = { disable_parallel_tool_use: z.boolean().optional() };
const display = { display: z.enum(["summarized", "omitted"]).nullish() };

const request = z.strictObject({
  model: z.string().min(1).max(256),
  max_tokens: z.int().min(0),
  messages: z.array(message).min(1).max(100_000),
  system: z.union([z.string(), z.array(text)]).optional(),
  stream: z.boolean().optional(),
  tools: z.array(tool).optional(),
  tool_choice: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("auto"), ...parallel }),
      z.strictObject({ type: z.literal("any"), ...parallel }),
      z.strictObject({ type: z.literal("tool"), name: z.string(), ...parallel }),
      z.strictObject({ type: z.literal("none") }),
    ])
    .optional(),
  thinking: z
    .discriminatedUnion("type", [
      z.strictObject({ type: z.literal("enabled"), budget_tokens: z.int().min(1024), ...display }),
      z.strictObject({ type: z.literal("adaptive"), ...display }),
      z.strictObject({ type: z.literal("disabled") }),
      z.strictObject({ type: z.literal("between_tools") }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(["low", "medium", "high", "xhigh", "max"]).nullish(),
      format: z.strictObject({ type: z.literal("json_schema"), schema: z.record(z.string(), z.unknown()) }).nullish(),
    })
    .optional(),
  stop_sequences: z.array(z.string()).optional(),
  metadata: z.strictObject({ user_id: z.string().max(256).nullish() }).optional(),
  service_tier: z.enum(["auto", "standard_only"]).optional(),
  speed: z.enum(["standard", "fast"]).nullish(),
  container: z.union([z.string(), z.strictObject({ id: z.string().nullish() })]).nullish(),
  diagnostics: z.strictObject({ previous_message_id: z.string().nullish() }).nullish(),
  inference_geo: z.string().nullish(),
  ...cached,
});

const sampling = {
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.int().min(0).optional(),
};

/** The request schema for each value of `anthropic-version`. */
export const requestSchemas = { "2023-06-01": request.extend(sampling), "2026-10-21": request } as const;

export type MessagesRequest = z.infer<(typeof requestSchemas)["2023-06-01"]>;
export type RequestMessage = MessagesRequest["messages"][number];
export type Block = z.infer<typeof block>;

type Issue = z.core.$ZodIssue;
type Key = PropertyKey;

/** Schema violations of a body in the service's words: one per line, with the path before the colon. */
export function schemaFaults(error: z.ZodError, body: unknown): string[] {
  return error.issues.flatMap((issue) => faultsOf(issue, [], body));
}

function faultsOf(issue: Issue, before: readonly Key[], body: unknown): string[] {
  const path = [...before, ...issue.path];
  const at = wordyPath(path, body);
  const value = valueAt(body, path);
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => `${wordyPath([...path, key], body)}: Extra inputs are not permitted`);
  }
  if (issue.code === "invalid_union") {
    if (issue.discriminator !== undefined) {
      // Such an issue's path ends with the discriminating field.
      if (value === undefined) return [`${at}: Field required`];
      const kind = `Input tag '${String(value)}' found using '${issue.discriminator}'`;
      return [`${wordyPath(path.slice(0, -1), body)}: ${kind} does not match any of the expected tags`];
    }
    // The intended branch is the one that matched furthest.
    const branches = issue.errors.map((branch) => ({
      branch,
      depth: Math.max(0, ...branch.map((i) => i.path.length)),
    }));
    const best = branches.reduce((a, b) => (b.depth > a.depth ? b : a), { branch: [] as Issue[], depth: 0 });
    if (best.depth > 0) return best.branch.flatMap((inner) => faultsOf(inner, path, body));
    return [`${at}: ${value === undefined ? "Field required" : "Input should be a valid string or list"}`];
  }
  if (value === undefined) return [`${at}: Field required`];
  return [`${at}: ${complaint(issue)}`];
}

function complaint(issue: Issue): string {
  switch (issue.code) {
    case "invalid_value":
      return `Input should be ${issue.values.map((value) => `'${String(value)}'`).join(" or ")}`;
    case "invalid_format":
      if (issue.format === "base64") return "Invalid base64 data";
      return `String should match pattern '${(issue.pattern ?? "").replace(/^\/|\/[a-z]*$/g, "")}'`;
    case "too_small":
      if (issue.origin === "string") return `String should have at least ${issue.minimum} character`;
      if (issue.origin === "array") return `List should have at least ${issue.minimum} item after validation`;
      return `Input should be greater than or equal to ${issue.minimum}`;
    case "too_big":
      if (issue.origin === "string") return `String should have at most ${issue.maximum} characters`;
      if (issue.origin === "array") return `List should have at most ${issue.maximum} items after validation`;
      return `Input should be less than or equal to ${issue.maximum}`;
    case "invalid_type": {
      const names: Record<string, string> = {
        array: "list",
        object: "dictionary",
        record: "dictionary",
        int: "integer",
      };
      return `Input should be a valid ${names[issue.expected] ?? issue.expected}`;
    }
    default:
      return issue.message;
  }
}

/** The service includes the kind of a block or tool in its paths: `messages.0.content.1.tool_use.id`. */
function wordyPath(path: readonly Key[], body: unknown): string {
  const words: string[] = [];
  for (const [index, key] of path.entries()) {
    words.push(String(key));
    const parent = path[index - 1];
    const listed = typeof key === "number" && (parent === "content" || parent === "system");
    const isLast = index === path.length - 1;
    if ((listed || key === "source" || key === "thinking" || key === "tool_choice") && !isLast) {
      const kind = (valueAt(body, path.slice(0, index + 1)) as { type?: unknown } | undefined)?.type;
      if (typeof kind === "string" && path[index + 1] !== "type") words.push(kind);
    }
    if (typeof key === "number" && parent === "tools" && !isLast) words.push("custom");
  }
  return words.join(".");
}

function valueAt(body: unknown, path: readonly Key[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Record<Key, unknown> | null | undefined)?.[key], body);
}
