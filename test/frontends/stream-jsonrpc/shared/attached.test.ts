import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import { calls, says, until } from "../../../fakes/kit.ts";
import { createMemoryHost } from "../../../fakes/memory-host.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { createSignal, end, hangsAfter, waitsBetween } from "../connection/served.ts";
import { load, only, share, textOf } from "./sharing.ts";

const push = calls(["Execute", { command: "git push" }]);
const once = { selectedOption: "proceed_once" };
const turn = [
  "state streaming_assistant_message",
  "create_message user",
  "session_title_updated",
  "assistant_text_delta",
  "assistant_text_complete",
  "create_message assistant",
  "session_token_usage_changed",
  "agent_turn_completed",
  "state idle",
];

describe("several connections in one session", () => {
  test("all see a request to one of them, and its outcome", async () => {
    const { begin, attach, kit } = share([says("hello"), says("again")]);
    const first = await begin();
    const others = [await attach(first.sessionId), await attach(first.sessionId)];
    const marks = others.map(({ client }) => client.mark);
    await first.say("hi", { messageId: "m1" });
    for (const { client } of [first, ...others]) await client.state("idle");
    for (const [index, { client }] of others.entries()) {
      expect(storyOf(client.received.slice(marks[index]))).toEqual(turn);
    }
    const asked = [first, ...others].map((served) => only(served, "create_message")[0]);
    expect(asked.map((notice) => notice?.requestId)).toEqual(["r2", undefined, undefined]);
    expect(new Set(asked.map((notice) => JSON.stringify(notice?.message))).size).toBe(1);
    const ends = [first, ...others].map((served) => only(served, "agent_turn_completed")[0]?.turnId);
    expect(ends).toEqual(["m1", "m1", "m1"]);
    await others[0]?.say("more");
    const from = first.client.mark;
    await first.client.state("idle", from);
    expect([textOf(first), kit.requests.length]).toEqual(["helloagain", 2]);
  });

  test("all see settings, titles and interrupts", async () => {
    const { begin, attach } = share([hangsAfter({ type: "text", text: "well" })]);
    const first = await begin();
    const other = await attach(first.sessionId);
    await other.client.request("droid.update_session_settings", { autonomyLevel: "low", disabledToolIds: ["Edit"] });
    await first.say("go");
    const told = only(first, "settings_updated").map(({ settings }) => settings);
    expect(told.slice(1)).toMatchObject([{ autonomyLevel: "low", disabledToolIds: ["Edit"] }]);
    await other.client.request("droid.rename_session", { title: "Renamed" });
    await first.client.waitFor(() => only(first, "session_title_updated").at(-1)?.title === "Renamed");
    await other.client.notice("assistant_text_delta");
    await other.client.request("droid.interrupt_session", {});
    for (const served of [first, other]) {
      await served.client.state("idle");
      expect(only(served, "agent_turn_completed").map(({ reason }) => reason)).toEqual(["cancelled"]);
    }
  });

  test("the first answer wins, and all see it", async () => {
    const { begin, attach, kit } = share([push, says("pushed")]);
    const first = await begin();
    const others = [await attach(first.sessionId), await attach(first.sessionId)];
    await first.say("go");
    const asked = await Promise.all([first, ...others].map(({ client }) => client.asked()));
    expect(new Set(asked.map(({ id }) => id)).size).toBe(1);
    const id = String(asked[0]?.id);
    others[1]?.client.answer(id, once);
    others[0]?.client.answer(id, { selectedOption: "cancel" });
    first.client.answer(id, { selectedOption: "proceed_always" });
    for (const served of [first, ...others]) {
      await served.client.state("idle");
      expect(only(served, "permission_resolved").map(({ selectedOption }) => selectedOption)).toEqual(["proceed_once"]);
      expect(only(served, "agent_turn_completed").map(({ reason }) => reason)).toEqual(["completed"]);
    }
    expect(kit.host.commands.map(({ command }) => command)).toEqual(["git push"]);
  });

  test("an answer of a client that does not want to be asked does not count", async () => {
    const { begin, connect, kit } = share([push, says("pushed")]);
    const first = await begin();
    const other = connect();
    await load(other, first.sessionId, { autoRejectPermissionRequests: true });
    await first.say("go");
    const { id } = await other.client.asked();
    other.client.answer(id, { selectedOption: "cancel" });
    await other.client.request("droid.list_skills", {});
    first.client.answer(id, once);
    await first.client.state("idle");
    expect(kit.host.commands).toHaveLength(1);
  });
});

describe("a connection that joins in the middle", () => {
  test("of a text gets the text so far, and the rest completes it", async () => {
    const go = createSignal();
    const before: ModelEvent[] = [
      { type: "thinking", text: "hm " },
      { type: "thinking", text: "hm" },
      { type: "text", text: "one " },
      { type: "text", text: "two " },
    ];
    const { begin, attach } = share([waitsBetween(before, go.come, [{ type: "text", text: "three" }, ...end])]);
    const first = await begin();
    await first.say("go", { messageId: "m1" });
    await first.client.waitFor(() => textOf(first) === "one two ");
    const other = await attach(first.sessionId);
    expect(other.loaded.isAgentLoopInProgress).toBe(true);
    expect(other.loaded.session.messages).toHaveLength(1);
    go.give();
    await other.client.state("idle");
    expect(storyOf(other.client.received).slice(3)).toEqual([
      "result r1",
      "state streaming_assistant_message",
      "thinking_text_delta",
      "thinking_text_complete",
      "assistant_text_delta",
      "assistant_text_delta",
      "assistant_text_complete",
      "create_message assistant",
      "session_token_usage_changed",
      "agent_turn_completed",
      "state idle",
    ]);
    expect([textOf(other, "thinking_text_delta"), textOf(other)]).toEqual(["hm hm", "one two three"]);
    expect(only(other, "assistant_text_delta").map(({ textDelta }) => textDelta)).toEqual(["one two ", "three"]);
    expect(only(other, "create_message")).toEqual(only(first, "create_message").slice(1));
    expect(only(other, "agent_turn_completed")).toEqual(only(first, "agent_turn_completed"));
  });

  test("of a call's arguments gets the call once it is complete", async () => {
    const go = createSignal();
    const part = (text: string): ModelEvent => ({ type: "tool_input", id: "call_1", name: "Read", text });
    const whole = '{"a":{"b":1},"file_path":"/ws/readme.md"}';
    const rest: ModelEvent[] = [
      part(whole.slice(5)),
      { type: "tool_call", id: "call_1", name: "Read", inputText: whole },
      { type: "usage", usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, thinking: 0 } },
      { type: "end", stop: "tool_calls" },
    ];
    const { begin, attach } = share([waitsBetween([part(whole.slice(0, 5))], go.come, rest), says("read")]);
    const first = await begin();
    await first.say("go");
    await first.client.notice("tool_call");
    const other = await attach(first.sessionId);
    go.give();
    await other.client.state("idle");
    const inputs = only(other, "tool_call").map(({ toolUse }) => (toolUse as { readonly input: unknown }).input);
    expect(inputs).toEqual([{ file_path: "/ws/readme.md" }]);
  });

  test("of a request can answer it, and knows the waiting prompts", async () => {
    const { begin, attach } = share([push, says("pushed"), says("next")]);
    const first = await begin();
    await first.say("go", { messageId: "m1" });
    const { id, params } = await first.client.asked();
    await first.say("next", { messageId: "m2" });
    const other = await attach(first.sessionId);
    expect(other.loaded).toMatchObject({
      isAgentLoopInProgress: true,
      pendingPermissions: [{ requestId: id, ...params }],
      queuedMessages: [{ text: "next", messageId: "m2" }],
    });
    await other.client.state("waiting_for_tool_confirmation");
    other.client.answer(id, once);
    await other.client.waitFor(() => only(other, "agent_turn_completed").length === 2);
    await first.client.waitFor(() => only(first, "agent_turn_completed").length === 2);
    expect(only(other, "agent_turn_completed")).toEqual(only(first, "agent_turn_completed"));
    expect(only(other, "agent_turn_completed").map(({ turnId }) => turnId)).toEqual(["m1", "m2"]);
    expect(only(other, "permission_resolved")).toEqual(only(first, "permission_resolved"));
  });

  test("of a question can answer it", async () => {
    const questionnaire = "1. [question] Which?\n[topic] Colour\n[option] Red\n[option] Blue";
    const { begin, attach } = share([calls(["AskUser", { questionnaire }]), says("well")]);
    const first = await begin();
    await first.say("go");
    const { id, params } = await first.client.asked();
    const other = await attach(first.sessionId);
    expect(other.loaded.pendingAskUserRequests).toEqual([{ requestId: id, ...params }]);
    other.client.answer(id, { answers: [{ index: 1, question: "Which?", answer: "Red" }] });
    for (const served of [first, other]) {
      await served.client.state("idle");
      expect(only(served, "tool_result").map(({ content }) => content)).toEqual(["1. [question] Which?\n[answer] Red"]);
    }
  });

  test("of a running tool can add to the turn, which keeps its name", async () => {
    const go = createSignal();
    const onCommand = async (): Promise<object> => {
      await go.come;
      return {};
    };
    const host = createMemoryHost({ "/ws/readme.md": "hello\n" }, { onCommand });
    const { begin, attach, kit } = share([push, says("pushed")], { host });
    const first = await begin();
    await first.say("go", { messageId: "m1" });
    first.client.answer((await first.client.asked()).id, once);
    await until(() => kit.host.commands.length === 1);
    const other = await attach(first.sessionId);
    await other.client.state("executing_tool");
    await other.say("and look at it");
    go.give();
    await other.client.state("idle");
    await first.client.state("idle");
    expect(only(other, "agent_turn_completed")).toEqual(only(first, "agent_turn_completed"));
    expect(only(other, "agent_turn_completed").map(({ turnId }) => turnId)).toEqual(["m1"]);
    const added = [first, other].map((served) => only(served, "create_message").at(-2));
    expect(added.map((notice) => notice?.requestId)).toEqual([undefined, "r2"]);
  });

  test("in the other dialect sees the same session in its own vocabulary", async () => {
    const { begin, attach } = share([says("hello")]);
    const first = await begin();
    const other = await attach(first.sessionId, { later: false });
    expect(other.loaded.settings.autonomyLevel).toBe("normal");
    await other.client.request("droid.update_session_settings", { autonomyLevel: "auto-high" });
    await first.client.waitFor(() => only(first, "settings_updated").length === 2);
    expect(only(first, "settings_updated")[1]?.settings).toMatchObject({ autonomyLevel: "high" });
  });
});
