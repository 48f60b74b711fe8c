import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import type { FakeReply } from "../../fakes/kit.ts";
import { calls, createKit, says, until } from "../../fakes/kit.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import {
  assistantMessage,
  entered,
  listenTranslated,
  noUsageTold,
  text,
  turnCompleted,
  usageTold,
  userMessage,
} from "./translated.ts";

/** Streams what is given and then nothing more until it is stopped. */
function stuckAfter(...events: readonly ModelEvent[]): FakeReply {
  return async function* (_, signal) {
    yield* events;
    await new Promise<void>((done) => {
      if (signal.aborted) done();
      else signal.addEventListener("abort", () => done(), { once: true });
    });
  };
}

const opening = [
  entered("streaming_assistant_message"),
  userMessage({ id: "mine", parentId: "root", content: [text("go")], requestId: "r1" }),
  { type: "session_title_updated", title: "go" },
];
const ending = [noUsageTold("id-1"), turnCompleted("cancelled", "mine", { calls: 0 }), entered("idle")];

/** Interrupts as soon as `when` matches what was sent. */
async function interrupted(reply: FakeReply, when: (types: readonly string[], modelCalls: number) => boolean) {
  const host = createMemoryHost({}, { onCommand: () => new Promise(() => undefined) });
  const kit = createKit([reply], { host });
  const session = await kit.open();
  const client = listenTranslated(session);
  const handle = client.prompt("go", { requestId: "r1", messageId: "mine" });
  await until(() => when(client.types(), kit.requests.length));
  await Promise.all([session.interrupt(), session.interrupt()]);
  await handle.outcome;
  await session.interrupt();
  await client.stop();
  return client.sent;
}

describe("an interrupt", () => {
  test("before the first piece: no message of the model, one end, one idle", async () => {
    const sent = await interrupted(stuckAfter(), (_, modelCalls) => modelCalls === 1);
    expect(sent).toEqual([...opening, ...ending]);
  });

  test("during text: the text so far is a message", async () => {
    const sent = await interrupted(stuckAfter({ type: "text", text: "par" }), (types) =>
      types.includes("assistant_text_delta"),
    );
    expect(sent).toEqual([
      ...opening,
      { type: "assistant_text_delta", messageId: "id-3", blockIndex: 0, textDelta: "par" },
      { type: "assistant_text_complete", messageId: "id-3", blockIndex: 0 },
      assistantMessage({ id: "id-3", parentId: "mine", content: [text("par")] }),
      ...ending,
    ]);
  });

  test("during arguments: the call that was cut off has its end and is not part of the message", async () => {
    const reply = stuckAfter(
      { type: "text", text: "I will" },
      { type: "tool_input", id: "call_1", name: "Create", text: '{"file_path":"/ws/x","cont' },
    );
    const sent = await interrupted(reply, (types) => types.filter((type) => type === "tool_call").length === 2);
    const toolUse = { type: "tool_use", id: "call_1", name: "Create" };
    expect(sent).toEqual([
      ...opening,
      { type: "assistant_text_delta", messageId: "id-3", blockIndex: 0, textDelta: "I will" },
      { type: "assistant_text_complete", messageId: "id-3", blockIndex: 0 },
      { type: "tool_call", toolUse: { ...toolUse, input: {} } },
      { type: "tool_call", toolUse: { ...toolUse, input: { file_path: "/ws/x" } } },
      assistantMessage({ id: "id-3", parentId: "mine", content: [text("I will")] }),
      {
        type: "tool_result",
        toolUseId: "call_1",
        messageId: "id-3",
        content: "Error: Tool was not run because the reply that called it broke off.",
        isError: true,
      },
      ...ending,
    ]);
  });

  test("in the pause before a retry", async () => {
    const failure = { code: "model_overloaded", message: "busy", cause: "rate_limited" } as const;
    const reply = stuckAfter({ type: "retry", attempt: 1, delayMs: 60_000, failure });
    const sent = await interrupted(reply, (types) => types.includes("llm_retry"));
    expect(sent).toEqual([...opening, { type: "llm_retry", attempt: 1, reason: "rate_limited" }, ...ending]);
  });

  test("during a tool: every call has its one result", async () => {
    const wanted = calls(["Execute", { command: "sleep 9" }], ["Execute", { command: "ls" }]);
    const kitHost = createMemoryHost({}, { onCommand: () => new Promise(() => undefined) });
    const kit = createKit([wanted], { host: kitHost });
    const session = await kit.open();
    const client = listenTranslated(session);
    const handle = client.prompt("go", { requestId: "r1", messageId: "mine" });
    await until(() => kitHost.commands.length === 1);
    await session.interrupt();
    await handle.outcome;
    await client.stop();
    const from = client.types().indexOf("session_token_usage_changed");
    const results = client.sent.slice(from + 1, from + 3);
    expect(results).toMatchObject([
      { type: "tool_result", toolUseId: "call_1", isError: true },
      { type: "tool_result", toolUseId: "call_2", isError: true },
    ]);
    expect(client.sent.slice(from - 1)).toEqual([
      entered("executing_tool"),
      usageTold("id-1", 1),
      ...results,
      turnCompleted("cancelled", "mine"),
      entered("idle"),
    ]);
  });

  test("drops prompts behind the turn, with a message for each; clients that named a turn get its end", async () => {
    const kit = createKit([stuckAfter({ type: "text", text: "par" })]);
    const session = await kit.open();
    const client = listenTranslated(session);
    const first = client.prompt("go", { requestId: "r1", messageId: "mine" });
    await until(() => client.types().includes("assistant_text_delta"));
    const named = client.prompt("second", { requestId: "r2", messageId: "named" });
    const unnamed = client.prompt("third", { requestId: "r3" });
    await Promise.all([named.accepted, unnamed.accepted]);
    const from = client.sent.length;
    await session.interrupt();
    await Promise.all([first.outcome, named.outcome, unnamed.outcome]);
    await client.stop();
    // The two continue in parallel; each has its own order.
    const dropped = [
      { type: "queued_messages_discarded", text: "second", requestId: "r2" },
      turnCompleted("cancelled", "named", { calls: 0 }),
      { type: "queued_messages_discarded", text: "third", requestId: "r3" },
    ];
    const ofTheTurn = [
      { type: "assistant_text_complete", messageId: "id-3", blockIndex: 0 },
      assistantMessage({ id: "id-3", parentId: "mine", content: [text("par")] }),
      ...ending,
    ];
    const sent = client.sent.slice(from);
    const isOf = (list: readonly object[]) => (entry: object) =>
      list.some((other) => JSON.stringify(other) === JSON.stringify(entry));
    expect(sent.filter(isOf(dropped))).toEqual(dropped);
    expect(sent.filter(isOf(ofTheTurn))).toEqual(ofTheTurn);
    expect(sent).toHaveLength(dropped.length + ofTheTurn.length);
  });

  test("of an idle session sends nothing", async () => {
    const kit = createKit([says("ok")]);
    const session = await kit.open();
    const client = listenTranslated(session);
    await client.prompt("go", { requestId: "r1" }).outcome;
    await until(() => client.types().at(-1) === "droid_working_state_changed" && client.sent.length > 2);
    client.take();
    await session.interrupt();
    await client.stop();
    expect(client.sent).toEqual([]);
  });
});
