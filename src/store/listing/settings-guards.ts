import type {
  Autonomy,
  ClientTool,
  Mode,
  ReasoningEffort,
  SessionSettings,
  SettingKey,
  Tag,
} from "../../engine/settings.ts";
import { isRecord, isText } from "../../text/values.ts";
import { each, everyOneOf, type FieldGuards, isFlag, isNumber, listOf, optional, shape } from "./guards.ts";

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
export const neededSettings: FieldGuards<Pick<SessionSettings, SettingKey<"needed">>> = {
  modelId: isText,
  reasoningEffort: isReasoningEffort,
  autonomy: isAutonomy,
  mode: everyOneOf<Mode>({ auto: true, spec: true }),
};

export const furtherSettings: FieldGuards<Pick<SessionSettings, SettingKey<"further">>> = {
  isModelNamed: isFlag,
  specModelId: isText,
  specReasoningEffort: isReasoningEffort,
  systemPrompt: isText,
  appendSystemPrompt: isText,
  tags: listOf(shape<Tag>({ name: isText, metadata: optional(isRecord) })),
  owner: isText,
  userId: isText,
  clientTools: listOf(shape<ClientTool>({ name: isText, description: isText, inputSchema: isText })),
  clientRunsTools: isFlag,
  compacts: isFlag,
  compactAt: isNumber,
};

export const isSettings = shape<SessionSettings>({ ...neededSettings, ...each(furtherSettings, optional) });
