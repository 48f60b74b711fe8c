import { z } from "zod";
import { reasoningEfforts } from "../../engine/settings.ts";
import { wholeModels } from "../models/whole-models.ts";
import { named } from "./named-check.ts";

const reasoningStyles = ["adaptive", "always-adaptive", "budget", "level", "word", "nested-word", "none"] as const;
const thinkingFields = ["reasoning", "reasoning_content", "none"] as const;

const text = z.string().min(1);
const tokens = z.number().int().positive();
const price = z.number().nonnegative();
const variable = "a name in curly brackets behind a dollar sign is a variable";
const seconds = z.number().positive().max(86_400);

const timeouts = z
  .strictObject({ connect: seconds.optional(), firstByte: seconds.optional(), idle: seconds.optional() })
  .describe("Seconds of silence at most.");

const retries = z
  .strictObject({
    seconds: z.number().nonnegative().max(86_400).optional().describe("How long a failing model is retried; 0: never."),
    afterTimeout: z.number().int().nonnegative().max(100).optional().describe("Retries of a model that fell silent."),
  })
  .describe("How patient a run is with a model that fails.");

/** One model of `config.yaml`. Documented in docs/models.md. */
export const modelEntrySchema = z.strictObject({
  id: named(text.regex(/^[^\s,]+$/, "must have no spaces and no commas"), "modelName").describe("How runs ask for it."),
  provider: text.describe("Whose format it speaks: anthropic, openai, google, openai-compatible, or a preset."),
  model: text.optional().describe("What the provider calls it; its id when left out."),
  displayName: text.optional(),
  baseUrl: named(text, "variables").optional().describe(`The address; ${variable}. The provider's own when left out.`),
  apiKey: named(z.string(), "apiKey").optional().describe(`The key, or better: ${variable}.`),
  headers: z.record(text, named(z.string(), "variables")).optional().describe(`Sent with every request; ${variable}.`),
  extraArguments: z.record(text, z.unknown()).optional().describe("Merged into the JSON of every request."),
  contextWindow: tokens.optional().describe("Tokens that a request and its answer may have together."),
  maxOutputTokens: tokens.optional().describe("Tokens of an answer at most."),
  images: z.boolean().optional(),
  documents: z.boolean().optional().describe("Whether it reads PDF files."),
  prefersPatch: z.boolean().optional().describe("Whether it is offered ApplyPatch instead of Create and Edit."),
  reasoningEfforts: z.array(z.enum(reasoningEfforts)).optional(),
  reasoningStyle: z.enum(reasoningStyles).optional().describe("How an effort is told to it."),
  defaultEffort: z.enum(reasoningEfforts).optional().describe("The effort of runs that name none."),
  thinkingField: z.enum(thinkingFields).optional(),
  cacheMarks: z.boolean().optional().describe("Whether chat completions take Anthropic's cache_control."),
  prices: z
    .strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() })
    .optional()
    .describe("Dollars for a million tokens. Without them no cost is told."),
  timeouts: timeouts.optional(),
  retries: retries.optional(),
});

const choices = z.strictObject({
  default: text.optional().describe("The model of runs that name none."),
  fallback: text.optional().describe("Takes the place of a model that is not known."),
  fallbacks: z.array(text).optional().describe("Models to ask, in order, while another one is unavailable."),
  aliases: z.record(named(text, "modelName"), text).optional().describe("Other names of models."),
  entries: named(z.array(modelEntrySchema), "uniqueModels").optional(),
  timeouts: timeouts.optional(),
  retries: retries.optional(),
});

/** Also accepts the short forms. */
export const modelsSchema = z.preprocess(wholeModels, choices);
