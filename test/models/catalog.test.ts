import { describe, expect, test } from "vitest";
import { createModelCatalog, type ModelCatalogOptions } from "../../src/models/catalog.ts";
import { offlineInfo } from "../../src/models/offline/info.ts";
import { collect, createChat, instantClock, requestOf, userMessage } from "./harness.ts";

const catalog = (options: Partial<ModelCatalogOptions> = {}) =>
  createModelCatalog({
    defaultModel: "offline",
    loadScript: () => Promise.reject(new Error("ENOENT: no such file")),
    clock: instantClock(),
    ...options,
  });
const fromScript = (script: unknown) => ({ loadScript: () => Promise.resolve(script) });
const failureOf = (promise: Promise<unknown>) =>
  promise.then(
    () => "resolved",
    (error: { failure: unknown }) => error.failure,
  );

describe("resolve", () => {
  test("finds the offline model", async () => {
    const model = await catalog().resolve("offline");
    expect(model.info).toEqual(offlineInfo);
    expect((await createChat(model).say("Just reply OK.")).text).toBe("OK");
  });

  test("reads a script once for all sessions", async () => {
    const paths: string[] = [];
    const models = catalog({
      loadScript: (path) => {
        paths.push(path);
        return Promise.resolve({ model: { displayName: "Mine" }, replies: [{ text: "scripted" }] });
      },
    });
    const model = await models.resolve("script:dir/a.yaml");
    expect(await models.resolve("script:dir/a.yaml")).toBe(model);
    expect(paths).toEqual(["dir/a.yaml"]);
    expect(model.info).toMatchObject({ id: "script:dir/a.yaml", provider: "script", displayName: "Mine" });
    expect((await createChat(model).say("hi")).text).toBe("scripted");
  });

  test("retries a script's transient errors", async () => {
    const clock = instantClock();
    const models = catalog({
      ...fromScript({ replies: [{ error: { status: 503 } }, { text: "back" }] }),
      clock,
    });
    const events = await collect(await models.resolve("script:a"), requestOf([userMessage("hi")]));
    expect(events.map((event) => event.type)).toEqual(["retry", "text", "usage", "end"]);
    expect(clock.pauses).toEqual([500]);
  });

  test.each([
    ["kimi-k2.5", "MOONSHOT_API_KEY", "moonshot"],
    ["deepseek-chat", "DEEPSEEK_API_KEY", "deepseek"],
    ["grok-4", "XAI_API_KEY", "xai"],
    ["codestral-latest", "MISTRAL_API_KEY", "mistral"],
  ])("knows and lists %s without a prefix if %s is set", async (id, variable, provider) => {
    const models = catalog({ env: { [variable]: "sk-1" }, fetch: async () => fetch });
    expect((await models.resolve(id)).info).toMatchObject({ id, provider });
    expect((await models.list()).map((info) => info.id)).toContain(id);
    await expect(catalog({ env: { [variable]: "" }, fetch: async () => fetch }).resolve(id)).rejects.toThrow(
      `Did you mean "${provider}/${id}"? It needs ${variable}.`,
    );
  });

  test("names an unknown provider, or the likely one", async () => {
    await expect(catalog({}).resolve("moonshine/kimi")).rejects.toThrow(
      'Unknown model "moonshine/kimi". Unknown provider "moonshine". Providers: anthropic, openai, google,',
    );
    await expect(catalog({ env: { OPENAI_API_KEY: "sk-1" } }).resolve("gpt-99-turbo")).rejects.toThrow(
      'Did you mean "openai/gpt-99-turbo"? Known models:',
    );
  });

  test("prefers the override to any id", async () => {
    expect((await catalog({ override: "offline" }).resolve("claude-opus-9")).info.id).toBe("offline");
    const models = catalog({ override: "script:o.yaml", ...fromScript({ replies: [{ text: "a" }] }) });
    expect((await models.resolve("offline")).info.id).toBe("script:o.yaml");
  });

  test.each([
    [
      "gpt-99-turbo",
      'Unknown model "gpt-99-turbo". Did you mean "openai/gpt-99-turbo"? It needs OPENAI_API_KEY. Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "kimi-k2.5",
      'Unknown model "kimi-k2.5". Did you mean "moonshot/kimi-k2.5"? It needs MOONSHOT_API_KEY. Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "llama-7b",
      'Unknown model "llama-7b". If a provider has it, use "<provider>/llama-7b". Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "gpt-9",
      'Unknown model "gpt-9". Did you mean "openai/gpt-9"? It needs OPENAI_API_KEY. Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "moonshot",
      'Unknown model "moonshot". That is a provider. Name one of its models: "moonshot/<model>". Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "ofline",
      'Unknown model "ofline". Did you mean "offline"? Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "Offlin",
      'Unknown model "Offlin". Did you mean "offline"? Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "script",
      'Unknown model "script". Did you mean "script:<file>"? Known models: offline, <provider>/<model>, script:<file>.',
    ],
    [
      "script:",
      'Unknown model "script:". Did you mean "script:<file>"? Known models: offline, <provider>/<model>, script:<file>.',
    ],
    ["", 'Unknown model "". Known models: offline, <provider>/<model>, script:<file>.'],
  ])("rejects the unknown model %j with a hint", async (id, message) => {
    expect(await failureOf(catalog().resolve(id))).toEqual({ code: "model_unknown", message });
  });

  test("rejects an unknown override", async () => {
    expect(await failureOf(catalog({ override: "nope" }).resolve("offline"))).toMatchObject({ code: "model_unknown" });
  });

  test("rejects an unreadable or invalid script, and tries it again once it is fixed", async () => {
    expect(await failureOf(catalog().resolve("script:gone.yaml"))).toEqual({
      code: "script_invalid",
      message: "gone.yaml: ENOENT: no such file",
    });
    let script: unknown = { replies: [{ text: 1 }] };
    const models = catalog({ loadScript: () => Promise.resolve(script) });
    expect(await failureOf(models.resolve("script:a.json"))).toEqual({
      code: "script_invalid",
      message: "a.json: replies[0].text: must be a string or a list of strings",
    });
    script = { replies: [{ text: "good" }] };
    expect((await createChat(await models.resolve("script:a.json")).say("hi")).text).toBe("good");
  });
});

describe("list", () => {
  const ids = async (options: Partial<ModelCatalogOptions>) => (await catalog(options).list()).map((info) => info.id);

  test("starts with the default", async () => {
    expect(await ids({})).toEqual(["offline"]);
    expect(await ids({ defaultModel: "script:a.yaml" })).toEqual(["script:a.yaml", "offline"]);
    expect(await ids({ defaultModel: "script:a.yaml", override: "script:b.yaml" })).toEqual([
      "script:b.yaml",
      "script:a.yaml",
      "offline",
    ]);
    expect(await ids({ override: "nobody-knows" })).toEqual(["offline"]);
  });

  test("uses a script's info once it has been read", async () => {
    const models = catalog({
      defaultModel: "script:a.yaml",
      ...fromScript({ model: { displayName: "Mine" }, replies: [{ text: "a" }] }),
    });
    expect((await models.list())[0]?.displayName).toBe("Script a.yaml");
    await models.resolve("script:a.yaml");
    expect((await models.list())[0]?.displayName).toBe("Mine");
  });
});

test("lists unusable models separately, each with the reason", async () => {
  const models = catalog({ env: { OPENAI_API_KEY: "sk-1" } });
  const unusable = await models.unusable();
  const chosen = (await models.list()).map(({ id }) => id);

  expect(unusable.filter(({ info }) => chosen.includes(info.id))).toEqual([]);
  expect(unusable.find(({ info }) => info.provider === "anthropic")?.problem).toContain("ANTHROPIC_API_KEY");
  expect(unusable.some(({ info }) => info.provider === "openai")).toBe(false);
});
