import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import type { FakeReply } from "../../../fakes/kit.ts";
import { calls, says, usage } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import type { ServeOptions } from "./served.ts";
import { end, hangsAfter, serve } from "./served.ts";

const opened = ["settings_updated", "mcp_status_changed", "result r1"];
const begun = ["result r2", "state streaming_assistant_message", "create_message user", "session_title_updated"];
const said = [
  "assistant_text_delta",
  "assistant_text_complete",
  "create_message assistant",
  "session_token_usage_changed",
];
const ended = ["agent_turn_completed", "state idle"];
const called = (count = 1): string[] => [
  ...Array<string>(count).fill("tool_call"),
  "create_message assistant",
  "state executing_tool",
  "session_token_usage_changed",
];

/** One turn from the opening of the session on, in which the client gives this answer to every request. */
async function turn(
  replies: readonly FakeReply[],
  answer?: object,
  { params = {}, ...options }: ServeOptions & { params?: object } = {},
): Promise<readonly Received[]> {
  const { client, init, say } = serve(replies, options);
  await init(params);
  await say("hi");
  if (answer !== undefined) client.answer((await client.asked()).id, answer);
  await client.state("idle");
  return client.received;
}

describe("the order of a turn", () => {
  test("with text", async () => {
    expect(storyOf(await turn([says("hello")]))).toEqual([...opened, ...begun, ...said, ...ended]);
  });

  test("with thoughts and text", async () => {
    const reply: ModelEvent[] = [
      { type: "thinking", text: "h" },
      { type: "thinking", text: "m" },
      { type: "text", text: "a" },
      { type: "text", text: "b" },
      ...end,
    ];
    expect(storyOf(await turn([reply]))).toEqual([
      ...opened,
      ...begun,
      "thinking_text_delta",
      "thinking_text_delta",
      "thinking_text_complete",
      "assistant_text_delta",
      ...said,
      ...ended,
    ]);
  });

  test("with tools that need no permission", async () => {
    const reads = calls(["Read", { file_path: "readme.md" }], ["Read", { file_path: "missing" }]);
    expect(storyOf(await turn([reads, says("hello")]))).toEqual([
      ...opened,
      ...begun,
      ...called(2),
      "tool_result",
      "tool_result",
      "state streaming_assistant_message",
      ...said,
      ...ended,
    ]);
  });

  test("with streaming arguments", async () => {
    const parts = ['{"file_path"', ':"readme.md"', ',"limit":', "1}"];
    const reply: ModelEvent[] = [
      { type: "text", text: "I look." },
      ...parts.map((text): ModelEvent => ({ type: "tool_input", id: "c", name: "Read", text })),
      { type: "tool_call", id: "c", name: "Read", inputText: parts.join("") },
      { type: "usage", usage },
      { type: "end", stop: "tool_calls" },
    ];
    const received = await turn([reply, says("hello")]);
    expect(storyOf(received)).toEqual([
      ...opened,
      ...begun,
      "assistant_text_delta",
      "assistant_text_complete",
      ...called(3),
      "tool_result",
      "state streaming_assistant_message",
      ...said,
      ...ended,
    ]);
    const inputs = received.flatMap(({ params }) => params?.notification?.toolUse ?? []);
    expect(inputs).toEqual(
      [{}, { file_path: "readme.md" }, { file_path: "readme.md", limit: 1 }].map((input) => {
        return { type: "tool_use", id: "c", name: "Read", input };
      }),
    );
  });

  const push = calls(["Execute", { command: "git push" }]);
  const asked = (count = 1): string[] => [
    ...opened,
    ...begun,
    ...called(count),
    "state waiting_for_tool_confirmation",
    "request droid.request_permission",
  ];
  const wentOn = ["state executing_tool", "tool_result", "state streaming_assistant_message", ...said, ...ended];

  test("with a permission once", async () => {
    const story = storyOf(await turn([push, says("pushed")], { selectedOption: "proceed_once" }));
    expect(story).toEqual([...asked(), "permission_resolved", ...wentOn]);
  });

  test("with a permission always", async () => {
    const story = storyOf(await turn([push, says("pushed")], { selectedOption: "proceed_always" }));
    expect(story).toEqual([...asked(), "permission_resolved", "settings_updated", ...wentOn]);
  });

  test("with a permission always that changes no level any more", async () => {
    const protectedPlace = calls(["Read", { file_path: "/home/u/.ssh/id" }]);
    const params = { autonomyLevel: "high" };
    const story = storyOf(await turn([protectedPlace, says("x")], { selectedOption: "proceed_always" }, { params }));
    expect(story).toEqual([...asked(), "permission_resolved", ...wentOn]);
  });

  test("without permission", async () => {
    const both = calls(["Read", { file_path: "readme.md" }], ["Execute", { command: "git push" }]);
    expect(storyOf(await turn([both, says("never")], { selectedOption: "cancel" }))).toEqual([
      ...asked(2),
      "permission_resolved",
      "state executing_tool",
      "tool_result",
      "tool_result",
      ...ended,
    ]);
  });

  test.each([
    [{ later: false }, { autonomyLevel: "spec" }, ["settings_updated", "permission_resolved"]],
    [{}, { interactionMode: "spec" }, ["permission_resolved", "settings_updated"]],
  ])("with a plan, in the dialect %o", async (options, params, changed) => {
    const plan = calls(["ExitSpecMode", { plan: "1. Push" }]);
    const replies = [plan, push, says("pushed")];
    const high = { selectedOption: "proceed_auto_run_high" };
    expect(storyOf(await turn(replies, high, { ...options, params }))).toEqual([
      ...asked(),
      ...changed,
      "state executing_tool",
      "tool_result",
      "state streaming_assistant_message",
      ...called(),
      "tool_result",
      "state streaming_assistant_message",
      ...said,
      ...ended,
    ]);
    const refused = { selectedOption: "cancel" };
    expect(storyOf(await turn(replies, refused, { ...options, params }))).toEqual([
      ...asked(),
      "permission_resolved",
      "tool_result",
      ...ended,
    ]);
  });

  test("with a question", async () => {
    const question = calls(["AskUser", { questionnaire: "1. [question] Which?\n[option] This" }]);
    expect(storyOf(await turn([question, says("well")], { answers: ["This"] }))).toEqual([
      ...asked().slice(0, -1),
      "request droid.ask_user",
      ...wentOn,
    ]);
  });

  test("that is retried, without usage and finally without success", async () => {
    const failure = { code: "model_overloaded", message: "busy", cause: "rate_limited" } as const;
    const reply: ModelEvent[] = [
      { type: "retry", attempt: 1, delayMs: 5, failure },
      { type: "text", text: "half" },
      { type: "error", failure, retryable: false },
    ];
    expect(storyOf(await turn([reply]))).toEqual([...opened, ...begun, "llm_retry", ...said, "error", ...ended]);
  });
});

describe("simultaneous requests", () => {
  test("are handled in order, each answered once", async () => {
    const { client } = serve([hangsAfter({ type: "text", text: "a" })]);
    client.ask("droid.initialize_session", { machineId: "m", cwd: "/ws" });
    client.ask("droid.add_user_message", { text: "hi", messageId: "mine" });
    client.ask("droid.update_session_settings", { autonomyLevel: "low" });
    client.ask("droid.interrupt_session", {});
    client.ask("droid.rename_session", { title: "Other" });
    await client.state("idle");
    await client.waitFor(({ id }) => id === "r5");
    const story = storyOf(client.received);
    expect(story.filter((line) => line.startsWith("result"))).toEqual(
      ["r1", "r2", "r3", "r4", "r5"].map((id) => `result ${id}`),
    );
    expect(story.slice(0, 5)).toEqual([...opened, "result r2", "state streaming_assistant_message"]);
    expect(story.indexOf("settings_updated", 3)).toBeLessThan(story.indexOf("result r3"));
    expect(story.filter((line) => line === "state idle")).toHaveLength(1);
    expect(await client.notice("agent_turn_completed")).toMatchObject({ reason: "cancelled", turnId: "mine" });
  });

  test("before a session fail one by one", async () => {
    const { client } = serve([]);
    client.ask("droid.add_user_message", { text: "hi" });
    client.sendRaw("{");
    client.ask("droid.rename_session", { title: "a" });
    client.ask("droid.initialize_session", { machineId: "m", cwd: "/ws" });
    await client.waitFor(({ id }) => id === "r3");
    expect(storyOf(client.received)).toEqual([
      "error r1",
      "error undefined",
      "error r2",
      "settings_updated",
      "mcp_status_changed",
      "result r3",
    ]);
  });

  test("beyond the look-ahead limit are all answered in order", async () => {
    const { client, init } = serve([]);
    await init();
    const ids = Array.from({ length: 500 }, () => client.ask("droid.get_context_stats", {}));
    await client.waitFor(({ id }) => id === ids.at(-1));
    expect(storyOf(client.received.slice(3))).toEqual(ids.map((id) => `result ${id}`));
  });
});

describe("changed settings", () => {
  test("are sent before the response, and only when they differ", async () => {
    const { client, init } = serve([]);
    await init({ autonomyLevel: "low" });
    const from = client.mark;
    const change = (params: object): Promise<Received> => client.request("droid.update_session_settings", params);
    await change({});
    await change({ autonomyLevel: "low", modelId: "fake" });
    await change({ autonomyLevel: "medium", interactionMode: "spec" });
    await change({ specModeModelId: "fake" });
    await change({ specModeModelId: null });
    await change({ tags: [{ name: "a", metadata: { b: "c" } }] });
    expect(storyOf(client.received.slice(from))).toEqual([
      "result r2",
      "result r3",
      "settings_updated",
      "result r4",
      "settings_updated",
      "result r5",
      "settings_updated",
      "result r6",
      "settings_updated",
      "result r7",
    ]);
  });

  test("are also sent when only the tools differ", async () => {
    const { client, init, say, kit } = serve([says("hi")]);
    await init();
    const from = client.mark;
    await client.request("droid.update_session_settings", { disabledToolIds: ["execute-cli"] });
    await client.request("droid.update_session_settings", { disabledToolIds: ["execute-cli"] });
    expect(storyOf(client.received.slice(from))).toEqual(["settings_updated", "result r2", "result r3"]);
    const told = await client.notice("settings_updated", from);
    expect(told.settings).toMatchObject({ disabledToolIds: ["execute-cli"] });
    await say("hi");
    await client.state("idle");
    expect(kit.requests[0]?.tools.map(({ name }) => name)).not.toContain("Execute");
  });

  test("are not sent again with a permission that changes nothing", async () => {
    const replies = [calls(["Execute", { command: "git push" }]), says("pushed")];
    const params = { disabledToolIds: ["Read"] };
    const story = storyOf(await turn(replies, { selectedOption: "proceed_once" }, { params }));
    expect(story.filter((line) => line === "settings_updated")).toHaveLength(1);
  });

  test("apply from the next decision of the same turn on", async () => {
    const push = calls(["Execute", { command: "git push" }]);
    const { client, init, say } = serve([push, push, says("done")]);
    await init();
    await say("hi");
    const request = await client.asked();
    await client.request("droid.update_session_settings", { autonomyLevel: "high" });
    client.answer(request.id, { selectedOption: "proceed_once" });
    await client.state("idle");
    expect(storyOf(client.received).filter((line) => line.startsWith("request"))).toHaveLength(1);
  });
});

describe("the trace", () => {
  const traces = (messages: readonly Received[]): Set<string> =>
    new Set(
      messages.flatMap(({ _meta }) => {
        return _meta === undefined ? [] : [(_meta as { traceparent: string }).traceparent.split("-")[1] ?? ""];
      }),
    );

  test("is one per turn, and the client's own if it sends one", async () => {
    const { client, init } = serve([says("a"), says("b"), says("c")]);
    await init();
    const own = "0af7651916cd43dd8448eb211c80319c";
    const seen: Set<string>[] = [];
    for (const meta of [undefined, { traceparent: `00-${own}-b7ad6b7169203331-01` }, { traceparent: "nonsense" }]) {
      const from = client.mark;
      await client.request("droid.add_user_message", { text: "hi" }, { meta });
      await client.state("idle", from);
      seen.push(traces(client.received.slice(from)));
    }
    expect(seen.map((ids) => ids.size)).toEqual([1, 1, 1]);
    expect(seen[1]).toEqual(new Set([own]));
    expect(new Set(seen.flatMap((ids) => [...ids])).size).toBe(3);
  });

  test("of a waiting prompt differs from that of the turn before", async () => {
    const { client, init } = serve([hangsAfter(), says("b")]);
    await init();
    const trace = (digit: string): object => ({ traceparent: `00-${digit.repeat(32)}-b7ad6b7169203331-01` });
    await client.request("droid.add_user_message", { text: "one" }, { meta: trace("1") });
    await client.request("droid.add_user_message", { text: "two", messageId: "two" }, { meta: trace("2") });
    await client.request("droid.interrupt_session", {});
    await client.state("idle");
    const from = client.mark;
    await client.request("droid.add_user_message", { text: "three" }, { meta: trace("3") });
    await client.state("idle", from);
    expect(traces(client.received.slice(from))).toEqual(new Set(["3".repeat(32)]));
  });
});
