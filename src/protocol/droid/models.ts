import { modelProviders, reasoningEfforts } from "./words.ts";
import { type Wire, z } from "./zod.ts";

/** An entry of `availableModels`. */
export const availableModel = z.strictObject({
  id: z.string(),
  modelId: z.string().describe("Same as id."),
  modelProvider: z.enum(modelProviders),
  displayName: z.string(),
  shortDisplayName: z.string(),
  supportedReasoningEfforts: z.array(z.enum(reasoningEfforts)),
  defaultReasoningEffort: z.enum(reasoningEfforts),
  deprecated: z.boolean(),
  noImageSupport: z.boolean(),
  supportsPDFs: z.boolean(),
  tokenMultiplier: z.number().describe("Always 1, because nothing is billed."),
  isCustom: z.boolean(),
});

/** An entry of `list_models`. */
export const listedModel = availableModel.extend({
  disabled: z.literal(true).optional(),
  disabledReason: z.string().optional().describe("What is missing, such as the variable with the key."),
});

/** An entry of `list_tools`. */
export const toolInfo = z.strictObject({
  id: z.string(),
  llmId: z.string().describe("The name that the model uses."),
  displayName: z.string(),
  description: z.string(),
  category: z.string(),
  defaultAllowed: z.boolean(),
  currentlyAllowed: z.boolean(),
});

export type AvailableModel = Wire<typeof availableModel>;
