import { z } from "zod";
import { reasoningEfforts } from "../core/settings.ts";
import { reasoningStyles, thinkingFields } from "./config-shape.ts";
import { hasBrokenVariable } from "./named-variables.ts";

const text = z.string().min(1);
const tokens = z.number().int().positive();
const price = z.number().nonnegative();
/** Said of texts in which variables are filled in. */
const variable = "a name in curly brackets behind a dollar sign is a variable";
const seconds = z.number().positive().max(86_400);

/** What is wrong is not quoted: it may be part of a key. */
function filledIn(value: string, context: z.RefinementCtx): void {
  if (!hasBrokenVariable(value)) return;
  context.addIssue({ code: "custom", message: `has a variable that cannot be read: write \${NAME}` });
}

function notEmpty(value: string, context: z.RefinementCtx): void {
  if (value.trim() !== "") return;
  context.addIssue({ code: "custom", message: "is empty: leave it out where no key is needed" });
}

/** Names that mean a model before any configuration is looked at. */
function notReserved(name: string, context: z.RefinementCtx, path: readonly string[] = []): void {
  if (name !== "offline" && !name.startsWith("script:")) return;
  const own = name === "offline" ? "the offline model" : "scripted models";
  context.addIssue({ code: "custom", path: [...path], message: `"${name}" stands for ${own}: choose another name` });
}

/** One model of `config.yaml`. Documented in docs/models.md. */
export const modelEntrySchema = z.strictObject({
  id: text
    .regex(/^[^\s,]+$/, "must have no spaces and no commas")
    .superRefine((id, context) => notReserved(id, context))
    .describe("How runs ask for it."),
  provider: text.describe("Whose format it speaks: anthropic, openai, google, openai-compatible, or a preset."),
  model: text.optional().describe("What the provider calls it; its id when left out."),
  displayName: text.optional(),
  baseUrl: text
    .superRefine(filledIn)
    .optional()
    .describe(`The address; ${variable}. The provider's own when left out.`),
  apiKey: z
    .string()
    .superRefine(notEmpty)
    .superRefine(filledIn)
    .optional()
    .describe(`The key, or better: ${variable}.`),
  headers: z
    .record(text, z.string().superRefine(filledIn))
    .optional()
    .describe(`Sent with every request; ${variable}.`),
  extraArguments: z.record(text, z.unknown()).optional().describe("Merged into the JSON of every request."),
  contextWindow: tokens.optional().describe("Tokens that a request and its answer may have together."),
  maxOutputTokens: tokens.optional().describe("Tokens of an answer at most."),
  images: z.boolean().optional(),
  documents: z.boolean().optional().describe("Whether it reads PDF files."),
  prefersPatch: z.boolean().optional().describe("Whether it is offered ApplyPatch instead of Create and Edit."),
  reasoningEfforts: z.array(z.enum(reasoningEfforts)).optional(),
  reasoningStyle: z.enum(reasoningStyles).optional().describe("How an effort is told to it."),
  thinkingField: z.enum(thinkingFields).optional(),
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

const aliases = z.record(text, text).superRefine((names, context) => {
  for (const name of Object.keys(names)) notReserved(name, context, [name]);
});

const choices = z.strictObject({
  default: text.optional().describe("The model of runs that name none."),
  fallback: text.optional().describe("Takes the place of a model that is not known."),
  aliases: aliases.optional().describe("Other names of models."),
  entries: entries.optional(),
});

/** A list is the short form of `entries`. Where nothing stands, all lines below may be comments. */
export const modelsSchema = z.preprocess((value) => {
  if (value === null) return {};
  if (Array.isArray(value)) return { entries: value };
  if (typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).filter(([key, one]) => one !== null || (key !== "entries" && key !== "aliases")),
  );
}, choices);
