import { z } from "zod";
import { reasoningEfforts } from "../core/settings.ts";

const text = z.string().min(1);
const tokens = z.number().int().positive();
const price = z.number().nonnegative();
/** Said of texts in which variables are filled in. */
const variable = "a name in curly brackets behind a dollar sign is a variable";
const seconds = z.number().positive().max(86_400);

/** One model of `config.yaml`. Documented in docs/models.md. */
export const modelEntrySchema = z.strictObject({
  id: text.regex(/^[^\s,]+$/, "must have no spaces and no commas").describe("How runs ask for it."),
  provider: text.describe("Whose format it speaks: anthropic, openai, google, openai-compatible, or a preset."),
  model: text.optional().describe("What the provider calls it; its id when left out."),
  displayName: text.optional(),
  baseUrl: text.optional().describe(`The address; ${variable}. The provider's own when left out.`),
  apiKey: z.string().optional().describe(`The key, or better: ${variable}.`),
  headers: z.record(text, z.string()).optional().describe(`Sent with every request; ${variable}.`),
  extraArguments: z.record(text, z.unknown()).optional().describe("Merged into the JSON of every request."),
  contextWindow: tokens.optional().describe("Tokens that a request and its answer may have together."),
  maxOutputTokens: tokens.optional().describe("Tokens of an answer at most."),
  images: z.boolean().optional(),
  documents: z.boolean().optional().describe("Whether it reads PDF files."),
  prefersPatch: z.boolean().optional().describe("Whether it is offered ApplyPatch instead of Create and Edit."),
  reasoningEfforts: z.array(z.enum(reasoningEfforts)).optional(),
  reasoningStyle: z
    .enum(["adaptive", "always-adaptive", "budget", "level", "word", "nested-word", "none"])
    .optional()
    .describe("How an effort is told to it."),
  thinkingField: z.enum(["reasoning", "reasoning_content", "none"]).optional(),
  prices: z
    .strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() })
    .optional()
    .describe("Dollars for a million tokens. Without them no cost is told."),
  timeouts: z
    .strictObject({ connect: seconds.optional(), firstByte: seconds.optional(), idle: seconds.optional() })
    .optional()
    .describe("Seconds of silence at most."),
});

const entries = z.array(modelEntrySchema).superRefine((list, context) => {
  const seen = new Set<string>();
  for (const [index, { id }] of list.entries()) {
    if (seen.has(id)) context.addIssue({ code: "custom", path: [index, "id"], message: `"${id}" is there twice` });
    seen.add(id);
  }
});

const choices = z.strictObject({
  default: text.optional().describe("The model of runs that name none."),
  fallback: text.optional().describe("Takes the place of a model that is not known."),
  aliases: z.record(text, text).optional().describe("Other names of models."),
  entries: entries.optional(),
});

/** A list is the short form of `entries`. */
export const modelsSchema = z.preprocess((value) => (Array.isArray(value) ? { entries: value } : value), choices);
