import type { ReasoningEffort } from "../../engine/settings.ts";
import type { EffortStyle } from "./model-spec.ts";

/** Facts known from a model's name. The configuration can override each. */
export interface ModelFacts {
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly images: boolean;
  readonly documents: boolean;
  readonly prefersPatch?: boolean;
  readonly efforts: readonly ReasoningEffort[];
  readonly effortStyle: EffortStyle;
  /** The best effort for coding. Absent: the provider's default is good. */
  readonly defaultEffort?: ReasoningEffort;
  readonly interleavesThinking?: true;
}

type Row = readonly [names: RegExp, facts: ModelFacts];

const words = (text: string): readonly ReasoningEffort[] => text.split(" ") as readonly ReasoningEffort[];

const claude = (maxOutputTokens: number, effortStyle: EffortStyle, efforts: string): ModelFacts => ({
  contextWindow: 200_000,
  maxOutputTokens,
  images: true,
  documents: true,
  efforts: words(efforts),
  effortStyle,
  // By default it thinks little or not at all.
  ...(effortStyle === "none" ? {} : { defaultEffort: effortStyle === "budget" ? "medium" : "high" }),
});

const interleaving = (facts: ModelFacts): ModelFacts => ({ ...facts, interleavesThinking: true });

const gpt = (contextWindow: number, maxOutputTokens: number, efforts: string): ModelFacts => ({
  contextWindow,
  maxOutputTokens,
  images: true,
  documents: true,
  // Trained to edit files with patches.
  prefersPatch: true,
  efforts: words(efforts),
  effortStyle: efforts === "none" ? "none" : "word",
  // From 5.1 on, the provider's default is no thinking at all.
  ...(words(efforts).includes("medium") ? { defaultEffort: "medium" } : {}),
});

const gemini = (effortStyle: EffortStyle, efforts: string): ModelFacts => ({
  contextWindow: 1_048_576,
  maxOutputTokens: 65_536,
  images: true,
  documents: true,
  efforts: words(efforts),
  effortStyle,
  // It thinks anyway; this shows its thoughts.
  ...(effortStyle === "none" ? {} : { defaultEffort: "dynamic" }),
});

const open = (contextWindow: number, maxOutputTokens: number, efforts = "none", images = false): ModelFacts => ({
  contextWindow,
  maxOutputTokens,
  images,
  documents: false,
  efforts: words(efforts),
  effortStyle: efforts === "none" ? "none" : "word",
});

/** The first match wins. Matched against the name after its last slash. */
const rows: readonly Row[] = [
  [/^claude-(opus|sonnet|fable)-5-(1|5)/, claude(128_000, "always-adaptive", "none low medium high xhigh max dynamic")],
  [/^claude-fable-5/, claude(128_000, "always-adaptive", "none low medium high xhigh max dynamic")],
  [/^claude-(opus|haiku|sonnet)-5/, claude(128_000, "adaptive", "none off low medium high xhigh max dynamic")],
  [/^claude-opus-4-[78]/, claude(128_000, "adaptive", "none off low medium high xhigh max dynamic")],
  [/^claude-(opus|sonnet)-4-6/, claude(128_000, "adaptive", "none off low medium high max dynamic")],
  [
    /^claude-(opus|sonnet|haiku)-4-5/,
    interleaving(claude(64_000, "budget", "none off minimal low medium high xhigh max dynamic")),
  ],
  [/^claude-sonnet-4/, interleaving(claude(64_000, "budget", "none off minimal low medium high xhigh max dynamic"))],
  [/^claude-opus-4/, interleaving(claude(32_000, "budget", "none off minimal low medium high dynamic"))],
  [/^claude-3-7/, claude(64_000, "budget", "none off minimal low medium high xhigh max dynamic")],
  [/^claude-3-5/, claude(8_192, "none", "none")],
  [/^claude-3/, claude(4_096, "none", "none")],
  [/^claude-/, claude(64_000, "adaptive", "none off low medium high dynamic")],

  [/^gpt-6(\.1-terra|-sol|-luna)/, gpt(400_000, 128_000, "none off low medium high xhigh max dynamic")],
  [/^gpt-6/, gpt(400_000, 128_000, "none low medium high xhigh max dynamic")],
  [/^gpt-5\.\d+-chat/, gpt(128_000, 16_384, "none medium dynamic")],
  [/^gpt-5-chat/, gpt(128_000, 16_384, "none")],
  [/^gpt-5(\.\d+)?-pro/, gpt(400_000, 128_000, "none high dynamic")],
  [/^gpt-5\.1-codex-max/, gpt(400_000, 128_000, "none low medium high xhigh dynamic")],
  [/^gpt-5(\.1)?-codex/, gpt(400_000, 128_000, "none low medium high dynamic")],
  [/^gpt-5\.\d+-codex/, gpt(400_000, 128_000, "none low medium high xhigh dynamic")],
  [/^gpt-5\.1/, gpt(400_000, 128_000, "none off low medium high dynamic")],
  [/^gpt-5\.\d/, gpt(400_000, 128_000, "none off low medium high xhigh dynamic")],
  [/^gpt-5/, gpt(400_000, 128_000, "none minimal low medium high dynamic")],
  [/^gpt-4\.1/, gpt(1_047_576, 32_768, "none")],
  [/^gpt-4o/, gpt(128_000, 16_384, "none")],
  [/^o[1-9](-|$)/, gpt(200_000, 100_000, "none low medium high dynamic")],
  [/^gpt-oss/, open(131_072, 32_768, "none low medium high")],

  [/^gemini-2\.5-(flash|flash-lite)/, gemini("budget", "none off minimal low medium high dynamic")],
  [/^gemini-2\.5/, gemini("budget", "none minimal low medium high dynamic")],
  [/^gemini-2\.0/, gemini("none", "none")],
  [/^gemini-3-pro/, gemini("level", "none low high dynamic")],
  [/^gemini-3\.(1-pro|7-flash)/, gemini("level", "none low medium high dynamic")],
  [/^gemini-/, gemini("level", "none minimal low medium high dynamic")],

  [/^kimi-k2/, open(262_144, 32_768)],
  [/^deepseek-/, open(128_000, 64_000)],
  [/^grok-/, open(256_000, 64_000, "none", true)],
  [/^(codestral|devstral|mistral|magistral)/, open(128_000, 32_768)],
  [/^qwen3/, open(131_072, 32_768)],
];

const unknown: ModelFacts = open(128_000, 16_384);

export function factsOf(model: string): ModelFacts {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  // OpenRouter writes versions with dots.
  const spelled = name.startsWith("claude") ? name.replaceAll(".", "-") : name;
  return rows.find(([names]) => names.test(spelled))?.[1] ?? unknown;
}

/** Models that need no provider prefix, each provider's default first. */
export const namedModels: Readonly<Record<string, readonly string[]>> = {
  anthropic: [
    "claude-sonnet-5-5",
    "claude-opus-5-5",
    "claude-haiku-5-5",
    "claude-fable-5-1",
    "claude-opus-5",
    "claude-fable-5",
    "claude-sonnet-5",
    "claude-opus-4-8",
    "claude-opus-4-7",
    "claude-opus-4-6",
    "claude-sonnet-4-6",
    "claude-opus-4-5",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
    "claude-opus-4-1",
  ],
  openai: [
    "gpt-5.6",
    "gpt-6.1-sol",
    "gpt-6.1-terra",
    "gpt-6-sol",
    "gpt-6-luna",
    "gpt-6-astra",
    "gpt-5.5",
    "gpt-5.4",
    "gpt-5.4-mini",
    "gpt-5.3-codex",
    "gpt-5.2",
    "gpt-5.2-codex",
    "gpt-5.1",
    "gpt-5.1-codex",
    "gpt-5.1-codex-max",
    "gpt-5",
    "gpt-5-mini",
    "gpt-4.1",
    "o3",
    "o4-mini",
  ],
  google: [
    "gemini-pro-latest",
    "gemini-flash-latest",
    "gemini-4-argon",
    "gemini-3.8-flash",
    "gemini-3.1-pro-preview",
    "gemini-3-pro-preview",
    "gemini-3-flash-preview",
    "gemini-2.5-pro",
    "gemini-2.5-flash",
  ],
};

/** Models that need no provider prefix if their provider's key is set. */
export const keyedModels: Readonly<Record<string, readonly string[]>> = {
  moonshot: ["kimi-k2.5", "kimi-k2-thinking", "kimi-k2"],
  deepseek: ["deepseek-chat", "deepseek-reasoner"],
  xai: ["grok-4", "grok-code-fast-1"],
  mistral: ["mistral-large-latest", "codestral-latest", "devstral-medium-latest"],
};

/** Name prefixes, for suggesting the provider of an unknown model. */
const families: readonly (readonly [start: RegExp, provider: string])[] = [
  [/^claude-/, "anthropic"],
  [/^(?:gpt-|o\d|codex-)/, "openai"],
  [/^gemini-/, "google"],
  [/^kimi-/, "moonshot"],
  [/^deepseek-/, "deepseek"],
  [/^grok-/, "xai"],
  [/^(?:mistral|codestral|devstral|magistral)-/, "mistral"],
];

export function familyOf(model: string): string | undefined {
  return families.find(([start]) => start.test(model.toLowerCase()))?.[1];
}

/** The provider of an unprefixed name, with or without a date suffix. */
export function providerOfName(model: string, hasKey: (provider: string) => boolean): string | undefined {
  const bare = model.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, "");
  const named = Object.entries(namedModels).find(([, names]) => names.includes(bare))?.[0];
  return named ?? Object.entries(keyedModels).find(([id, names]) => names.includes(bare) && hasKey(id))?.[0];
}

export function wellKnownNames(): readonly string[] {
  return Object.values(namedModels).flat();
}
