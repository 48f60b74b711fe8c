import type { NamedServer, UnusableServer } from "./servers/server-entry.ts";

/** Classes of tool calls that run unasked. */
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

/** Settings stored in a session's log, and restored when it is resumed. */
export interface SessionSettings {
  readonly modelId: string;
  /** The user chose the offline model for this session, so its answers need no notice. */
  readonly isModelNamed?: boolean;
  readonly reasoningEffort: ReasoningEffort;
  readonly autonomy: Autonomy;
  readonly mode: Mode;
  readonly specModelId?: string;
  readonly specReasoningEffort?: ReasoningEffort;
  /** Replaces the default system prompt. */
  readonly systemPrompt?: string;
  readonly appendSystemPrompt?: string;
  readonly tags?: readonly Tag[];
  /** Its owner, on a server with several users. */
  readonly owner?: string;
  /** The user's name according to the client. */
  readonly userId?: string;
  /** Tools that the client brings and runs. */
  readonly clientTools?: readonly ClientTool[];
  /** The client runs every tool, even built-in ones, because the model works on the client's machine. */
  readonly clientRunsTools?: boolean;
  /** Whether the model's view is compacted when it grows too long. Absent: the configuration decides. */
  readonly compacts?: boolean;
  /** Request tokens above which compaction starts. */
  readonly compactAt?: number;
}

/** `needed`: settings that every session has. `further`: optional ones. */
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
  /**
   * JSON Schema of its arguments, as text: parsed, it takes many times the memory, and there can be thousands of
   * sessions.
   */
  readonly inputSchema: string;
}

/** A model that is silent for this long has failed. */
export interface ModelSilence {
  readonly ms: number;
  /** The user set it, so it also applies to models with their own timeouts. */
  readonly isChosen: boolean;
  /** The setting that changes it. */
  readonly key: string;
}

/** Why a run uses the offline model without naming it, and what to do about it. */
export interface ModelByDefault {
  readonly reason: string;
  readonly remedy: string;
}

/** Permissions of one process in a session. Never stored: the next run decides anew. */
export interface RunOptions {
  /** Never ask. */
  readonly unsafe?: boolean;
  /** Tools allowed by name, whatever the autonomy level. A final `*` matches the rest of a name. */
  readonly enabledTools?: readonly string[];
  readonly disabledTools?: readonly string[];
  /** The user named no model: a prompt that the offline model does not understand fails. */
  readonly modelByDefault?: ModelByDefault;
  /** Sent with the first turn that the offline model answers, unless the session names it. */
  readonly unaskedModelNotice?: { readonly modelId: string; readonly text: string };
  /** The effect of a denial on the turn without a client to ask. */
  readonly onDenied?: "stop" | "continue";
  readonly modelSilence?: ModelSilence;
  /** Limit for waiting prompts. */
  readonly maxWaiting?: number;
  /** How long a client has for the result of a call it runs. */
  readonly toolResultMs?: number;
  /** Servers that the client named. Never stored: they can hold credentials. */
  readonly servers?: readonly NamedServer[];
  /** Servers that the client named but that cannot be used. They are reported as failed. */
  readonly unusableServers?: readonly UnusableServer[];
  /** Where a browser goes after a sign-in at a server. */
  readonly signInCallback?: string;
}

/** Limits of one prompt's turn. */
export interface TurnLimits {
  readonly maxModelCalls?: number;
  readonly maxTokens?: number;
}

/** `undefined` if the user named the model, now or when the session began. */
export function unaskedModel(settings: SessionSettings, run: RunOptions): ModelByDefault | undefined {
  return settings.isModelNamed === true ? undefined : run.modelByDefault;
}
