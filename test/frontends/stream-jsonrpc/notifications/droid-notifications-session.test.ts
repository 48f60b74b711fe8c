import { describe, expect, test } from "vitest";
import { AgentError } from "../../../../src/engine/errors.ts";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import { calls, createKit, says, until, usage } from "../../../fakes/kit.ts";
import { createMemoryHost } from "../../../fakes/memory-host.ts";
import {
  assistantMessage,
  checked,
  entered,
  fresh,
  listenTranslated,
  text,
  turnCompleted,
  usageTold,
  userMessage,
} from "../translated.ts";

const end: readonly ModelEvent[] = [
  { type: "usage", usage },
  { type: "end", stop: "end" },
];

describe("several prompts", () => {
  test("each have their turn under the client's name, in order, with one idle each", async () => {
    const kit = createKit([says("one"), says("two")]);
    const client = listenTranslated(await kit.open());
    const first = client.prompt("a", { requestId: "r1", messageId: "turn-a" });
    const second = client.prompt("b", { requestId: "r2", messageId: "turn-b" });
    await Promise.all([first.outcome, second.outcome]);
    await client.stop();
    const reply = (id: string, parentId: string, said: string): object[] => [
      { type: "assistant_text_delta", messageId: id, blockIndex: 0, textDelta: said },
      { type: "assistant_text_complete", messageId: id, blockIndex: 0 },
      assistantMessage({ id, parentId, content: [text(said)] }),
    ];
    expect(client.sent).toEqual([
      entered("streaming_assistant_message"),
      userMessage({ id: "turn-a", parentId: "root", content: [text("a")], requestId: "r1" }),
      { type: "session_title_updated", title: "a" },
      ...reply("id-3", "turn-a", "one"),
      usageTold("id-1", 1),
      turnCompleted("completed", "turn-a"),
      entered("idle"),
      entered("streaming_assistant_message"),
      userMessage({ id: "turn-b", parentId: "id-3", content: [text("b")], requestId: "r2" }),
      ...reply("id-5", "turn-b", "two"),
      usageTold("id-1", 2),
      turnCompleted("completed", "turn-b", { calls: 1, total: 2 }),
      entered("idle"),
    ]);
  });

  test("a prompt that joins a turn under way follows the results and does not rename the turn", async () => {
    let letGo = (): void => undefined;
    const held = new Promise<object>((go) => {
      letGo = () => go({});
    });
    const host = createMemoryHost({}, { onCommand: () => held });
    const kit = createKit([calls(["Execute", { command: "ls" }]), says("done")], { host });
    const client = listenTranslated(await kit.open());
    const first = client.prompt("a", { requestId: "r1", messageId: "turn-a" });
    await until(() => client.types().includes("session_token_usage_changed"));
    const joined = client.prompt("also", { requestId: "r2", joins: true });
    await joined.accepted;
    letGo();
    await Promise.all([first.outcome, joined.outcome]);
    await client.stop();
    const from = client.types().indexOf("tool_result");
    const results = client.sent[from] as { messageId: string };
    const parentId = results.messageId;
    expect(client.sent.slice(from + 1, from + 3)).toEqual([
      userMessage({ id: joined.messageId, parentId, content: [text("also")], requestId: "r2" }),
      entered("streaming_assistant_message"),
    ]);
    expect(client.sent.slice(-2)).toEqual([turnCompleted("completed", "turn-a", { calls: 2 }), entered("idle")]);
  });
});

describe("titles and settings", () => {
  test("a new name is sent at once, even before the first prompt", async () => {
    const kit = createKit([says("ok")]);
    const session = await kit.open();
    const client = listenTranslated(session);
    await session.rename("First");
    await until(() => client.sent.length === 1);
    expect(client.take()).toEqual([{ type: "session_title_updated", title: "First" }]);
    await client.prompt("hello", { requestId: "r1" }).outcome;
    await until(() => client.types().includes("agent_turn_completed"));
    client.take();
    await session.rename("Second");
    await client.stop();
    expect(client.take()).toEqual([{ type: "session_title_updated", title: "Second" }]);
  });

  test("changed settings are sent whole and once; unchanged ones are not", async () => {
    const kit = createKit([]);
    const session = await kit.open();
    const client = listenTranslated(session);
    await session.update({ autonomy: "low" });
    await session.update({ autonomy: "low", mode: "spec" });
    await session.update({ mode: "spec" });
    await client.stop();
    const common = { modelId: "fake", reasoningEffort: "none", autonomyLevel: "low" };
    expect(client.sent).toEqual([
      { type: "settings_updated", settings: { ...common, interactionMode: "auto", autonomyMode: "auto-low" } },
      { type: "settings_updated", settings: { ...common, interactionMode: "spec", autonomyMode: "spec" } },
    ]);
  });

  test("changed filters are sent on request, once", () => {
    let filters = {};
    const translator = fresh({ filters: () => filters });
    expect(translator.settingsChanged()).toEqual([]);
    filters = { disabledToolIds: ["Execute"] };
    expect(translator.settingsChanged().map(checked)).toMatchObject([{ settings: { disabledToolIds: ["Execute"] } }]);
    expect(translator.settingsChanged()).toEqual([]);
  });
});

describe("a client that joins in the middle of a turn", () => {
  test("gets the rest of it, and its end under its name", async () => {
    let goOn = (): void => undefined;
    const held = new Promise<void>((go) => {
      goOn = go;
    });
    const kit = createKit([
      async function* (): AsyncGenerator<ModelEvent> {
        yield { type: "text", text: "one" };
        await held;
        yield { type: "text", text: "two" };
        yield* end;
      },
    ]);
    const session = await kit.open();
    const early = listenTranslated(session);
    const handle = early.prompt("a", { messageId: "turn-a", requestId: "r1" });
    await until(() => early.types().includes("assistant_text_delta"));
    const late = listenTranslated(session, { turnId: "turn-a" });
    goOn();
    await handle.outcome;
    await early.stop();
    await late.stop();
    expect(late.sent).toEqual([
      entered("streaming_assistant_message"),
      { type: "assistant_text_delta", messageId: "id-3", blockIndex: 0, textDelta: "two" },
      { type: "assistant_text_complete", messageId: "id-3", blockIndex: 0 },
      assistantMessage({ id: "id-3", parentId: "turn-a", content: [text("onetwo")] }),
      usageTold("id-1", 1),
      turnCompleted("completed", "turn-a"),
      entered("idle"),
    ]);
  });

  test("a waiting prompt is sent with its content when it is taken", () => {
    const translator = fresh({ lastMessageId: "m1", waiting: [{ messageId: "m2", content: [text("left")] }] });
    const taken = { at: 5, sessionId: "s", seq: 9, type: "prompt.taken", messageId: "m2", reminders: ["r"] } as const;
    expect(translator.translate(taken).map(checked)).toEqual([
      userMessage({ id: "m2", parentId: "m1", content: [text("left")], at: 5 }),
    ]);
  });
});

test("an end by time limit is an error, not a cancellation", async () => {
  const kit = createKit([
    async function* (_, signal): AsyncGenerator<ModelEvent> {
      await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      yield* [];
    },
  ]);
  const session = await kit.open();
  const client = listenTranslated(session);
  const handle = client.prompt("a", { messageId: "turn-a", requestId: "r1" });
  await until(() => kit.requests.length === 1);
  await session.interrupt(new AgentError("timeout", "It took too long."));
  await handle.outcome;
  await client.stop();
  expect(client.sent.slice(-3)).toEqual([
    {
      type: "error",
      message: "It took too long.",
      errorType: "TimeoutError",
      timestamp: "1970-01-01T00:16:40.000Z",
      error: { name: "timeout", message: "It took too long." },
    },
    turnCompleted("error", "turn-a", { calls: 0 }),
    entered("idle"),
  ]);
});
