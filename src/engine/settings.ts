/** Which classes of tool calls run unasked. */
export const autonomyLevels = ["off", "low", "medium", "high"] as const;
export type Autonomy = (typeof autonomyLevels)[number];

export function isAbove(level: Autonomy, most: Autonomy): boolean {
  return autonomyLevels.indexOf(level) > autonomyLevels.indexOf(most);
}

export function lowerLevel(a: Autonomy, b: Autonomy): Autonomy {
  return isAbove(a, b) ? b : a;
}

/** `spec` only reads and plans; `auto` works. */
export type Mode = "auto" | "spec";

export const reasoningEfforts = ["none", "off", "minimal", "low", "medium", "high", "xhigh", "max", "dynamic"] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface Tag {
  readonly name: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** What a session keeps in its log and takes up again when it is resumed. */
export interface SessionSettings {
  readonly modelId: string;
  /** The user named the offline model for this session, so its answers count without another mention. */
  readonly isModelNamed?: boolean;
  readonly reasoningEffort: ReasoningEffort;
  readonly autonomy: Autonomy;
  readonly mode: Mode;
  readonly specModelId?: string;
  readonly specReasoningEffort?: ReasoningEffort;
  /** Takes the place of the text that the model is told about itself and its work. */
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  readonly tags?: readonly Tag[];
  /** Whose session it is, where several people share a server. */
  readonly owner?: string;
  /** Who the client says that its user is. */
  readonly userId?: string;
  /** Tools that the client brings and runs. */
  readonly clientTools?: readonly ClientTool[];
  /** The client runs every tool, the built-in ones too: the model works where the client is. */
  readonly clientRunsTools?: boolean;
  /** Whether the model's view is compacted when it grows too long; absent where the configuration decides. */
  readonly compacts?: boolean;
  /** Tokens of a request above which that happens. */
  readonly compactAt?: number;
}

/** `needed`: what every session has. `further`: what it may be without. */
export type SettingKey<Kind extends "needed" | "further"> = {
  [Key in keyof SessionSettings]-?: undefined extends SessionSettings[Key]
    ? "further" extends Kind
      ? Key
      : never
    : "needed" extends Kind
      ? Key
      : never;
}[keyof SessionSettings];

export interface ClientTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of its arguments, as text: what it says takes many times the memory, and there may be thousands of sessions. */
  readonly inputSchema: string;
}

/** A model that says nothing for so long has failed. */
export interface ModelSilence {
  readonly ms: number;
  /** The user chose it, so it also holds for models that bound their silence themselves. */
  readonly isChosen: boolean;
  /** Where the user can change it. */
  readonly key: string;
}

/** Why a run uses the offline model unasked, and what to do about it. */
export interface ModelByDefault {
  readonly reason: string;
  readonly remedy: string;
}

/** What one process allows itself in a session. Never stored: the next run decides anew. */
export interface RunOptions {
  /** Ask nothing at all. */
  readonly unsafe?: boolean;
  /** Tools allowed by name although the autonomy level would ask. */
  readonly enabledTools?: readonly string[];
  readonly disabledTools?: readonly string[];
  /** The user named no model: a prompt that the offline model does not understand fails. */
  readonly modelByDefault?: ModelByDefault;
  /** Told with the first turn that this model answers, unless the session names it. */
  readonly unaskedModelNotice?: { readonly modelId: string; readonly text: string };
  /** What a denial does to the turn when nobody can be asked. */
  readonly onDenied?: "stop" | "continue";
  readonly modelSilence?: ModelSilence;
  /** How many prompts may wait. */
  readonly maxWaiting?: number;
  /** How long a client has for the result of a call that it runs. */
  readonly toolResultMs?: number;
}

/** Bounds of one prompt's turn. */
export interface TurnLimits {
  readonly maxModelCalls?: number;
  readonly maxTokens?: number;
}

/** `undefined` when the user named the model, now or when the session began. */
export function unaskedModel(settings: SessionSettings, run: RunOptions): ModelByDefault | undefined {
  return settings.isModelNamed === true ? undefined : run.modelByDefault;
}
