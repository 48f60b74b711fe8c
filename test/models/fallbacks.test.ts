import { describe, expect, test } from "vitest";
import type { EngineEvent } from "../../src/engine/event.ts";
import type { ModelEvent, ModelPort, ModelRequest } from "../../src/engine/ports.ts";
import { createModelCatalog } from "../../src/models/catalog.ts";
import { offlineInfo } from "../../src/models/offline/info.ts";
import type { ModelChoices } from "../../src/models/providers/model-entry.ts";
import { withRetries } from "../../src/models/retry.ts";
import { ask, createKit, listen, settings } from "../fakes/kit.ts";
import { collect, instantClock, requestOf, userMessage } from "./harness.ts";

const busy = { error: { status: 529, message: "Busy." }, times: "any" };
const answers = (text: string) => ({ text, times: "any" });
const cutShort = { text: "One, ", error: { status: 529, message: "Busy." } };

type Scripts = Readonly<Record<string, { readonly model?: object; readonly replies: readonly object[] }>>;

/** Sessions whose models are scripts `script:a`, `script:b` … */
function bench(scripts: Scripts, more: Partial<ModelChoices> & { readonly override?: string } = {}) {
  const { override, ...choices } = more;
  const clock = instantClock();
  const fallbacks = Object.keys(scripts)
    .slice(1)
    .map((name) => `script:${name}`);
  const models = createModelCatalog({
    defaultModel: "script:a",
    choices: { fallbacks, ...choices },
    ...(override === undefined ? {} : { override }),
    loadScript: async (path) => scripts[path] ?? Promise.reject(new Error("no such file")),
    fetch: async () => () => Promise.reject(new Error("no network")),
    clock,
  });
  const kit = createKit([], { models });
  const open = () => kit.engine.create({ cwd: "/ws", settings: { ...settings, modelId: "script:a" } });
  return { clock, open };
}

const failure = { code: "model_overloaded", message: "Busy.", cause: "overloaded" } as const;

function retries(events: readonly EngineEvent[]): readonly unknown[] {
  return events.flatMap((event) => {
    if (event.type === "notice") return [event.text];
    if (event.type !== "retry.scheduled") return [];
    const { delayMs, model } = event;
    return [model === undefined ? delayMs : model];
  });
}

async function asked({ open }: ReturnType<typeof bench>, prompts = ["hi"]) {
  const session = await open();
  const heard = listen(session);
  const outcomes = [];
  for (const prompt of prompts) outcomes.push(await ask(session, prompt));
  await heard.stop();
  const models = session.history().flatMap((message) => (message.role === "assistant" ? [message.model] : []));
  await session.close();
  return { outcomes, models, events: heard.events, told: retries(heard.events) };
}

describe("a model that stays overloaded", () => {
  test("is replaced by the fallback, which the log names, and which answers for a while", async () => {
    const { outcomes, models, told, events } = await asked(
      bench({ a: { replies: [busy] }, b: { replies: [answers("From b.")] } }),
      ["one", "two"],
    );
    expect(outcomes.map(({ finalText }) => finalText)).toEqual(["From b.", "From b."]);
    expect(models).toEqual(["script:b", "script:b"]);
    expect(told).toEqual([500, 1_000, 2_000, "script:b"]);
    expect(events.find((event) => event.type === "retry.scheduled" && event.model !== undefined)).toMatchObject({
      attempt: 4,
      delayMs: 0,
      failure,
      model: "script:b",
    });
  });

  test("is used again five minutes later", async () => {
    const place = bench({
      a: { replies: [{ ...busy, times: 4 }, answers("From a.")] },
      b: { replies: [answers("From b.")] },
    });
    const session = await place.open();
    expect(await ask(session, "one")).toMatchObject({ finalText: "From b." });
    place.clock.after(299_000, () => undefined);
    expect(await ask(session, "two")).toMatchObject({ finalText: "From b." });
    place.clock.after(2_000, () => undefined);
    expect(await ask(session, "three")).toMatchObject({ finalText: "From a." });
    await session.close();
  });

  test("has its reply continued", async () => {
    const { outcomes, models } = await asked(
      bench({ a: { replies: [cutShort, busy] }, b: { replies: [{ text: "two." }] } }),
    );
    expect(outcomes[0]).toMatchObject({ reason: "completed", finalText: "One, two." });
    expect(models).toEqual(["script:b"]);
  });

  test("gets no fallback with TINMAN_MODEL", async () => {
    const { outcomes } = await asked(
      bench({ a: { replies: [busy] }, b: { replies: [answers("From b.")] } }, { override: "script:a" }),
    );
    expect(outcomes[0]).toMatchObject({ reason: "failed", failure });
  });

  test("gets no fallback that its session cannot use", async () => {
    const place = bench({
      a: { replies: [busy] },
      b: { replies: [answers("From b.")] },
      c: { replies: [answers("From c.")] },
    });
    const session = await place.open();
    session.allowedModels = ["script:a", "script:c"];
    expect(await ask(session, "hi")).toMatchObject({ finalText: "From c." });
    await session.close();
  });
});

test("fallbacks that cannot take the request are named, and the next is used", async () => {
  const small = { model: { contextWindow: 1_000 }, replies: [answers("From small.")] };
  const { outcomes, told } = await asked(
    bench(
      { a: { replies: [busy] }, small, c: { replies: [answers("From c.")] } },
      { fallbacks: ["claude-opus-5-5", "moonshine/x", "script:gone", "script:small", "script:c"] },
    ),
  );
  expect(outcomes[0]).toMatchObject({ finalText: "From c." });
  expect(told).toEqual([
    500,
    1_000,
    2_000,
    "claude-opus-5-5",
    "Unknown fallback model moonshine/x.",
    "The fallback script:gone cannot be used. gone: no such file",
    "Skipped the fallback script:small: the conversation does not fit its window of 1000 tokens.",
    "script:c",
  ]);
});

test("a fallback without its key is a clear notice, and the first model gets the rest of its patience", async () => {
  const place = bench(
    { a: { replies: [{ ...busy, times: 4 }, answers("Back.")] } },
    { fallbacks: ["claude-opus-5-5"] },
  );
  const { outcomes, events } = await asked(place);
  expect(outcomes[0]).toMatchObject({ reason: "failed", failure });
  expect(events.flatMap((event) => (event.type === "notice" ? [event.text] : []))).toEqual([
    "The fallback claude-opus-5-5 failed. No key for Anthropic. Set ANTHROPIC_API_KEY.",
  ]);
});

test("a failure that waiting does not fix is not passed on to a fallback", async () => {
  const denied = { error: { status: 401, message: "Wrong key." } };
  const { outcomes, told } = await asked(bench({ a: { replies: [denied] }, b: { replies: [answers("From b.")] } }));
  expect(outcomes[0]).toMatchObject({ reason: "failed", failure: { code: "model_auth", message: "Wrong key." } });
  expect(told).toEqual([]);
});

test("a model is retried for 20 s before its fallback, and afterwards for the rest of its two minutes", async () => {
  const clock = instantClock();
  const error: ModelEvent = { type: "error", failure, retryable: true };
  const modelOf = (id: string): ModelPort => ({
    info: { ...offlineInfo, id },
    async *stream() {
      yield error;
    },
  });
  const second = { model: modelOf("second"), options: {} };
  const open = async (index: number) => (index === 0 ? second : undefined);
  const model = withRetries(modelOf("first"), clock, {}, { afterMs: 20_000, open, answered: () => undefined });
  const told = async (more: Partial<ModelRequest> = {}) =>
    (await collect(model, requestOf([userMessage("hi")], more))).map((event) =>
      event.type === "retry" ? [event.delayMs, event.model?.id] : event.type,
    );
  const own = [500, 1_000, 2_000, 4_000, 8_000];
  expect(await told()).toEqual([
    ...own.map((ms) => [ms, undefined]),
    [0, "second"],
    ...own.map((ms) => [ms, undefined]),
    [16_000, "first"],
    ...Array.from({ length: 4 }, () => [20_000, undefined]),
    "error",
  ]);
  // A summary is not worth the two minutes.
  const own20 = own.map((ms) => [ms, undefined]);
  expect(await told({ purpose: "summary" })).toEqual([...own20, [0, "second"], ...own20, "notice", "error"]);
});
