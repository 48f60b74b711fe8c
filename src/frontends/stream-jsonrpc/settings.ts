import { AgentError } from "../../core/errors.ts";
import type { SettingsChanges } from "../../core/event.ts";
import type { Autonomy, Mode, SessionSettings, Tag } from "../../core/settings.ts";
import type { InitializeParams, UpdateSettingsParams } from "../../protocol/droid/params.ts";
import type { EarlySettings, LaterSettings, WireSettings, WireTag } from "../../protocol/droid/settings.ts";
import type { EarlyLevel, LaterLevel } from "../../protocol/droid/words.ts";
import type { Dialect } from "./dialect.ts";
import { filtersIn, type ToolFilters } from "./tool-filters.ts";

type LevelWord = LaterLevel | EarlyLevel;
/** What parameters of a client may say about the settings of a session. */
type SettingsParams = UpdateSettingsParams & Pick<InitializeParams, "systemPrompt">;

const modeOfAutonomy = {
  off: "normal",
  low: "auto-low",
  medium: "auto-medium",
  high: "auto-high",
} as const satisfies Record<Autonomy, EarlyLevel>;

/** Both in one word. */
function modeAndLevel({ mode, autonomy }: SessionSettings): EarlyLevel {
  return mode === "spec" ? "spec" : modeOfAutonomy[autonomy];
}

export function wireSettings(settings: SessionSettings, dialect: Dialect, filters: ToolFilters = {}): WireSettings {
  return dialect === "early" ? earlySettings(settings) : laterSettings(settings, filters);
}

function earlySettings(settings: SessionSettings): EarlySettings {
  return {
    modelId: settings.modelId,
    reasoningEffort: settings.reasoningEffort,
    autonomyLevel: modeAndLevel(settings),
    specModeReasoningEffort: settings.specReasoningEffort ?? "none",
  };
}

function laterSettings(settings: SessionSettings, filters: ToolFilters): LaterSettings {
  const { specModelId, specReasoningEffort, systemPrompt, appendSystemPrompt: append, tags } = settings;
  const preset = append === undefined ? undefined : ({ type: "preset", preset: "droid", append } as const);
  const prompt = systemPrompt ?? preset;
  return {
    modelId: settings.modelId,
    reasoningEffort: settings.reasoningEffort,
    interactionMode: settings.mode,
    autonomyLevel: settings.autonomy,
    autonomyMode: modeAndLevel(settings),
    ...(specModelId === undefined ? {} : { specModeModelId: specModelId }),
    ...(specReasoningEffort === undefined ? {} : { specModeReasoningEffort: specReasoningEffort }),
    ...(prompt === undefined ? {} : { systemPrompt: prompt }),
    ...(tags === undefined ? {} : { tags: tags.map(wireTag) }),
    ...filtersIn(filters),
  };
}

/** What was told before and is not there any more: clients keep a setting that is merely not named. */
export function clearedSettings(
  before: WireSettings,
  now: WireSettings,
): { specModeModelId?: null; specModeReasoningEffort?: null } {
  const isGone = (key: string): boolean => key in before && !(key in now);
  return {
    ...(isGone("specModeModelId") ? { specModeModelId: null } : {}),
    ...(isGone("specModeReasoningEffort") ? { specModeReasoningEffort: null } : {}),
  };
}

/** Clients take texts alone in a tag; the session may hold more, by other ways. */
function wireTag({ name, metadata }: Tag): WireTag {
  if (metadata === undefined) return { name };
  const texts = Object.entries(metadata).flatMap(([key, value]): [string, string][] => {
    const text = typeof value === "string" ? value : jsonOf(value);
    return text === undefined ? [] : [[key, text]];
  });
  return { name, metadata: Object.fromEntries(texts) };
}

/** `undefined` for what is nested deeper than can be written; it could be read all the same. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return undefined;
  }
}

/**
 * The settings that parameters name, and no others. Mode and level each win over `autonomyMode`, which says both. Throws
 * `usage` for unsupported modes.
 */
export function engineSettings(params: SettingsParams, dialect: Dialect): SettingsChanges {
  const { modelId, reasoningEffort, specModeModelId, specModeReasoningEffort, systemPrompt, tags } = params;
  return {
    ...(modelId === undefined ? {} : { modelId }),
    ...(modelId === "offline" ? { isModelNamed: true } : {}),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...saidBy(params.autonomyMode),
    ...saidBy(levelIn(dialect, params.autonomyLevel)),
    ...(params.interactionMode === undefined ? {} : { mode: modeOf(params.interactionMode) }),
    ...(specModeModelId === undefined ? {} : { specModelId: specModeModelId }),
    ...(specModeReasoningEffort === undefined ? {} : { specReasoningEffort: specModeReasoningEffort }),
    ...(systemPrompt === undefined ? {} : promptChanges(systemPrompt)),
    ...(tags === undefined
      ? {}
      : { tags: tags.map(({ name, metadata }) => (metadata === undefined ? { name } : { name, metadata })) }),
  };
}

/** Early sessions know one word for mode and level, so a level of the later vocabulary ends spec mode there as its own does. */
function levelIn(dialect: Dialect, word: LevelWord | undefined): LevelWord | undefined {
  return dialect === "early" && isAutonomy(word) ? modeOfAutonomy[word] : word;
}

function isAutonomy(word: LevelWord | undefined): word is Autonomy {
  return word !== undefined && Object.hasOwn(modeOfAutonomy, word);
}

/** The words of the one vocabulary say the mode, too; those of the other leave it as it is. */
function saidBy(word: LevelWord | undefined): { autonomy?: Autonomy; mode?: Mode } {
  switch (word) {
    case undefined:
      return {};
    case "off":
    case "low":
    case "medium":
    case "high":
      return { autonomy: word };
    case "spec":
      return { autonomy: "off", mode: "spec" };
    case "normal":
      return { autonomy: "off", mode: "auto" };
    case "auto-low":
      return { autonomy: "low", mode: "auto" };
    case "auto-medium":
      return { autonomy: "medium", mode: "auto" };
    case "auto-high":
      return { autonomy: "high", mode: "auto" };
  }
}

function modeOf(word: string): Mode {
  if (word === "auto" || word === "spec") return word;
  throw new AgentError("usage", `interactionMode ${JSON.stringify(word)} is not supported; use "auto" or "spec"`);
}

/** There is one text on the wire: it replaces ours, or follows it. */
function promptChanges(prompt: NonNullable<SettingsParams["systemPrompt"]>): SettingsChanges {
  if (typeof prompt === "string") return { systemPrompt: prompt, appendSystemPrompt: null };
  return { systemPrompt: null, appendSystemPrompt: prompt.append };
}
