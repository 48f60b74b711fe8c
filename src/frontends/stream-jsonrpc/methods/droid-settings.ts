import { AgentError } from "../../../engine/errors.ts";
import type { SettingsChanges } from "../../../engine/event.ts";
import type { Autonomy, Mode, SessionSettings, Tag } from "../../../engine/settings.ts";
import { changesOf, type SettingDecisions } from "../../../engine/settings-changes.ts";
import type { InitializeParams, UpdateSettingsParams } from "../../../protocol/droid/params.ts";
import type { EarlySettings, LaterSettings, WireSettings, WireTag } from "../../../protocol/droid/settings.ts";
import type { EarlyLevel, LaterLevel } from "../../../protocol/droid/words.ts";
import type { Dialect } from "../dialect.ts";
import { filtersIn, type ToolFilters } from "./tool-filters.ts";

type LevelWord = LaterLevel | EarlyLevel;
/** Session settings as request parameters. */
type SettingsParams = UpdateSettingsParams & Pick<InitializeParams, "systemPrompt">;

const modeOfAutonomy = {
  off: "normal",
  low: "auto-low",
  medium: "auto-medium",
  high: "auto-high",
} as const satisfies Record<Autonomy, EarlyLevel>;

/** Mode and level in one word. */
function modeAndLevel({ mode, autonomy }: SessionSettings): EarlyLevel {
  return mode === "spec" ? "spec" : modeOfAutonomy[autonomy];
}

export function wireSettings(
  settings: SessionSettings,
  dialect: Dialect,
  filters: ToolFilters = {},
  isContained?: boolean,
): WireSettings {
  return dialect === "early" ? earlySettings(settings) : laterSettings(settings, filters, isContained);
}

function earlySettings(settings: SessionSettings): EarlySettings {
  return {
    modelId: settings.modelId,
    reasoningEffort: settings.reasoningEffort,
    autonomyLevel: modeAndLevel(settings),
    specModeReasoningEffort: settings.specReasoningEffort ?? "none",
  };
}

function laterSettings(settings: SessionSettings, filters: ToolFilters, isContained?: boolean): LaterSettings {
  const { modelId, reasoningEffort, mode, autonomy, specModelId, specReasoningEffort, ...others } = settings;
  const { systemPrompt, appendSystemPrompt: append, tags, ...hidden } = others;
  const { isModelNamed: _named, owner: _owner, userId: _user, clientTools: _tools, ...more } = hidden;
  const { clientRunsTools: _runs, compacts: _compacts, compactAt: _compactAt, ...undecided } = more;
  // A new setting compiles only once it is shown to clients or listed as hidden.
  undecided satisfies Readonly<Record<string, never>>;
  const preset = append === undefined ? undefined : ({ type: "preset", preset: "droid", append } as const);
  const prompt = systemPrompt ?? preset;
  return {
    modelId,
    reasoningEffort,
    interactionMode: mode,
    autonomyLevel: autonomy,
    autonomyMode: modeAndLevel(settings),
    ...(specModelId === undefined ? {} : { specModeModelId: specModelId }),
    ...(specReasoningEffort === undefined ? {} : { specModeReasoningEffort: specReasoningEffort }),
    ...(prompt === undefined ? {} : { systemPrompt: prompt }),
    ...(tags === undefined ? {} : { tags: tags.map(wireTag) }),
    ...filtersIn(filters),
    ...(isContained === undefined ? {} : { sandbox: { enabled: isContained, mode: "per-command" } }),
  };
}

type OptionalKey<T> = { [Key in keyof T]-?: undefined extends T[Key] ? Key : never }[keyof T];

/** Optional settings that the wire can reset with `null`. */
const isClearable = {
  specModeModelId: true,
  specModeReasoningEffort: true,
  systemPrompt: false,
  tags: false,
  enabledToolIds: false,
  disabledToolIds: false,
  additionalToolIds: false,
  restrictToolIds: false,
  sandbox: false,
} as const satisfies Readonly<Record<OptionalKey<LaterSettings>, boolean>>;

type Clearable = {
  [Key in keyof typeof isClearable]: (typeof isClearable)[Key] extends true ? Key : never;
}[keyof typeof isClearable];

/** Sends `null` for settings that are gone: clients keep a setting that is merely absent. */
export function clearedSettings(before: WireSettings, now: WireSettings): { readonly [Key in Clearable]?: null } {
  const isGone = (key: string): boolean => key in before && !(key in now);
  const gone = Object.entries(isClearable).filter(([key, can]) => can && isGone(key));
  return Object.fromEntries(gone.map(([key]) => [key, null]));
}

/** Clients accept only strings in a tag; sessions can hold more, set elsewhere. */
function wireTag({ name, metadata }: Tag): WireTag {
  if (metadata === undefined) return { name };
  const texts = Object.entries(metadata).flatMap(([key, value]): [string, string][] => {
    const text = typeof value === "string" ? value : jsonOf(value);
    return text === undefined ? [] : [[key, text]];
  });
  return { name, metadata: Object.fromEntries(texts) };
}

/** `undefined` for values nested too deeply to be written. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return undefined;
  }
}

/**
 * Only the settings that the parameters name. Mode and level each override `autonomyMode`, which combines them. Throws
 * `usage` for unsupported modes.
 */
export function engineSettings(params: SettingsParams, dialect: Dialect): SettingsChanges {
  const { modelId, interactionMode, tags } = params;
  const said = { ...saidBy(params.autonomyMode), ...saidBy(levelIn(dialect, params.autonomyLevel)) };
  return changesOf({
    modelId,
    isModelNamed: modelId === "offline" ? true : undefined,
    reasoningEffort: params.reasoningEffort,
    autonomy: said.autonomy,
    mode: interactionMode === undefined ? said.mode : modeOf(interactionMode),
    specModelId: params.specModeModelId,
    specReasoningEffort: params.specModeReasoningEffort,
    ...promptChanges(params.systemPrompt),
    tags: tags?.map(({ name, metadata }) => (metadata === undefined ? { name } : { name, metadata })),
    // Clients of this wire cannot change these.
    owner: undefined,
    userId: undefined,
    clientTools: undefined,
    clientRunsTools: undefined,
    compacts: params.compactionThresholdCheckEnabled,
    compactAt: params.compactionTokenLimit,
  });
}

/** Early clients have one word for mode and level, so for them any level ends spec mode. */
function levelIn(dialect: Dialect, word: LevelWord | undefined): LevelWord | undefined {
  return dialect === "early" && isAutonomy(word) ? modeOfAutonomy[word] : word;
}

function isAutonomy(word: LevelWord | undefined): word is Autonomy {
  return word !== undefined && Object.hasOwn(modeOfAutonomy, word);
}

/** Words of the early vocabulary also set the mode; later ones don't. */
const saidByWord: Readonly<Record<LevelWord, { readonly autonomy: Autonomy; readonly mode?: Mode }>> = {
  off: { autonomy: "off" },
  low: { autonomy: "low" },
  medium: { autonomy: "medium" },
  high: { autonomy: "high" },
  spec: { autonomy: "off", mode: "spec" },
  normal: { autonomy: "off", mode: "auto" },
  "auto-low": { autonomy: "low", mode: "auto" },
  "auto-medium": { autonomy: "medium", mode: "auto" },
  "auto-high": { autonomy: "high", mode: "auto" },
};

function saidBy(word: LevelWord | undefined): { readonly autonomy?: Autonomy; readonly mode?: Mode } {
  return word === undefined ? {} : saidByWord[word];
}

function modeOf(word: string): Mode {
  if (word === "auto" || word === "spec") return word;
  throw new AgentError("usage", `interactionMode ${JSON.stringify(word)} is not supported; use "auto" or "spec"`);
}

/** The wire has one text; it replaces our prompt or follows it. */
function promptChanges(
  prompt: SettingsParams["systemPrompt"],
): Pick<SettingDecisions, "systemPrompt" | "appendSystemPrompt"> {
  if (prompt === undefined) return { systemPrompt: undefined, appendSystemPrompt: undefined };
  if (typeof prompt === "string") return { systemPrompt: prompt, appendSystemPrompt: null };
  return { systemPrompt: null, appendSystemPrompt: prompt.append };
}
