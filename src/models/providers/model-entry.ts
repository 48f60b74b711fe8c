import type { Prices } from "../../engine/ports.ts";
import type { ReasoningEffort } from "../../engine/settings.ts";
import { defaultSilence } from "../silence.ts";
import type { EffortStyle, ModelRetries, ModelTimeouts } from "./model-spec.ts";

/** A model in the user's configuration. `${NAME}` in `baseUrl`, `apiKey` and `headers` is an environment variable. */
export interface ModelEntry {
  readonly id: string;
  readonly provider: string;
  /** The provider's name for it. Default: `id`. */
  readonly model?: string | undefined;
  readonly displayName?: string | undefined;
  readonly baseUrl?: string | undefined;
  readonly apiKey?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly extraArguments?: Readonly<Record<string, unknown>> | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly images?: boolean | undefined;
  readonly documents?: boolean | undefined;
  readonly prefersPatch?: boolean | undefined;
  readonly reasoningEfforts?: readonly ReasoningEffort[] | undefined;
  readonly reasoningStyle?: EffortStyle | undefined;
  /** For runs that name none. */
  readonly defaultEffort?: ReasoningEffort | undefined;
  /** Whether a chat completions server takes Anthropic's `cache_control`. */
  readonly cacheMarks?: boolean | undefined;
  /** The message field that returns thinking to an OpenAI-compatible server. */
  readonly thinkingField?: "reasoning" | "reasoning_content" | "none" | undefined;
  readonly prices?: { readonly [K in keyof Prices]: Prices[K] | undefined } | undefined;
  readonly timeouts?: EntryTimeouts | undefined;
  readonly retries?: EntryRetries | undefined;
}

/** Seconds. */
export interface EntryTimeouts {
  readonly connect?: number | undefined;
  readonly firstByte?: number | undefined;
  readonly idle?: number | undefined;
}

export interface EntryRetries {
  readonly seconds?: number | undefined;
  readonly afterTimeout?: number | undefined;
}

/** The `models` section of the configuration. */
export interface ModelChoices {
  readonly default?: string | undefined;
  /** Replaces an unknown model. */
  readonly fallback?: string | undefined;
  /** Model ids by alias. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  readonly entries?: readonly ModelEntry[] | undefined;
  /** Models to use, in order, while this one is unavailable. */
  readonly fallbacks?: readonly string[] | undefined;
  /** For all models; an entry's own come first. */
  readonly timeouts?: EntryTimeouts | undefined;
  readonly retries?: EntryRetries | undefined;
}

const seconds = (given: number | undefined, usualMs: number): number => (given === undefined ? usualMs : given * 1_000);

export function timeoutsOf(...given: readonly (EntryTimeouts | undefined)[]): ModelTimeouts {
  const pick = (key: keyof EntryTimeouts): number | undefined => given.find((one) => one?.[key] !== undefined)?.[key];
  return {
    connectMs: seconds(pick("connect"), 15_000),
    firstByteMs: seconds(pick("firstByte"), defaultSilence.firstByteMs),
    idleMs: seconds(pick("idle"), defaultSilence.idleMs),
  };
}

export function retriesOf(...given: readonly (EntryRetries | undefined)[]): ModelRetries {
  const pick = (key: keyof EntryRetries): number | undefined => given.find((one) => one?.[key] !== undefined)?.[key];
  const [patience, retriesAfterSilence] = [pick("seconds"), pick("afterTimeout")];
  return {
    ...(patience === undefined ? {} : { patienceMs: patience * 1_000 }),
    ...(retriesAfterSilence === undefined ? {} : { retriesAfterSilence }),
  };
}

/** Resolves an alias to its model's id. Aliases don't chain. */
export function unaliased(name: string, { aliases = {} }: ModelChoices): string {
  return Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
}
