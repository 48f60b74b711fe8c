/** The objects inside messages. The SDKs accept additional fields, but no invalid known ones. */
import { z } from "zod";
import * as words from "./strict-words.ts";

export const text = z.string();
export const count = z.int();
export const amount = z.number();
export const flag = z.boolean();
export const texts = z.array(z.string());
export const anyObject = z.record(z.string(), z.unknown());

export const textBlock = z.looseObject({ type: z.literal("text"), text, id: text.optional() });
export const imageSource = z.looseObject({
  type: z.literal("base64"),
  data: text,
  mediaType: z.enum(["image/jpeg", "image/png", "image/gif", "image/webp"]),
});
export const imageBlock = z.looseObject({
  type: z.literal("image"),
  source: imageSource,
  id: text.optional(),
  generated: flag.optional(),
});
export const documentSource = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("base64"),
    mediaType: z.literal("application/pdf"),
    data: text,
    parsedData: text.optional(),
    name: text.optional(),
    path: text.optional(),
  }),
  z.looseObject({
    type: z.literal("text"),
    mediaType: z.literal("text/plain"),
    data: text,
    name: text.optional(),
    mime: text.optional(),
  }),
]);
export const documentBlock = z.looseObject({
  type: z.literal("document"),
  source: documentSource,
  id: text.optional(),
});
export const toolUse = z.looseObject({
  type: z.literal("tool_use"),
  id: text,
  name: text,
  input: anyObject,
  thoughtSignature: text.optional(),
});
const thinkingBlock = z.looseObject({
  type: z.literal("thinking"),
  thinking: text,
  signature: text,
  id: text.optional(),
  signatureProvider: text.optional(),
  durationMs: amount.optional(),
});
const redactedBlock = z.looseObject({ type: z.literal("redacted_thinking"), data: text, id: text.optional() });
export const toolResultContent = z.union([
  text,
  z.array(z.discriminatedUnion("type", [textBlock, imageBlock, documentBlock])),
]);
const toolResultBlock = z.looseObject({
  type: z.literal("tool_result"),
  toolUseId: text,
  content: toolResultContent.optional(),
  isError: flag.optional(),
  id: text.optional(),
});

export const message = z.looseObject({
  id: text,
  role: words.role,
  content: z.array(
    z.discriminatedUnion("type", [
      textBlock,
      imageBlock,
      thinkingBlock,
      redactedBlock,
      toolUse,
      toolResultBlock,
      documentBlock,
    ]),
  ),
  createdAt: amount,
  updatedAt: amount,
  parentId: text.optional(),
  visibility: words.visibility.optional(),
  isUserVisible: flag.optional(),
  isError: flag.optional(),
  modelId: text.optional(),
  reasoningEffort: text.optional(),
  interactionMode: text.optional(),
});

export const tokenUsage = z.looseObject({
  inputTokens: count,
  outputTokens: count,
  cacheCreationTokens: count,
  cacheReadTokens: count,
  thinkingTokens: count,
  factoryCredits: amount.optional(),
});
export const lastCallTokenUsage = z.looseObject({
  inputTokens: count,
  cacheReadTokens: count,
  outputTokens: count.optional(),
});

export const tag = z.looseObject({ name: text, metadata: z.record(z.string(), text).optional() });
const systemPrompt = z.union([
  text,
  z.looseObject({ type: z.literal("preset"), preset: z.literal("droid"), append: text }),
]);
const toolIds = {
  additionalToolIds: texts.optional(),
  enabledToolIds: texts.optional(),
  disabledToolIds: texts.optional(),
  restrictToolIds: texts.optional(),
};

export const settings = (level: z.ZodType) =>
  z.looseObject({
    modelId: text,
    reasoningEffort: words.reasoningEffort,
    autonomyMode: words.autonomyMode.optional(),
    interactionMode: words.interactionMode.optional(),
    autonomyLevel: level.optional(),
    specModeModelId: text.optional(),
    specModeReasoningEffort: words.reasoningEffort.optional(),
    systemPrompt: systemPrompt.optional(),
    tags: z.array(tag).optional(),
    compactionThresholdCheckEnabled: flag.optional(),
    ...toolIds,
  });

/** Null clears it. */
export const changedSettings = (level: z.ZodType) =>
  z.looseObject({
    modelId: text.optional(),
    reasoningEffort: words.reasoningEffort.optional(),
    autonomyMode: words.autonomyMode.nullish(),
    interactionMode: words.interactionMode.nullish(),
    autonomyLevel: level.nullish(),
    specModeModelId: text.nullish(),
    specModeReasoningEffort: words.reasoningEffort.nullish(),
    tags: z.array(tag).optional(),
    compactionThresholdCheckEnabled: flag.optional(),
    ...toolIds,
  });

export const model = z.looseObject({
  id: text,
  displayName: text,
  shortDisplayName: text,
  modelProvider: words.modelProvider,
  supportedReasoningEfforts: z.array(words.reasoningEffort),
  defaultReasoningEffort: words.reasoningEffort,
  isCustom: flag.optional(),
  noImageSupport: flag.optional(),
  supportsImageGeneration: flag.optional(),
  tier: text.optional(),
  tokenMultiplier: amount.optional(),
  promoLabel: text.optional(),
  kind: text.optional(),
  variantBadge: text.optional(),
  modelId: text.optional(),
  supportsPDFs: flag.optional(),
  featureFlag: anyObject.optional(),
  disabled: flag.optional(),
  disabledReason: text.optional(),
});

export const gitRepo = z.looseObject({ owner: text.optional(), repoName: text });
/** The keys show the kind of server, because `type` is not echoed. */
export const mcpConfig = z.union([
  z.looseObject({
    name: text,
    command: text,
    args: texts.optional(),
    env: z.record(z.string(), text).optional(),
  }),
  z.looseObject({
    name: text,
    url: text,
    headers: z.array(z.looseObject({ name: text, value: text })).optional(),
    oauth: z.union([anyObject, z.literal(false)]).optional(),
  }),
]);
export const mcpServer = z.looseObject({
  name: text,
  status: words.mcpServerStatus,
  source: words.settingsLevel,
  isManaged: flag,
  error: text.optional(),
  toolCount: count.optional(),
  serverType: words.mcpServerType,
  hasAuthTokens: flag.optional(),
  requiresAuth: flag.optional(),
  pendingAuthUrl: text.optional(),
});
export const mcpSummary = z.looseObject({
  total: count,
  connected: count,
  connecting: count,
  failed: count,
  disabled: count.optional(),
  configError: z.looseObject({ path: text, message: text }).optional(),
});
