import type { Prices } from "../core/ports.ts";
import type { ReasoningEffort } from "../core/settings.ts";
import type { EffortStyle } from "./model-spec.ts";

/** A model as the user's configuration describes it. `${NAME}` in `baseUrl`, `apiKey` and `headers` is a variable. */
export interface ModelEntry {
  readonly id: string;
  readonly provider: string;
  /** What the provider calls it; its `id` when absent. */
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
  /** Where thoughts go back to an OpenAI-compatible server. */
  readonly thinkingField?: "reasoning" | "reasoning_content" | "none" | undefined;
  readonly prices?: { readonly [K in keyof Prices]: Prices[K] | undefined } | undefined;
  /** In seconds. */
  readonly timeouts?:
    | {
        readonly connect?: number | undefined;
        readonly firstByte?: number | undefined;
        readonly idle?: number | undefined;
      }
    | undefined;
}

/** The `models` part of the configuration. */
export interface ModelChoices {
  readonly default?: string | undefined;
  /** Takes the place of a model that nobody knows. */
  readonly fallback?: string | undefined;
  /** Other names of models. */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  readonly entries?: readonly ModelEntry[] | undefined;
}

/** The model that a name stands for. An alias leads to a model, never to another alias. */
export function unaliased(name: string, { aliases = {} }: ModelChoices): string {
  return Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
}
