import type { ModelInfo } from "../../engine/ports.ts";
import type { ReasoningEffort } from "../../engine/settings.ts";
import type { SilenceLimits } from "../silence.ts";

/** API formats of providers. */
export type Wire = "anthropic" | "openai-responses" | "openai-chat" | "google";

export interface ModelTimeouts extends SilenceLimits {
  readonly connectMs: number;
}

/** How patient to be with a model that fails. Absent: the defaults. */
export interface ModelRetries {
  readonly patienceMs?: number;
  readonly retriesAfterSilence?: number;
}

/** Everything needed to call one model. */
export interface ModelSpec {
  readonly info: ModelInfo;
  readonly wire: Wire;
  /** The provider's display name. */
  readonly providerName: string;
  /** The provider's name for the model. */
  readonly model: string;
  readonly baseUrl: string;
  /** Appended to each address, without the question mark. */
  readonly query?: string;
  /** Absent if the provider needs none. */
  readonly apiKey?: string;
  /** The key's source, for messages: variables, or a place in the configuration. */
  readonly keyPlace: string;
  /** Why calls fail, such as an unset key. The model is still listed. */
  readonly missing?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Merged into the request's JSON. */
  readonly extraArguments: Readonly<Record<string, unknown>>;
  /** Sent as the reply's token limit. Absent: the provider's default. */
  readonly outputLimit?: number;
  /** For requests that name none. Absent: the provider decides. */
  readonly defaultEffort?: ReasoningEffort;
  /** It can think between tool calls, if asked to. */
  readonly interleavesThinking?: true;
  /** Chat completions that take Anthropic's `cache_control`. */
  readonly marksCache?: true;
  /** The longest image it takes, in base64 characters. */
  readonly maxImageLength?: number;
  /** How the request expresses effort. */
  readonly effortStyle: EffortStyle;
  /** The message field that returns thinking to an OpenAI-compatible server. Absent: thinking isn't returned. */
  readonly thinkingField?: "reasoning" | "reasoning_content";
  /** The only form of tool call ids that the server accepts. Absent: any. */
  readonly callIds?: "nine-letters";
  readonly timeouts: ModelTimeouts;
  readonly retries: ModelRetries;
}

/**
 * - `adaptive`: Anthropic's newer models; effort is a word, the model decides when to think.
 * - `always-adaptive`: the same, but thinking can't be turned off.
 * - `budget`: a number of thinking tokens. `level`: Google's newer models.
 * - `word`: OpenAI's `reasoning.effort` or `reasoning_effort`. `nested-word`: OpenRouter's `reasoning: {effort}`.
 * - `none`: effort is not sent.
 */
export type EffortStyle = "adaptive" | "always-adaptive" | "budget" | "level" | "word" | "nested-word" | "none";
