import { AgentError } from "../../engine/errors.ts";
import type { ModelInfo, Prices } from "../../engine/ports.ts";
import { type Address, readAddress } from "./address.ts";
import { factsOf, providerOfName } from "./known-models.ts";
import { type ModelEntry, retriesOf, timeoutsOf } from "./model-entry.ts";
import type { ModelSpec } from "./model-spec.ts";
import { type Provider, providers } from "./providers.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A model whose entry or address is invalid. */
export interface FaultyModel {
  /** With defaults for unknown fields. */
  readonly info: ModelInfo;
  readonly fault: string;
}

/** `<provider>/<model>`, or a well-known model's name. Throws `config_invalid` if a variable sets an invalid address. */
export function specOfName(id: string, env: Environment): ModelSpec | undefined {
  const found = readName(id, env);
  if (found !== undefined && "fault" in found) throw new AgentError("config_invalid", `${found.fault}.`);
  return found;
}

/** Throws `config_invalid` for an invalid entry. */
export function specOfEntry(entry: ModelEntry, env: Environment): ModelSpec {
  const found = readEntry(entry, env);
  if ("fault" in found) throw invalid(entry, found.fault);
  return found;
}

export function readName(id: string, env: Environment): ModelSpec | FaultyModel | undefined {
  const slash = id.indexOf("/");
  const bare = providerOfName(id, (provider) => hasKey(provider, env));
  if (slash < 0 && bare === undefined) return undefined;
  const provider = providerNamed(bare ?? id.slice(0, slash));
  const model = bare === undefined ? id.slice(slash + 1) : id;
  if (provider === undefined || provider.baseUrl === "" || model === "") return undefined;
  return specOf({ id, provider: provider.id, model }, provider, env);
}

export function readEntry(entry: ModelEntry, env: Environment): ModelSpec | FaultyModel {
  const provider = providerNamed(entry.provider);
  if (provider === undefined) {
    const names = providers.map(({ id }) => id).join(", ");
    const fault = `unknown provider "${entry.provider}". Known: ${names}`;
    return { info: infoOf(entry, undefined), fault };
  }
  if (provider.baseUrl === "" && entry.baseUrl === undefined) {
    const fault = `baseUrl is missing: provider "${provider.id}" has no default address`;
    return { info: infoOf(entry, provider), fault };
  }
  return specOf(entry, provider, env);
}

/** The fault in the address that a provider's variable sets, if any. */
export function movedFault(provider: Provider, env: Environment): string | undefined {
  const { addressVariable = "" } = provider;
  const address = readAddress(env[addressVariable] || provider.baseUrl, provider.wire);
  return typeof address === "string" ? `${addressVariable} ${address}` : undefined;
}

export function hasKey(provider: string, env: Environment): boolean {
  return providerNamed(provider)?.keyVariables.some((variable) => (env[variable] ?? "") !== "") ?? false;
}

function providerNamed(name: string): Provider | undefined {
  return providers.find(({ id }) => id === (otherNames.get(name) ?? name));
}

/** Other programs' names for providers. */
const otherNames = new Map([
  ["generic-chat-completion-api", "openai-compatible"],
  ["gemini", "google"],
  ["x.ai", "xai"],
  ["llama.cpp", "llamacpp"],
]);

function specOf(entry: ModelEntry, provider: Provider, env: Environment): ModelSpec | FaultyModel {
  const info = infoOf(entry, provider);
  const model = entry.model ?? entry.id;
  const unset: string[] = [];
  const filled = (text: string): string =>
    text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
      const value = env[name];
      if (value === undefined || value === "") unset.push(name);
      return value ?? "";
    });
  const address = addressOf(entry, provider, env, filled, unset);
  if (typeof address === "string") return { info, fault: address };
  const headers = Object.fromEntries(Object.entries(entry.headers ?? {}).map(([key, text]) => [key, filled(text)]));
  const key = keyOf(entry, provider, env, filled);
  const missing =
    unset.length > 0
      ? `The configuration of model "${entry.id}" needs ${unset.join(" and ")}, which ${unset.length === 1 ? "is" : "are"} not set.`
      : key.missing;
  // Only Anthropic requires a limit.
  const outputLimit = provider.wire === "anthropic" ? info.maxOutputTokens : entry.maxOutputTokens;
  const facts = factsOf(model);
  const effortStyle = entry.reasoningStyle ?? styleOf(entry, provider, facts.effortStyle);
  const isClaude = provider.wire === "anthropic" || /(^|\/)claude-/i.test(model);
  const marksCache = entry.cacheMarks ?? (provider.marksClaude === true && isClaude);
  const field = entry.thinkingField ?? provider.thinkingField ?? "none";
  return {
    info,
    wire: provider.wire,
    providerName: provider.name,
    model,
    ...address,
    ...(key.value === undefined ? {} : { apiKey: key.value }),
    keyPlace: key.place,
    ...(missing === undefined ? {} : { missing }),
    headers,
    extraArguments: entry.extraArguments ?? {},
    ...(outputLimit === undefined ? {} : { outputLimit }),
    effortStyle,
    ...defaultEffortOf(entry, provider, info, effortStyle),
    ...(facts.interleavesThinking === true && provider.wire === "anthropic" ? { interleavesThinking: true } : {}),
    ...(provider.wire === "openai-chat" && marksCache ? { marksCache } : {}),
    ...(isClaude ? { maxImageLength: maxClaudeImageLength } : {}),
    ...(provider.wire !== "openai-chat" || field === "none" ? {} : { thinkingField: field }),
    ...(provider.callIds === undefined ? {} : { callIds: provider.callIds }),
    timeouts: timeoutsOf(entry.timeouts),
    retries: retriesOf(entry.retries),
  };
}

/** `unset`: variables that `filled` did not find. An address that lacks some is not validated. */
function addressOf(
  entry: ModelEntry,
  provider: Provider,
  env: Environment,
  filled: (text: string) => string,
  unset: readonly string[],
): Address | string {
  const { addressVariable = "" } = provider;
  const moved = env[addressVariable] || undefined;
  const given = entry.baseUrl === undefined ? (moved ?? provider.baseUrl) : filled(entry.baseUrl);
  if (unset.length > 0) return { baseUrl: given };
  const address = readAddress(given, provider.wire);
  if (typeof address !== "string") return address;
  return `${entry.baseUrl === undefined ? addressVariable : "baseUrl"} ${address}`;
}

function infoOf(entry: ModelEntry, provider: Provider | undefined): ModelInfo {
  const model = entry.model ?? entry.id;
  const facts = factsOf(model);
  const { contextWindow = facts.contextWindow, maxOutputTokens = Math.min(facts.maxOutputTokens, contextWindow) } =
    entry;
  const known = facts.efforts.length > 1 ? facts.efforts : (provider?.efforts ?? ["none"]);
  const efforts = entry.reasoningEfforts ?? known;
  return {
    id: entry.id,
    provider: provider?.id ?? entry.provider,
    displayName: entry.displayName ?? model,
    contextWindow,
    maxOutputTokens,
    reasoningEfforts: efforts.includes("none") ? efforts : ["none", ...efforts],
    images: entry.images ?? facts.images,
    documents: entry.documents ?? facts.documents,
    prefersPatch: entry.prefersPatch ?? facts.prefersPatch ?? false,
    ...(entry.prices === undefined ? {} : { prices: pricesOf(entry.prices) }),
  };
}

/** Anthropic takes 5 MiB, as base64. */
const maxClaudeImageLength = 5 * 1024 * 1024;

/** Efforts are known only for a model at its own provider; others can treat and price them differently. */
function defaultEffortOf(
  entry: ModelEntry,
  provider: Provider,
  { reasoningEfforts }: ModelInfo,
  style: ModelSpec["effortStyle"],
): Pick<ModelSpec, "defaultEffort"> {
  const facts = factsOf(entry.model ?? entry.id);
  const isOwn = provider.addressVariable !== undefined && style === facts.effortStyle;
  const effort = entry.defaultEffort ?? (isOwn ? facts.defaultEffort : undefined);
  return effort === undefined || !reasoningEfforts.includes(effort) ? {} : { defaultEffort: effort };
}

/** Declared efforts use the wire's style, even for an unknown model. */
function styleOf(entry: ModelEntry, provider: Provider, known: ModelSpec["effortStyle"]): ModelSpec["effortStyle"] {
  if (provider.effortStyle !== undefined) return provider.effortStyle;
  if (known !== "none" && (known === "word") === provider.wire.startsWith("openai")) return known;
  if (entry.reasoningEfforts === undefined) return "none";
  return provider.wire === "anthropic" ? "adaptive" : provider.wire === "google" ? "level" : "word";
}

interface Key {
  readonly value?: string;
  readonly place: string;
  readonly missing?: string;
}

/** With a custom `baseUrl`, only an explicit `apiKey` is used: a provider's key must not leak to another server. */
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
  return { place: variables, missing: `No key for ${provider.name}. Set ${variables}.` };
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
