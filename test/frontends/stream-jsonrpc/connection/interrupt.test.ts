import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import type { FakeReply } from "../../../fakes/kit.ts";
import { calls, says, until as untilItHolds } from "../../../fakes/kit.ts";
import { createMemoryHost } from "../../../fakes/memory-host.ts";
import type { LinkedClient } from "../../../fakes/rpc/linked-client.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import type { Served } from "./served.ts";
import { end, hangsAfter, serve } from "./served.ts";
import { chainOf, compareHistory } from "./told-history.ts";

/** A host whose commands run until they are killed. */
const busyHost = () =>
  createMemoryHost({ "/ws/readme.md": "hello\n" }, { onCommand: () => new Promise(() => undefined) });

interface Moment {
  readonly replies: readonly FakeReply[];
  /** The client's choices on opening the session. */
  readonly params?: object;
  /** Resolves when it is time. */
  when(client: LinkedClient): Promise<unknown>;
  /** The messages from then on, after the response. */
  readonly story: readonly string[];
}

const stopped = ["session_token_usage_changed", "agent_turn_completed", "state idle"];
const cut = ["assistant_text_complete", "create_message assistant", ...stopped];
const afterCalls = ["agent_turn_completed", "state idle"];

const retry: ModelEvent = {
  type: "retry",
  attempt: 1,
  delayMs: 60_000,
  failure: { code: "model_overloaded", message: "busy", cause: "overloaded" },
};
const argument = (text: string): ModelEvent => ({ type: "tool_input", id: "c1", name: "Execute", text });

const moments: Readonly<Record<string, Moment>> = {
  "before the first word": {
    replies: [hangsAfter()],
    when: (client) => client.notice("session_title_updated"),
    story: stopped,
  },
  "while text streams": {
    replies: [hangsAfter({ type: "text", text: "half a" })],
    when: (client) => client.notice("assistant_text_delta"),
    story: cut,
  },
  "while thoughts stream": {
    replies: [hangsAfter({ type: "thinking", text: "hm" })],
    when: (client) => client.notice("thinking_text_delta"),
    story: ["thinking_text_complete", "create_message assistant", ...stopped],
  },
  "while arguments stream": {
    replies: [hangsAfter({ type: "text", text: "I run it." }, argument('{"command":"ma'))],
    when: (client) => client.notice("tool_call"),
    story: ["create_message assistant", "tool_result", ...stopped],
  },
  "while arguments stream, before any text": {
    replies: [hangsAfter(argument('{"command":"ma'))],
    when: (client) => client.notice("tool_call"),
    story: ["tool_result", ...stopped],
  },
  "while a tool runs and another waits": {
    replies: [calls(["Execute", { command: "make" }], ["Execute", { command: "make test" }])],
    params: { autonomyLevel: "high" },
    when: (client) => client.notice("session_token_usage_changed"),
    story: ["tool_result", "tool_result", ...afterCalls],
  },
  "with a permission open": {
    replies: [calls(["Execute", { command: "git push" }], ["Read", { file_path: "readme.md" }])],
    when: (client) => client.asked(),
    story: ["permission_resolved", "tool_result", "tool_result", ...afterCalls],
  },
  "with a plan open": {
    replies: [calls(["ExitSpecMode", { plan: "1. Do it" }])],
    params: { interactionMode: "spec" },
    when: (client) => client.asked(),
    story: ["permission_resolved", "tool_result", ...afterCalls],
  },
  "with a question open": {
    replies: [calls(["AskUser", { questionnaire: "1. [question] Which?" }])],
    when: (client) => client.asked(),
    story: ["tool_result", ...afterCalls],
  },
  "in the pause before a retry": {
    replies: [hangsAfter(retry)],
    when: (client) => client.notice("llm_retry"),
    story: stopped,
  },
  "in the pause before a retry of an answer that had begun": {
    replies: [hangsAfter({ type: "text", text: "half" }, retry)],
    when: (client) => client.notice("llm_retry"),
    story: cut,
  },
};

const completions = (client: LinkedClient): object[] =>
  noticesIn(client.received)
    .filter(({ type }) => type === "agent_turn_completed")
    .map(({ turnId, reason }) => ({ turnId, reason }));

const count = (client: LinkedClient, line: string): number =>
  storyOf(client.received).filter((each) => each === line).length;

async function until({ replies, params = {}, when }: Moment): Promise<Served & { readonly sessionId: string }> {
  const served = serve([...replies, says("again")], { host: busyHost() });
  const { sessionId } = (await served.init(params)).result as { sessionId: string };
  await served.say("go", { messageId: "m1" });
  await when(served.client);
  return { ...served, sessionId };
}

describe.each(Object.entries(moments))("an interrupt %s", (_, moment) => {
  test("ends the turn once, and leaves the session as reported", async () => {
    const { client, say, sessionId, kit } = await until(moment);
    const from = client.mark;
    expect((await client.request("droid.interrupt_session", {})).result).toEqual({});
    await client.state("idle", from);
    expect(storyOf(client.received.slice(from))).toEqual(["result r3", ...moment.story]);
    expect(completions(client)).toEqual([{ turnId: "m1", reason: "cancelled" }]);

    const history = await compareHistory(client, sessionId);
    expect(history.told).toEqual(history.loaded);
    expect(history.loadedParents).toEqual(chainOf(history.loaded));
    expect(history.loadedParents).toEqual(history.toldParents.map((parent, at) => parent ?? history.loadedParents[at]));

    // Also from the log: stored and reported events must be equal.
    const behind = client.mark;
    await client.request("droid.close_session", {});
    const again = await compareHistory(client, sessionId);
    expect(again.loaded).toEqual(history.loaded);

    await say("and now", { messageId: "m2" });
    await client.state("idle", behind);
    expect(completions(client).at(-1)).toEqual({ turnId: "m2", reason: "completed" });
    const roles = kit.requests.at(-1)?.messages.map(({ role }) => role);
    expect(roles).toEqual([...history.loaded.map(({ role }) => role), "user"]);
  });

  test("twice has its effects once, and discards waiting prompts", async () => {
    const { client, say } = await until(moment);
    await say("waits", { messageId: "m2" });
    await say("waits too", { messageId: "m3" });
    client.ask("droid.interrupt_session", {});
    client.ask("droid.interrupt_session", {});
    await client.state("idle");
    await client.request("droid.interrupt_session", {});
    expect(count(client, "state idle")).toBe(1);
    expect(count(client, "queued_messages_discarded")).toBe(2);
    const ids = completions(client)
      .map((each) => JSON.stringify(each))
      .sort();
    expect(ids).toEqual(["m1", "m2", "m3"].map((turnId) => JSON.stringify({ turnId, reason: "cancelled" })));
    const results = noticesIn(client.received).flatMap(({ type, toolUseId }) =>
      type === "tool_result" ? [toolUseId] : [],
    );
    expect(new Set(results).size).toBe(results.length);
  });
});

describe("an interrupt", () => {
  test("without a turn says so and changes nothing", async () => {
    const { client, init, say } = serve([calls(["Execute", { command: "git push" }]), says("a"), says("b")]);
    await init();
    await client.request("droid.interrupt_session", {});
    await say("go");
    client.answer((await client.asked()).id, { selectedOption: "proceed_once" });
    await client.state("idle");
    const from = client.mark;
    await client.request("droid.interrupt_session", {});
    await client.request("droid.interrupt_session", {});
    await say("more");
    await client.state("idle", from);
    expect(storyOf(client.received.slice(from)).slice(0, 4)).toEqual([
      "result r4",
      "result r5",
      "result r6",
      "state streaming_assistant_message",
    ]);
    expect(count(client, "state idle")).toBe(2);
  });

  test("right after the first busy state is not lost", async () => {
    const { client, init, kit } = serve([hangsAfter({ type: "text", text: "x" }), hangsAfter(), says("ok")]);
    await init();
    for (const messageId of ["m1", "m2"]) {
      const from = client.mark;
      client.ask("droid.add_user_message", { text: "go", messageId });
      await client.state("streaming_assistant_message", from);
      client.ask("droid.interrupt_session", {});
      await client.state("idle", from);
    }
    expect(completions(client)).toEqual([
      { turnId: "m1", reason: "cancelled" },
      { turnId: "m2", reason: "cancelled" },
    ]);
    expect(kit.requests.length).toBeLessThanOrEqual(2);
  });

  test("and a message in one write: the message after it gets its turn", async () => {
    const { client, init, say } = serve([hangsAfter({ type: "text", text: "x" }), says("ok")]);
    await init();
    await say("go", { messageId: "m1" });
    await client.notice("assistant_text_delta");
    client.ask("droid.interrupt_session", {});
    client.ask("droid.add_user_message", { text: "instead", messageId: "m2" });
    await client.waitFor(() => count(client, "state idle") === 2);
    expect(completions(client)).toEqual([
      { turnId: "m1", reason: "cancelled" },
      { turnId: "m2", reason: "completed" },
    ]);
  });

  test.each([
    ["permission", calls(["Execute", { command: "git push" }]), { selectedOption: "proceed_always" }],
    ["question", calls(["AskUser", { questionnaire: "1. [question] Which?" }]), { answers: ["Yes"] }],
  ])("voids a late answer to a %s", async (_, reply, answer) => {
    const { client, init, say, kit } = serve([reply, says("ok")]);
    await init();
    await say("go");
    const { id } = await client.asked();
    await client.request("droid.interrupt_session", {});
    client.answer(id, answer);
    await client.state("idle");
    client.answer(id, answer);
    const from = client.mark;
    await say("more");
    await client.state("idle", from);
    const story = storyOf(client.received);
    expect(story.filter((line) => line === "settings_updated")).toHaveLength(1);
    expect(story.filter((line) => line === "tool_result")).toHaveLength(1);
    expect(kit.host.commands).toEqual([]);
  });

  test("tells the model its own text so far, and the outcome of its calls", async () => {
    const { client, init, say, kit } = serve(
      [
        [{ type: "text", text: "I run it." }, ...calls(["Execute", { command: "make" }])],
        hangsAfter({ type: "text", text: "half" }),
        [{ type: "text", text: "fine" }, ...end],
      ],
      { host: busyHost(), defaults: { autonomy: "high" } },
    );
    await init();
    for (const type of ["session_token_usage_changed", "assistant_text_delta", undefined]) {
      const from = client.mark;
      await say("go");
      if (type !== undefined) {
        await client.notice(type, from);
        await client.request("droid.interrupt_session", {});
      }
      await client.state("idle", from);
    }
    expect(kit.requests[2]?.messages.map(({ role, content }) => [role, content.map(({ type }) => type)])).toEqual([
      ["user", ["text"]],
      ["assistant", ["text", "tool_call"]],
      ["tool", ["tool_result"]],
      ["user", ["reminder", "text"]],
      ["assistant", ["text"]],
      ["user", ["reminder", "text"]],
    ]);
  });
});

describe("an interrupt that comes just after the turn", () => {
  test("reports what it drops before idle, and then nothing more", async () => {
    for (let run = 0; run < 20; run += 1) {
      const { client, init, say } = serve([says("done"), says("next")]);
      await init();
      await say("go", { messageId: "a" });
      client.ask("droid.add_user_message", { text: "b", messageId: "b" });
      client.ask("droid.add_user_message", { text: "c", messageId: "c" });
      for (let tick = 0; tick < run; tick += 1) await Promise.resolve();
      await client.request("droid.interrupt_session", {});
      await untilItHolds(
        () => storyOf(client.received).filter((entry) => entry === "agent_turn_completed").length === 3,
      );
      await client.request("droid.list_skills", {});

      const told = storyOf(client.received);
      expect(told[told.lastIndexOf("state idle") - 1]).toBe("agent_turn_completed");
      const afterIdle = told.slice(told.lastIndexOf("state idle") + 1);
      expect(afterIdle.filter((entry) => !entry.startsWith("result"))).toEqual([]);
    }
  });
});
