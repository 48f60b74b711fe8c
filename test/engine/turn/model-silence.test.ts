import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import { notSilentFor } from "../../../src/engine/turn/model-silence.ts";
import { ask, createKit, type FakeReply, type Kit, says, settings, until } from "../../fakes/kit.ts";

const silence = { ms: 10_000, isChosen: true, key: "interactive.timeouts.ai" };

async function open(...replies: readonly FakeReply[]): Promise<{ kit: Kit; session: Session }> {
  const kit = createKit(replies);
  const session = await kit.engine.create({ cwd: "/ws", settings, run: { modelSilence: silence } });
  return { kit, session };
}

/** A model that sends the given events, until it is stopped, or forever. */
function fed(isDeaf = false) {
  const waiting: ModelEvent[] = [];
  let wake = (): void => undefined;
  let wasStopped = false;
  const reply: FakeReply = async function* (_, signal) {
    signal.addEventListener("abort", () => {
      wasStopped = true;
      if (!isDeaf) wake();
    });
    while (isDeaf || !signal.aborted) {
      const event = waiting.shift();
      if (event === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else yield event;
    }
  };
  const say = (event: ModelEvent): void => {
    waiting.push(event);
    wake();
  };
  return { reply, say, wasStopped: () => wasStopped };
}

test.each([false, true])("gives up on a silent model, even if it ignores the abort (%s)", async (isDeaf) => {
  const model = fed(isDeaf);
  const { kit, session } = await open(model.reply, says("Back."));
  const done = ask(session, "hi");
  model.say({ type: "text", text: "Well" });
  await until(() => session.snapshot().partial !== undefined);
  await until(() => kit.clock.waiting > 0);
  kit.clock.advance(10_000);
  expect(await done).toMatchObject({
    reason: "failed",
    failure: {
      code: "timeout",
      message: "The model was silent for 10 s. interactive.timeouts.ai in config.yaml sets this limit.",
      cause: "timeout",
    },
    finalText: "Well",
  });
  expect(model.wasStopped()).toBe(true);
  expect(kit.clock.waiting).toBe(0);
  expect(await ask(session, "again")).toMatchObject({ reason: "completed", finalText: "Back." });
  await session.close();
});

test("a model that says something now and then can take any time", async () => {
  const model = fed();
  const { kit, session } = await open(model.reply);
  const done = ask(session, "hi");
  for (const text of ["one ", "two ", "three ", "four"]) {
    await until(() => kit.clock.waiting > 0);
    kit.clock.advance(9_000);
    model.say({ type: "text", text });
    await until(() => JSON.stringify(session.snapshot().partial ?? "").includes(text));
  }
  model.say({ type: "end", stop: "end" });
  expect(await done).toMatchObject({ reason: "completed", finalText: "one two three four" });
  await session.close();
});

test("a pause before the next attempt is not silence", async () => {
  const model = fed();
  const { kit, session } = await open(model.reply);
  const done = ask(session, "hi");
  const failure = { code: "model_overloaded", message: "busy" } as const;
  let isTold = false;
  const attachment = session.attach({ approve: false, answer: false, onDetach: "keep" });
  void (async () => {
    for await (const event of attachment.events()) if (event.type === "retry.scheduled") isTold = true;
  })();
  model.say({ type: "retry", attempt: 1, delayMs: 30_000, failure });
  await until(() => isTold);
  kit.clock.advance(35_000);
  model.say({ type: "text", text: "Here." });
  model.say({ type: "end", stop: "end" });
  expect(await done).toMatchObject({ reason: "completed", finalText: "Here." });
  await session.close();
});

test("a slow client is not silence of the model", async () => {
  const kit = createKit([]);
  const events: ModelEvent[] = [
    { type: "text", text: "one" },
    { type: "text", text: "two" },
    { type: "end", stop: "end" },
  ];
  const stream = async function* () {
    yield* events;
  };
  const seen: ModelEvent[] = [];
  for await (const event of notSilentFor(silence, kit.clock, new AbortController().signal, stream)) {
    seen.push(event);
    kit.clock.advance(60_000);
  }
  expect(seen).toEqual(events);
});

test.each([
  [true, false, "completed"],
  [true, true, "failed"],
  [false, false, "failed"],
])(
  "a model with its own timeout (%s) is watched only by a limit that was chosen (%s)",
  async (bounds, isChosen, reason) => {
    const model = fed();
    const source = createKit([model.reply]);
    const port = await source.models.resolve("fake");
    const catalog = {
      ...source.models,
      resolve: async () => ({ ...port, ...(bounds ? { boundsSilence: true as const } : {}) }),
    };
    const kit = createKit([], { models: catalog });
    const session = await kit.engine.create({ cwd: "/ws", settings, run: { modelSilence: { ...silence, isChosen } } });
    const done = ask(session, "hi");
    await until(() => source.requests.length > 0);
    await until(() => (reason === "failed" ? kit.clock.waiting > 0 : true));
    kit.clock.advance(60_000);
    model.say({ type: "text", text: "At last." });
    model.say({ type: "end", stop: "end" });
    expect(await done).toMatchObject({ reason });
    expect(await kit.engine.boundsSilence("fake")).toBe(bounds);
    await session.close();
  },
);
