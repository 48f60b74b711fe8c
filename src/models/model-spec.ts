import type { ModelInfo } from "../core/ports.ts";

/** The formats that providers speak. */
export type Wire = "anthropic" | "openai-responses" | "openai-chat" | "google";

/** How long a connection may be silent, in milliseconds. */
export interface ModelTimeouts {
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly idleMs: number;
}

export const defaultTimeouts: ModelTimeouts = { connectMs: 15_000, firstByteMs: 180_000, idleMs: 120_000 };

/** Everything that is needed to call one model. */
export interface ModelSpec {
  readonly info: ModelInfo;
  readonly wire: Wire;
  /** The provider, as people call it. */
  readonly providerName: string;
  /** The model, as its provider calls it. */
  readonly model: string;
  readonly baseUrl: string;
  /** Put behind every address, without its question mark. */
  readonly query?: string;
  /** Absent: the provider wants none. */
  readonly apiKey?: string;
  /** Where a key is looked for, for words about keys: variables, or a place in the configuration. */
  readonly keyPlace: string;
  /** Why it cannot be called, in words: a key is not set. It is known all the same, and fails when it is called. */
  readonly missing?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Merged into the request's JSON. */
  readonly extraArguments: Readonly<Record<string, unknown>>;
  /** Sent as the bound of an answer; absent where the provider's own is best. */
  readonly outputLimit?: number;
  /** How effort is told to the model. */
  readonly effortStyle: EffortStyle;
  /** The field of a message in which thoughts go back to an OpenAI-compatible server. Absent: they do not. */
  readonly thinkingField?: "reasoning" | "reasoning_content";
  /** Ids of calls that the server takes, where it insists. */
  readonly callIds?: "nine-letters";
  readonly timeouts: ModelTimeouts;
}

/**
 * - `adaptive`: Anthropic's newer models; the effort is a word, thinking is the model's choice.
 * - `always-adaptive`: the same, and it cannot be switched off.
 * - `budget`: tokens to think with. `level`: Google's newer models.
 * - `word`: OpenAI's `reasoning.effort` or `reasoning_effort`. `nested-word`: OpenRouter's `reasoning: {effort}`.
 * - `none`: nothing is sent.
 */
export type EffortStyle = "adaptive" | "always-adaptive" | "budget" | "level" | "word" | "nested-word" | "none";
