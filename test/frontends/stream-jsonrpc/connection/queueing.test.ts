import { describe, expect, test } from "vitest";
import type { Message } from "../../../../src/engine/message.ts";
import type { ModelRequest } from "../../../../src/engine/ports.ts";
import { calls, says } from "../../../fakes/kit.ts";
import { createMemoryHost } from "../../../fakes/memory-host.ts";
import type { LinkedClient } from "../../../fakes/rpc/linked-client.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import { createSignal, end, hangsAfter, serve, waitsBetween } from "./served.ts";

/** The conversation so far, in short form. */
function conversation({ messages }: ModelRequest): string[] {
  return messages.map(({ role, content }: Message) => {
    return `${role}: ${content.map((block) => ("text" in block ? block.text : block.type)).join("|")}`;
  });
}

/** The ends of turns, and the user messages before them. */
function turnsOf(client: LinkedClient): string[] {
  return noticesIn(client.received).flatMap((notice) => {
    if (notice.type === "agent_turn_completed") return [`end ${String(notice.turnId)}: ${String(notice.reason)}`];
    if (notice.type === "queued_messages_discarded") return [`discarded ${String(notice.text)}`];
    const message = notice.message as { role: string; content: { text: string }[] } | undefined;
    return message?.role === "user" ? [`user ${message.content[0]?.text} (${String(notice.requestId)})`] : [];
  });
}

function userIds(client: LinkedClient): string[] {
  return noticesIn(client.received).flatMap(({ message }) => {
    const { id, role } = (message ?? {}) as { readonly id?: string; readonly role?: string };
    return id !== undefined && role === "user" ? [id] : [];
  });
}

const idles = (client: LinkedClient): number => storyOf(client.received).filter((line) => line === "state idle").length;

async function untilIdles(client: LinkedClient, count: number): Promise<void> {
  await client.waitFor(() => idles(client) >= count);
}

describe("a message during a reply", () => {
  test("is acknowledged at once and becomes the next turn, with or without a name", async () => {
    const go = createSignal();
    const { client, init, say, kit } = serve([
      waitsBetween([{ type: "text", text: "o" }], go.come, [{ type: "text", text: "ne" }, ...end]),
      says("two"),
      says("three"),
    ]);
    await init();
    await say("first", { messageId: "m1" });
    await client.notice("assistant_text_delta");
    const from = client.mark;
    await say("second");
    await say("third", { messageId: "m3" });
    expect(storyOf(client.received.slice(from))).toEqual(["result r3", "result r4"]);
    go.give();
    await untilIdles(client, 3);
    expect(turnsOf(client)).toEqual([
      "user first (r2)",
      "end m1: completed",
      "user second (r3)",
      `end ${userIds(client)[1]}: completed`,
      "user third (r4)",
      "end m3: completed",
    ]);
    expect(kit.requests.map(conversation)).toEqual([
      ["user: first"],
      ["user: first", "assistant: one", "user: second"],
      ["user: first", "assistant: one", "user: second", "assistant: two", "user: third"],
    ]);
  });

  test("also works before the first word", async () => {
    const go = createSignal();
    const { client, init, say, kit } = serve([waitsBetween([], go.come, says("one")), says("two")]);
    await init();
    await say("first");
    await client.state("streaming_assistant_message");
    await say("second");
    go.give();
    await untilIdles(client, 2);
    expect(kit.requests.map(conversation)).toEqual([
      ["user: first"],
      ["user: first", "assistant: one", "user: second"],
    ]);
  });
});

describe("a message during a tool", () => {
  const running = () => {
    const go = createSignal();
    const host = createMemoryHost(
      { "/ws/readme.md": "hello\n" },
      {
        async onCommand() {
          await go.come;
          return {};
        },
      },
    );
    const replies = [calls(["Execute", { command: "make" }]), says("two"), says("three"), says("four")];
    return { go, served: serve(replies, { host, defaults: { autonomy: "high" } }) };
  };

  test("joins the turn after the results without a name, and gets its own turn with one", async () => {
    const { go, served } = running();
    const { client, init, say, kit } = served;
    await init();
    await say("first", { messageId: "m1" });
    await client.state("executing_tool");
    await say("named", { messageId: "m2" });
    await say("nameless");
    await say("nameless too");
    const from = client.mark;
    go.give();
    await untilIdles(client, 2);
    expect(turnsOf(client)).toEqual([
      "user first (r2)",
      "user nameless (r4)",
      "user nameless too (r5)",
      "end m1: completed",
      "user named (r3)",
      "end m2: completed",
    ]);
    expect(storyOf(client.received.slice(from)).slice(0, 5)).toEqual([
      "tool_result",
      "create_message user",
      "create_message user",
      "state streaming_assistant_message",
      "assistant_text_delta",
    ]);
    expect(kit.requests).toHaveLength(3);
    expect(kit.requests.slice(1).map((request) => conversation(request).slice(3))).toEqual([
      ["user: nameless", "user: nameless too"],
      ["user: nameless", "user: nameless too", "assistant: two", "user: named"],
    ]);
  });

  test("is discarded with a notification when the turn is interrupted", async () => {
    const { served } = running();
    const { client, init, say } = served;
    await init();
    await say("first");
    await client.state("executing_tool");
    await say("nameless");
    await say("named", { messageId: "m2" });
    const from = client.mark;
    await client.request("droid.interrupt_session", {});
    await client.state("idle");
    const told = noticesIn(client.received.slice(from));
    expect(told.filter(({ type }) => type === "queued_messages_discarded")).toEqual([
      { type: "queued_messages_discarded", text: "nameless", requestId: "r3" },
      { type: "queued_messages_discarded", text: "named", requestId: "r4" },
    ]);
    expect(turnsOf(client).filter((line) => line.startsWith("end"))).toEqual([
      "end m2: cancelled",
      expect.stringMatching(/^end .*: cancelled$/),
    ]);
    expect(idles(client)).toBe(1);
    await say("again");
    await untilIdles(client, 2);
    expect(turnsOf(client).at(-1)).toMatch(/completed$/);
  });
});

describe("a message during an open request", () => {
  const push = calls(["Execute", { command: "git push" }]);
  const question = calls(["AskUser", { questionnaire: "1. [question] Which?" }]);

  test.each([
    ["permission", push, { selectedOption: "proceed_once" }],
    ["question", question, { answers: ["Yes"] }],
  ])("(a %s) joins the turn if it has no name", async (_, reply, answer) => {
    const { client, init, say, kit } = serve([reply, says("done"), says("more")]);
    await init();
    await say("first", { messageId: "m1" });
    const request = await client.asked();
    await say("nameless");
    await say("named", { messageId: "m2" });
    client.answer(request.id, answer);
    await untilIdles(client, 2);
    expect(turnsOf(client)).toEqual([
      "user first (r2)",
      "user nameless (r3)",
      "end m1: completed",
      "user named (r4)",
      "end m2: completed",
    ]);
    expect(kit.requests.map((request) => conversation(request).at(-1))).toEqual([
      "user: first",
      "user: nameless",
      "user: named",
    ]);
  });

  test("gets its own turn if the one that it would join ends", async () => {
    const { client, init, say, kit } = serve([push, says("then this")]);
    await init();
    await say("first", { messageId: "m1" });
    const request = await client.asked();
    await say("rather not");
    client.answer(request.id, { selectedOption: "cancel" });
    await untilIdles(client, 2);
    expect(turnsOf(client)).toEqual([
      "user first (r2)",
      "end m1: permission_rejected",
      "user rather not (r3)",
      expect.stringMatching(/: completed$/),
    ]);
    expect(kit.requests).toHaveLength(2);
  });
});

describe("message names", () => {
  test("that were used before still end their turns, under a new id", async () => {
    const { client, init, say } = serve([says("one"), says("two")]);
    await init();
    await say("first", { messageId: "m" });
    await untilIdles(client, 1);
    await say("second", { messageId: "m" });
    await untilIdles(client, 2);
    const ids = noticesIn(client.received).flatMap(({ message }) => (message as { id: string })?.id ?? []);
    expect(new Set(ids).size).toBe(4);
    expect(turnsOf(client).filter((line) => line.startsWith("end"))).toEqual(["end m: completed", "end m: completed"]);
  });

  test("that are the same in the queue are two turns", async () => {
    const go = createSignal();
    const { client, init, say } = serve([waitsBetween([], go.come, says("one")), says("two"), says("three")]);
    await init();
    await say("first");
    await say("a", { messageId: "m" });
    await say("b", { messageId: "m" });
    go.give();
    await untilIdles(client, 3);
    expect(turnsOf(client).slice(2)).toEqual(["user a (r3)", "end m: completed", "user b (r4)", "end m: completed"]);
  });

  test("that were discarded can be used again at once", async () => {
    const { client, init, say } = serve([hangsAfter({ type: "text", text: "x" }), says("two")]);
    await init();
    await say("first");
    await client.notice("assistant_text_delta");
    client.ask("droid.add_user_message", { text: "a", messageId: "m" });
    client.ask("droid.interrupt_session", {});
    client.ask("droid.add_user_message", { text: "b", messageId: "m" });
    await untilIdles(client, 2);
    expect(
      storyOf(client.received)
        .filter((line) => /^result r[345]/.test(line))
        .sort(),
    ).toEqual(["result r3", "result r4", "result r5"]);
    expect(turnsOf(client)).toEqual([
      "user first (r2)",
      "discarded a",
      "end m: cancelled",
      expect.stringMatching(/: cancelled$/),
      "user b (r5)",
      "end m: completed",
    ]);
  });

  test("that are empty count as absent, and an empty text is a turn", async () => {
    const { client, init, say } = serve([says("one")]);
    await init();
    await say("", { messageId: "" });
    await untilIdles(client, 1);
    expect(turnsOf(client)).toEqual(["user  (r2)", `end ${userIds(client)[0]}: completed`]);
  });
});

test("rejects a message beyond the limit with its id, and the others have their turns", async () => {
  const go = createSignal();
  const replies = [waitsBetween([], go.come, says("one")), ...Array.from({ length: 100 }, () => says("more"))];
  const { client, init, say } = serve(replies);
  await init();
  await say("first");
  for (let n = 0; n < 100; n += 1) client.ask("droid.add_user_message", { text: `${n}` });
  const refused = await say("too many");
  expect(refused.error).toMatchObject({ code: -32603, data: { code: "queue_full" } });
  go.give();
  await untilIdles(client, 101);
  expect(turnsOf(client).filter((line) => line.endsWith("completed"))).toHaveLength(101);
});

test("reports a discarded waiting prompt even before its turn could take it", async () => {
  const { client, init } = serve([says("never")]);
  await init();
  const from = client.mark;
  client.ask("droid.add_user_message", { text: "a", messageId: "a" });
  client.ask("droid.add_user_message", { text: "b", messageId: "b" });
  client.ask("droid.interrupt_session", {});
  await client.state("idle", from);
  await client.waitFor(({ id }) => id === "r4");
  const ends = turnsOf(client).filter((line) => line.startsWith("end"));
  expect(ends.sort()).toEqual(["end a: cancelled", "end b: cancelled"]);
  expect(idles(client)).toBe(1);
});
