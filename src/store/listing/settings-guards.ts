import type { Autonomy, Mode, ReasoningEffort } from "../../core/settings.ts";
import { each, everyOneOf, isFields, isText, listOf, optional, shape } from "./guards.ts";

export const isAutonomy = everyOneOf<Autonomy>({ off: true, low: true, medium: true, high: true });

const isReasoningEffort = everyOneOf<ReasoningEffort>({
  none: true,
  off: true,
  minimal: true,
  low: true,
  medium: true,
  high: true,
  xhigh: true,
  max: true,
  dynamic: true,
});

/** Required settings. */
export const neededSettings = {
  modelId: isText,
  reasoningEffort: isReasoningEffort,
  autonomy: isAutonomy,
  mode: everyOneOf<Mode>({ auto: true, spec: true }),
};

export const furtherSettings = {
  isModelNamed: (value: unknown) => typeof value === "boolean",
  specModelId: isText,
  specReasoningEffort: isReasoningEffort,
  systemPrompt: isText,
  appendSystemPrompt: isText,
  tags: listOf(shape({ name: isText, metadata: optional(isFields) })),
  owner: isText,
  userId: isText,
  clientTools: listOf(shape({ name: isText, description: isText, inputSchema: isText })),
  clientRunsTools: (value: unknown) => typeof value === "boolean",
};

export const isSettings = shape({ ...neededSettings, ...each(furtherSettings, optional) });
