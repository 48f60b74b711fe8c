import { AgentError } from "../core/errors.ts";
import type { ModelInfo, Prices } from "../core/ports.ts";
import { factsOf, providerOfName } from "./known-models.ts";
import type { ModelEntry } from "./model-entry.ts";
import { defaultTimeouts, type ModelSpec } from "./model-spec.ts";
import { type Provider, providers } from "./providers.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** `<provider>/<model>`, or a well-known model's bare name. */
export function specOfName(id: string, env: Environment): ModelSpec | undefined {
  const slash = id.indexOf("/");
  const bare = providerOfName(id);
  if (slash < 0 && bare === undefined) return undefined;
  const provider = providerNamed(bare ?? id.slice(0, slash));
  const model = bare === undefined ? id.slice(slash + 1) : id;
  if (provider === undefined || provider.baseUrl === "" || model === "") return undefined;
  return specOf({ id, provider: provider.id, model }, provider, env);
}

/** Throws `config_invalid` when the entry cannot be understood. */
export function specOfEntry(entry: ModelEntry, env: Environment): ModelSpec {
  const provider = providerNamed(entry.provider);
  if (provider === undefined) {
    const names = providers.map(({ id }) => id).join(", ");
    throw invalid(entry, `there is no provider "${entry.provider}"; known are ${names}`);
  }
  if (provider.baseUrl === "" && entry.baseUrl === undefined) {
    throw invalid(entry, `baseUrl is missing: a provider "${provider.id}" can be anywhere`);
  }
  return specOf(entry, provider, env);
}

export function providerNamed(name: string): Provider | undefined {
  return providers.find(({ id }) => id === (otherNames.get(name) ?? name));
}

/** As other programs call them. */
const otherNames = new Map([
  ["generic-chat-completion-api", "openai-compatible"],
  ["gemini", "google"],
  ["x.ai", "xai"],
  ["llama.cpp", "llamacpp"],
]);

function specOf(entry: ModelEntry, provider: Provider, env: Environment): ModelSpec {
  const model = entry.model ?? entry.id;
  const facts = factsOf(model);
  const unset: string[] = [];
  const filled = (text: string): string =>
    text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const value = env[name];
      if (value === undefined || value === "") unset.push(name);
      return value ?? "";
    });
  const moved = provider.addressVariable === undefined ? undefined : env[provider.addressVariable] || undefined;
  const baseUrl = entry.baseUrl === undefined ? (moved ?? provider.baseUrl) : filled(entry.baseUrl);
  if (!/^https?:\/\/[^/]/.test(baseUrl) && unset.length === 0) {
    throw invalid(entry, "baseUrl must begin with http:// or https://");
  }
  const headers = Object.fromEntries(Object.entries(entry.headers ?? {}).map(([key, text]) => [key, filled(text)]));
  const key = keyOf(entry, provider, env, filled);
  const missing =
    unset.length > 0
      ? `The configuration of model "${entry.id}" needs ${unset.join(" and ")}, which ${unset.length === 1 ? "is" : "are"} not set.`
      : key.missing;
  const efforts = entry.reasoningEfforts ?? (facts.efforts.length > 1 ? facts.efforts : (provider.efforts ?? ["none"]));
  const { outputLimit, ...limits } = limitsOf(entry, provider, facts);
  const info: ModelInfo = {
    id: entry.id,
    provider: provider.id,
    displayName: entry.displayName ?? model,
    ...limits,
    reasoningEfforts: efforts.includes("none") ? efforts : ["none", ...efforts],
    images: entry.images ?? facts.images,
    documents: entry.documents ?? facts.documents,
    prefersPatch: entry.prefersPatch ?? facts.prefersPatch ?? false,
    ...(entry.prices === undefined ? {} : { prices: pricesOf(entry.prices) }),
  };
  const field = entry.thinkingField ?? provider.thinkingField ?? "none";
  return {
    info,
    wire: provider.wire,
    providerName: provider.name,
    model,
    baseUrl: versioned(baseUrl.replace(/\/+$/, ""), provider),
    ...(key.value === undefined ? {} : { apiKey: key.value }),
    keyPlace: key.place,
    ...(missing === undefined ? {} : { missing }),
    headers,
    extraArguments: entry.extraArguments ?? {},
    ...(outputLimit === undefined ? {} : { outputLimit }),
    effortStyle: entry.reasoningStyle ?? styleOf(entry, provider, facts.effortStyle),
    ...(provider.wire !== "openai-chat" || field === "none" ? {} : { thinkingField: field }),
    ...(provider.callIds === undefined ? {} : { callIds: provider.callIds }),
    timeouts: {
      connectMs: (entry.timeouts?.connect ?? defaultTimeouts.connectMs / 1_000) * 1_000,
      firstByteMs: (entry.timeouts?.firstByte ?? defaultTimeouts.firstByteMs / 1_000) * 1_000,
      idleMs: (entry.timeouts?.idle ?? defaultTimeouts.idleMs / 1_000) * 1_000,
    },
  };
}

/** These two are mostly written without the version of their interface, as their own libraries want it. */
function versioned(baseUrl: string, { wire }: Provider): string {
  if ((wire !== "anthropic" && wire !== "google") || /\/v\d[^/]*$/.test(baseUrl)) return baseUrl;
  return `${baseUrl}${wire === "anthropic" ? "/v1" : "/v1beta"}`;
}

/** Efforts that were declared are told in the way of the wire, also for a model that is not known. */
function styleOf(entry: ModelEntry, provider: Provider, known: ModelSpec["effortStyle"]): ModelSpec["effortStyle"] {
  if (provider.effortStyle !== undefined) return provider.effortStyle;
  if (known !== "none" && (known === "word") === provider.wire.startsWith("openai")) return known;
  if (entry.reasoningEfforts === undefined) return "none";
  return provider.wire === "anthropic" ? "adaptive" : provider.wire === "google" ? "level" : "word";
}

function limitsOf(entry: ModelEntry, provider: Provider, facts: ReturnType<typeof factsOf>) {
  const { contextWindow = facts.contextWindow, maxOutputTokens = Math.min(facts.maxOutputTokens, contextWindow) } =
    entry;
  // Only Anthropic insists on a bound; elsewhere the provider's own is best.
  const outputLimit = provider.wire === "anthropic" ? maxOutputTokens : entry.maxOutputTokens;
  return { contextWindow, maxOutputTokens, outputLimit };
}

interface Key {
  readonly value?: string;
  readonly place: string;
  readonly missing?: string;
}

/** A provider's variable is for the provider's own address: a key must not reach another server because nobody named one. */
function keyOf(entry: ModelEntry, provider: Provider, env: Environment, filled: (text: string) => string): Key {
  if (entry.apiKey !== undefined) {
    const value = filled(entry.apiKey).trim();
    const names = [...entry.apiKey.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => name);
    const place = names.length > 0 ? names.join(" and ") : `apiKey of model "${entry.id}" in config.yaml`;
    return value === "" ? { place } : { value, place };
  }
  const variables = provider.keyVariables.join(" or ");
  const ownPlace = `apiKey of model "${entry.id}" in config.yaml`;
  if (entry.baseUrl !== undefined) return { place: ownPlace };
  const name = provider.keyVariables.find((variable) => env[variable] !== undefined && env[variable] !== "");
  if (name !== undefined) return { value: (env[name] ?? "").trim(), place: name };
  if (provider.isLocal === true) return { place: variables === "" ? ownPlace : variables };
  return { place: variables, missing: `There is no key for ${provider.name}: set ${variables}.` };
}

function pricesOf(given: NonNullable<ModelEntry["prices"]>): Prices {
  const { input, output, cacheRead, cacheWrite } = given;
  return {
    input: input ?? 0,
    output: output ?? 0,
    ...(cacheRead === undefined ? {} : { cacheRead }),
    ...(cacheWrite === undefined ? {} : { cacheWrite }),
  };
}

function invalid(entry: ModelEntry, why: string): AgentError {
  return new AgentError("config_invalid", `config.yaml: models: ${JSON.stringify(entry.id)}: ${why}.`);
}
