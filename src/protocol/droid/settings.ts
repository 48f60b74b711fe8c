import { autonomyModes, earlyLevels, interactionModes, laterLevels, reasoningEfforts } from "./words.ts";
import { type Wire, z } from "./zod.ts";

/* A session's settings on the wire. The connection's dialect decides between early and later ones. */

const systemPrompt = z.union([
  z.string(),
  z.strictObject({ type: z.literal("preset"), preset: z.literal("droid"), append: z.string() }),
]);

const tag = z.strictObject({
  name: z.string(),
  metadata: z.record(z.string(), z.string()).optional(),
});

export const earlySettings = z.strictObject({
  modelId: z.string(),
  reasoningEffort: z.enum(reasoningEfforts),
  autonomyLevel: z.enum(earlyLevels).describe("spec in spec mode."),
  specModeReasoningEffort: z.enum(reasoningEfforts).describe("none if not set."),
});

export const laterSettings = z.strictObject({
  modelId: z.string(),
  reasoningEffort: z.enum(reasoningEfforts),
  interactionMode: z.enum(interactionModes),
  autonomyLevel: z.enum(laterLevels),
  autonomyMode: z.enum(autonomyModes).describe("Mode and level in one word; spec wins."),
  specModeModelId: z.string().optional(),
  specModeReasoningEffort: z.enum(reasoningEfforts).optional(),
  systemPrompt: systemPrompt.optional().describe("Text that replaces the default prompt, or is appended to it."),
  tags: z.array(tag).optional(),
  enabledToolIds: z.array(z.string()).optional(),
  disabledToolIds: z.array(z.string()).optional(),
  additionalToolIds: z.array(z.string()).optional(),
  restrictToolIds: z.array(z.string()).optional(),
  sandbox: z
    .strictObject({ enabled: z.boolean(), mode: z.literal("per-command") })
    .optional()
    .describe("Present if commands can run in a sandbox here: whether they do at this level."),
});

export const settings = z.union([earlySettings, laterSettings]);

/** `null` removes a setting, because clients keep settings that a notification doesn't name. */
export const changedSettings = z.union([
  earlySettings,
  laterSettings.extend({
    specModeModelId: z.string().nullable().optional(),
    specModeReasoningEffort: z.enum(reasoningEfforts).nullable().optional(),
  }),
]);

export type WireTag = Wire<typeof tag>;
export type EarlySettings = Wire<typeof earlySettings>;
export type LaterSettings = Wire<typeof laterSettings>;
export type WireSettings = EarlySettings | LaterSettings;
