import { expect, test } from "vitest";
import { modelStatuses, providerStatuses, statusFor } from "../../../src/models/providers/configured.ts";
import type { ModelEntry } from "../../../src/models/providers/model-entry.ts";
import { providers } from "../../../src/models/providers/providers.ts";
import { specOfEntry, specOfName } from "../../../src/models/providers/spec-of.ts";

const reference = (name: string): string => `\${${name}}`;
const entry = (more: Partial<ModelEntry>): ModelEntry => ({ id: "mine", provider: "groq", ...more });

test.each([
  ["claude-sonnet-5-5", "anthropic", "claude-sonnet-5-5"],
  ["claude-opus-4-5-20251101", "anthropic", "claude-opus-4-5-20251101"],
  ["gpt-5", "openai", "gpt-5"],
  ["gpt-5-2025-08-07", "openai", "gpt-5-2025-08-07"],
  ["gemini-2.5-pro", "google", "gemini-2.5-pro"],
  ["openai/gpt-9-that-is-new", "openai", "gpt-9-that-is-new"],
  ["openrouter/deepseek/deepseek-r1", "openrouter", "deepseek/deepseek-r1"],
  ["ollama/llama3.2:latest", "ollama", "llama3.2:latest"],
  ["gemini/gemini-2.5-pro", "google", "gemini-2.5-pro"],
])("%s is from %s", (id, provider, model) => {
  expect(specOfName(id, {})).toMatchObject({ model, info: { id, provider } });
});

test.each(["gpt-9", "claude", "nobody/x", "groq/", "/x", "openai-compatible/x", "constructor", ""])(
  "%j is not a model name",
  (id) => {
    expect(specOfName(id, {})).toBeUndefined();
  },
);

test("has defaults for everything without configuration", () => {
  expect(specOfName("groq/some-model", { GROQ_API_KEY: " gsk-1\n" })).toEqual({
    info: {
      id: "groq/some-model",
      provider: "groq",
      displayName: "some-model",
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      reasoningEfforts: ["none"],
      images: false,
      documents: false,
      prefersPatch: false,
    },
    wire: "openai-chat",
    providerName: "Groq",
    model: "some-model",
    baseUrl: "https://api.groq.com/openai/v1",
    apiKey: "gsk-1",
    keyPlace: "GROQ_API_KEY",
    headers: {},
    extraArguments: {},
    effortStyle: "none",
    thinkingField: "reasoning",
    timeouts: { connectMs: 15_000, firstByteMs: 180_000, idleMs: 120_000 },
    retries: {},
  });
});

test("an entry overrides the defaults", () => {
  const spec = specOfEntry(
    entry({
      model: "gpt-oss-120b",
      displayName: "Mine",
      baseUrl: `https://${reference("HOST")}/v1//`,
      apiKey: reference("KEY"),
      headers: { "X-Team": `team ${reference("TEAM")}` },
      extraArguments: { top_p: 0.5 },
      contextWindow: 9_000,
      maxOutputTokens: 800,
      images: true,
      documents: true,
      prefersPatch: true,
      reasoningEfforts: ["low", "high"],
      thinkingField: "none",
      prices: { input: 1, output: 2, cacheRead: 0.5, cacheWrite: undefined },
      timeouts: { connect: 1, idle: 2.5 },
      retries: { seconds: 5, afterTimeout: 0 },
    }),
    { HOST: "models.example.com", KEY: "key-123", TEAM: "blue", GROQ_API_KEY: "other" },
  );
  expect(spec).toEqual({
    info: {
      id: "mine",
      provider: "groq",
      displayName: "Mine",
      contextWindow: 9_000,
      maxOutputTokens: 800,
      reasoningEfforts: ["none", "low", "high"],
      images: true,
      documents: true,
      prefersPatch: true,
      prices: { input: 1, output: 2, cacheRead: 0.5 },
    },
    wire: "openai-chat",
    providerName: "Groq",
    model: "gpt-oss-120b",
    baseUrl: "https://models.example.com/v1",
    apiKey: "key-123",
    keyPlace: "KEY",
    headers: { "X-Team": "team blue" },
    extraArguments: { top_p: 0.5 },
    outputLimit: 800,
    effortStyle: "word",
    timeouts: { connectMs: 1_000, firstByteMs: 180_000, idleMs: 2_500 },
    retries: { patienceMs: 5_000, retriesAfterSilence: 0 },
  });
});

test("sends a provider's key only to the provider's own address", () => {
  for (const { id, keyVariables } of providers) {
    const env = Object.fromEntries(keyVariables.map((name) => [name, "the-key"]));
    const elsewhere = specOfEntry(entry({ provider: id, baseUrl: "https://elsewhere.example.com/v1" }), env);
    expect([id, elsewhere.apiKey]).toEqual([id, undefined]);
    if (keyVariables.length > 0) expect([id, specOfName(`${id}/x`, env)?.apiKey]).toEqual([id, "the-key"]);
  }
});

test("takes the first variable that is set and not empty", () => {
  const [first = "", second = ""] = providers.find(({ id }) => id === "google")?.keyVariables ?? [];
  expect(specOfName("google/x", { [first]: "a", [second]: "b" })).toMatchObject({ apiKey: "a", keyPlace: first });
  expect(specOfName("google/x", { [first]: "", [second]: "b" })).toMatchObject({ apiKey: "b", keyPlace: second });
});

test("names the variable of a missing key, which local servers don't need", () => {
  for (const { id, name, keyVariables, baseUrl, isLocal } of providers) {
    if (baseUrl === "") continue;
    const expected = isLocal === true ? undefined : `No key for ${name}. Set ${keyVariables.join(" or ")}.`;
    expect([id, specOfName(`${id}/x`, {})?.missing]).toEqual([id, expected]);
  }
});

test("names all unset variables of an entry", () => {
  const spec = specOfEntry(
    entry({ baseUrl: `http://${reference("HOST")}/v1`, apiKey: reference("KEY"), headers: { A: reference("TEAM") } }),
    { TEAM: "" },
  );
  expect(spec.missing).toBe('The configuration of model "mine" needs HOST and TEAM and KEY, which are not set.');
  expect(specOfEntry(entry({ apiKey: reference("KEY") }), {}).missing).toBe(
    'The configuration of model "mine" needs KEY, which is not set.',
  );
});

test.each([
  [{ provider: "gorq" }, /^config\.yaml: models: "mine": unknown provider "gorq"\. Known: anthropic, openai, /],
  [{ provider: "openai-compatible" }, /"mine": baseUrl is missing/],
  [{ baseUrl: "models.example.com/v1" }, /"mine": baseUrl must start with http/],
  [{ baseUrl: "file:///etc/passwd" }, /"mine": baseUrl must start with http/],
])("rejects the entry %j", (more, message) => {
  expect(() => specOfEntry(entry(more), {})).toThrow(
    expect.objectContaining({ code: "config_invalid", message: expect.stringMatching(message) }),
  );
});

const at = (baseUrl: string, provider = "openai-compatible") => {
  const { baseUrl: address, query } = specOfEntry(entry({ provider, baseUrl }), {});
  return query === undefined ? [address] : [address, query];
};

test("splits off the query and removes the wire's own endpoint", () => {
  expect(at("https://x.example.com/v1?api-version=2")).toEqual(["https://x.example.com/v1", "api-version=2"]);
  expect(at("https://x.example.com/v1/?a=b/?c&d=e%20f")).toEqual(["https://x.example.com/v1", "a=b/?c&d=e%20f"]);
  expect(at(" https://x.example.com?\n")).toEqual(["https://x.example.com"]);
  expect(at("https://x.example.com/v1/chat/completions")).toEqual(["https://x.example.com/v1"]);
  expect(at("https://x.example.com/v1/chat/completions/?k=v")).toEqual(["https://x.example.com/v1", "k=v"]);
  expect(at("https://x.example.com/v1/responses", "openai")).toEqual(["https://x.example.com/v1"]);
  expect(at("https://x.example.com/v1/messages", "anthropic")).toEqual(["https://x.example.com/v1"]);
  expect(at("https://x.example.com/messages?a=b", "anthropic")).toEqual(["https://x.example.com/v1", "a=b"]);
  expect(at("https://x.example.com?a=b", "google")).toEqual(["https://x.example.com/v1beta", "a=b"]);
  // Another wire's endpoint is kept.
  expect(at("https://x.example.com/messages")).toEqual(["https://x.example.com/messages"]);
  expect(at("https://x.example.com/v1/chat/completions", "openai")).toEqual([
    "https://x.example.com/v1/chat/completions",
  ]);
});

test.each([
  ["http://me:secret@x.example.com/v1", "must not contain a user or password: use apiKey or headers"],
  ["https://secret@x.example.com/v1", "must not contain a user or password: use apiKey or headers"],
  ["https://x.example.com/v1#secret", "must not contain a # fragment"],
  ["https://x.example.com/v1?a=b#", "must not contain a # fragment"],
  ["https://x.example.com:secret/v1", "is not a valid URL"],
  ["https://x.example.com/v1 secret", "is not a valid URL"],
  ["https:///secret", "must start with http:// or https://"],
])("rejects the address %s without quoting it", (baseUrl, why) => {
  const [given, named] = [entry({ baseUrl }), entry({ baseUrl: reference("ADDRESS") })];
  const error = expect.objectContaining({
    code: "config_invalid",
    message: `config.yaml: models: "mine": baseUrl ${why}.`,
  });
  expect(() => specOfEntry(given, {})).toThrow(error);
  expect(() => specOfEntry(named, { ADDRESS: baseUrl })).toThrow(error);
});

test("names the variable with an invalid address", () => {
  const env = { ANTHROPIC_BASE_URL: "gateway.example.com", ANTHROPIC_API_KEY: "k" };
  const why = "ANTHROPIC_BASE_URL must start with http:// or https://";
  expect(() => specOfName("claude-opus-5", env)).toThrow(
    expect.objectContaining({ code: "config_invalid", message: `${why}.` }),
  );
  const [first, second] = providerStatuses(env);
  expect([first?.problem, second?.problem]).toEqual([why, "OPENAI_API_KEY is not set"]);
  expect(modelStatuses({}, env).find(({ info }) => info.id === "claude-opus-5")).toMatchObject({ problem: why });
});

test("an invalid entry is listed with its problem and does not affect others", () => {
  const entries: readonly ModelEntry[] = [
    {
      id: "bad",
      provider: "gorq",
      model: "gpt-5",
      displayName: "Bad",
      prices: { input: 1, output: 2, cacheRead: undefined, cacheWrite: undefined },
    },
    { id: "good", provider: "ollama" },
    { id: "nowhere", provider: "openai-compatible", contextWindow: 9_000, reasoningEfforts: ["low"] },
  ];
  const [bad, good, nowhere] = modelStatuses({ entries }, {});
  expect(bad).toEqual({
    info: {
      id: "bad",
      provider: "gorq",
      displayName: "Bad",
      contextWindow: 400_000,
      maxOutputTokens: 128_000,
      reasoningEfforts: ["none", "minimal", "low", "medium", "high", "dynamic"],
      images: true,
      documents: true,
      prefersPatch: true,
      prices: { input: 1, output: 2 },
    },
    from: "configuration",
    problem: expect.stringMatching(/^unknown provider "gorq"\. Known: anthropic, /),
  });
  expect([good?.problem, nowhere?.info.reasoningEfforts]).toEqual([undefined, ["none", "low"]]);
  expect(statusFor("nowhere", { entries }, {})).toEqual(nowhere);
  expect(nowhere?.problem).toBe('baseUrl is missing: provider "openai-compatible" has no default address');
});

test("accepts other programs' provider names", () => {
  const generic = { provider: "generic-chat-completion-api", baseUrl: "http://127.0.0.1:1/v1" };
  expect(specOfEntry(entry(generic), {}).info.provider).toBe("openai-compatible");
  expect(specOfEntry(entry({ provider: "llama.cpp" }), {}).info.provider).toBe("llamacpp");
});
