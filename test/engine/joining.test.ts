import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/engine/ports.ts";
import type { Session } from "../../src/engine/session/session.ts";
import type { Tool } from "../../src/engine/tool.ts";
import { defineTool, succeeded } from "../../src/engine/tool.ts";
import { z } from "../../src/tools/zod.ts";
import { damagedStore } from "../fakes/damaged-store.ts";
import { calls, createKit, listen, says, until } from "../fakes/kit.ts";

/** A tool that runs until the test releases it. */
function holdingTool(): { readonly tool: Tool; readonly running: () => boolean; letGo(): void } {
  let letGo = (): void => undefined;
  let running = false;
  const body = defineTool({
    input: z.strictObject({}),
    access: async () => [],
    run: async (_, { signal }) => {
      running = true;
      await new Promise<void>((resolve) => {
        letGo = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
      running = false;
      return succeeded("held");
    },
  });
  const tool: Tool = {
    name: "Hold",
    kind: "read",
    title: "Holds",
    description: "Holds.",
    concurrent: false,
    load: async () => body,
  };
  return { tool, running: () => running, letGo: () => letGo() };
}

const text = (words: string) => [{ type: "text", text: words }] as const;

function taken(events: readonly { readonly type: string }[]): readonly string[] {
  const kept = ["turn.started", "prompt.taken", "tool.ended", "message.ended", "turn.ended", "prompt.discarded"];
  return events.map(({ type }) => type).filter((type) => kept.includes(type));
}

async function whileHeld(replies: readonly ModelEvent[][], act: (session: Session) => Promise<unknown>) {
  const held = holdingTool();
  const kit = createKit(replies, { tools: [held.tool] });
  const session = await kit.open();
  const heard = listen(session);
  const first = session.prompt(text("one"));
  await until(held.running);
  const acted = act(session);
  await until(() => session.waiting().length > 0);
  held.letGo();
  const outcome = await first.outcome;
  await acted;
  await until(() => !session.isWorking);
  await heard.stop();
  return { kit, session, heard, outcome };
}

test("a joining prompt becomes part of the turn whose calls run, after their results", async () => {
  let joined: unknown;
  const { kit, heard, outcome } = await whileHeld([calls(["Hold", {}]), says("both")], async (session) => {
    joined = await session.prompt(text("two"), { joins: true }).outcome;
  });

  expect(joined).toEqual(outcome);
  expect(taken(heard.events)).toEqual([
    "turn.started",
    "prompt.taken",
    "message.ended",
    "tool.ended",
    "prompt.taken",
    "message.ended",
    "turn.ended",
  ]);
  expect(kit.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user"]);
});

test("a prompt that does not join waits for its own turn", async () => {
  const replies = [calls(["Hold", {}]), says("first"), says("second")];
  const { kit, heard } = await whileHeld(replies, (session) => session.prompt(text("two")).outcome);

  expect(taken(heard.events).filter((type) => type.startsWith("turn."))).toEqual([
    "turn.started",
    "turn.ended",
    "turn.started",
    "turn.ended",
  ]);
  expect(kit.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

test("a prompt cannot join during a reply: it gets its own turn", async () => {
  let speak = (): void => undefined;
  const kit = createKit([
    async function* () {
      yield { type: "text", text: "a" };
      await new Promise<void>((resolve) => {
        speak = resolve;
      });
      yield { type: "end", stop: "end" };
    },
    says("second"),
  ]);
  const session = await kit.open();
  const heard = listen(session);
  session.prompt(text("one"));
  await until(() => heard.types().includes("message.delta"));
  const second = session.prompt(text("two"), { joins: true });
  await until(() => session.waiting().length === 1);
  speak();

  expect((await second.outcome).finalText).toBe("second");
  await heard.stop();
  expect(heard.types().filter((type) => type === "turn.ended")).toHaveLength(2);
});

test("an interrupt drops prompts waiting to join", async () => {
  const held = holdingTool();
  const kit = createKit([calls(["Hold", {}])], { tools: [held.tool] });
  const session = await kit.open();
  const heard = listen(session);
  const first = session.prompt(text("one"));
  await until(held.running);
  const second = session.prompt(text("two"), { joins: true });
  await second.accepted;
  await session.interrupt();

  expect([(await first.outcome).reason, (await second.outcome).reason]).toEqual(["interrupted", "interrupted"]);
  await heard.stop();
  expect(heard.events.filter(({ type }) => type === "prompt.discarded")).toHaveLength(1);
  expect(session.history().map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
});

test("neither prompt runs again if the record of its taking is lost", async () => {
  const { kit, session } = await whileHeld([calls(["Hold", {}]), says("both")], async (open) => {
    await open.prompt(text("two"), { joins: true }).outcome;
  });
  await session.close();
  const takings = (await kit.store.read(session.id)).events.filter(({ type }) => type === "prompt.taken");
  expect(takings).toHaveLength(2);
  for (const { seq: lost } of takings) {
    const later = createKit([], { store: damagedStore(kit.store, ({ seq }) => seq === lost) });
    const { session: again } = await later.engine.resume(session.id);
    expect([lost, again.waiting()]).toEqual([lost, []]);
    await again.close();
  }
});

test("a prompt that alone does not fit the window does not join: the turn goes on, and only that prompt fails", async () => {
  const large = "words ".repeat(200_000);
  let [refused, later]: unknown[] = [];
  const { session, outcome } = await whileHeld([calls(["Hold", {}]), says("work"), says("fine")], async (open) => {
    const waiting = [open.prompt(text(large), { joins: true }), open.prompt(text("hi"), { joins: true })];
    [refused, later] = await Promise.all(waiting.map((prompt) => prompt.outcome));
  });
  expect(outcome).toMatchObject({ reason: "completed", finalText: "work" });
  const message = expect.stringMatching(/^The prompt alone does not fit .* and was not added to the conversation/);
  expect(refused).toMatchObject({ reason: "context_full", failure: { message } });
  expect(later).toMatchObject({ reason: "completed", finalText: "fine" });
  expect(session.history().map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
    "assistant",
  ]);
});
