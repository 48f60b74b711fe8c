import { z } from "zod";
import { reasoningEfforts } from "../../engine/settings.ts";
import { wholeModels } from "../check/whole-forms.ts";
import { named } from "./named-check.ts";

const reasoningStyles = ["adaptive", "always-adaptive", "budget", "level", "word", "nested-word", "none"] as const;
const thinkingFields = ["reasoning", "reasoning_content", "none"] as const;

const text = z.string().min(1);
const tokens = z.number().int().positive();
const price = z.number().nonnegative();
const variable = `\${NAME} is replaced by that environment variable`;
const seconds = z.number().positive().max(86_400);

const timeouts = z
  .strictObject({ connect: seconds.optional(), firstByte: seconds.optional(), idle: seconds.optional() })
  .describe("Maximum seconds of silence.");

const retries = z
  .strictObject({
    seconds: z.number().nonnegative().max(86_400).optional().describe("How long a failing model is retried; 0: never."),
    afterTimeout: z.number().int().nonnegative().max(100).optional().describe("Retries after silence."),
  })
  .describe("Retries of a failing model.");

/** One model of `config.yaml`. Documented in docs/models.md. */
export const modelEntrySchema = z.strictObject({
  id: named(text.regex(/^[^\s,]+$/, "must have no spaces and no commas"), "modelName").describe(
    "The name that runs use.",
  ),
  provider: text.describe("Its API format: anthropic, openai, google, openai-compatible, or a preset."),
  model: text.optional().describe("The provider's name for it. Default: its id."),
  displayName: text.optional(),
  baseUrl: named(text, "variables").optional().describe(`The address; ${variable}. Default: the provider's.`),
  apiKey: named(z.string(), "apiKey").optional().describe(`The key, or better: ${variable}.`),
  headers: z.record(text, named(z.string(), "variables")).optional().describe(`Sent with every request; ${variable}.`),
  extraArguments: z.record(text, z.unknown()).optional().describe("Merged into the JSON of every request."),
  contextWindow: tokens.optional().describe("Maximum tokens of a request and its reply together."),
  maxOutputTokens: tokens.optional().describe("Maximum tokens of a reply."),
  images: z.boolean().optional(),
  documents: z.boolean().optional().describe("Whether it reads PDF files."),
  prefersPatch: z.boolean().optional().describe("Offer ApplyPatch instead of Create and Edit."),
  reasoningEfforts: z.array(z.enum(reasoningEfforts)).optional(),
  reasoningStyle: z.enum(reasoningStyles).optional().describe("How requests express effort."),
  defaultEffort: z.enum(reasoningEfforts).optional().describe("Default effort."),
  thinkingField: z.enum(thinkingFields).optional(),
  cacheMarks: z.boolean().optional().describe("Whether chat completions take Anthropic's cache_control."),
  prices: z
    .strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() })
    .optional()
    .describe("Dollars per million tokens. Without them, no cost is reported."),
  timeouts: timeouts.optional(),
  retries: retries.optional(),
});

const choices = z.strictObject({
  default: text.optional().describe("Default model."),
  fallback: text.optional().describe("Replaces unknown models."),
  fallbacks: z.array(text).optional().describe("Models to use, in order, while another one is unavailable."),
  aliases: z.record(named(text, "modelName"), text).optional().describe("Other names of models."),
  entries: named(z.array(modelEntrySchema), "uniqueModels").optional(),
  timeouts: timeouts.optional(),
  retries: retries.optional(),
});

/** Also accepts the short forms. */
export const modelsSchema = z.preprocess(wholeModels, choices);
