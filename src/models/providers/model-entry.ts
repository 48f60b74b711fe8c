import type { Prices } from "../../engine/ports.ts";
import type { ReasoningEffort } from "../../engine/settings.ts";
import type { EffortStyle } from "./model-spec.ts";

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
  /** The message field that returns thinking to an OpenAI-compatible server. */
  readonly thinkingField?: "reasoning" | "reasoning_content" | "none" | undefined;
  readonly prices?: { readonly [K in keyof Prices]: Prices[K] | undefined } | undefined;
  /** Seconds. */
  readonly timeouts?:
    | {
        readonly connect?: number | undefined;
        readonly firstByte?: number | undefined;
        readonly idle?: number | undefined;
      }
    | undefined;
}

/** The `models` section of the configuration. */
export interface ModelChoices {
  readonly default?: string | undefined;
  /** Replaces an unknown model. */
  readonly fallback?: string | undefined;
  /** Model ids by alias. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  readonly entries?: readonly ModelEntry[] | undefined;
}

/** Resolves an alias to its model's id. Aliases don't chain. */
export function unaliased(name: string, { aliases = {} }: ModelChoices): string {
  return Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
}
