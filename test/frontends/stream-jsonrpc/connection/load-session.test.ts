import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import { damagedStore } from "../../../fakes/damaged-store.ts";
import { calls, createKit, says, until } from "../../../fakes/kit.ts";
import { createMemoryHost } from "../../../fakes/memory-host.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import { createSignal, idOf, serve } from "./served.ts";
import { chainOf, compareHistory, createToldHistory, loadedHistory } from "./told-history.ts";

interface Loaded {
  readonly session: { readonly messages: readonly object[]; readonly title?: string };
  readonly isAgentLoopInProgress: boolean;
  readonly pendingPermissions?: readonly { readonly requestId: string }[];
}

const idIn = ({ result }: Received): string => String(result?.sessionId);
const tokens = (calls: number): object => ({
  inputTokens: 10 * calls,
  outputTokens: 5 * calls,
  cacheCreationTokens: 0,
  cacheReadTokens: 0,
  thinkingTokens: 0,
});

describe("loading the live session", () => {
  test("with a permission open repeats the request, and the old id still works", async () => {
    const { client, init, say } = serve([calls(["Execute", { command: "git push" }]), says("pushed")]);
    const sessionId = idIn(await init());
    await say("go");
    const { id, params } = await client.asked();
    const from = client.mark;
    const { result } = await client.request("droid.load_session", { sessionId });
    expect(storyOf(client.received.slice(from))).toEqual(["result r3"]);
    expect(result).toMatchObject({
      isAgentLoopInProgress: true,
      cwd: "/ws",
      tokenUsage: tokens(1),
      settings: { autonomyLevel: "off" },
      pendingPermissions: [{ requestId: id, ...params }],
      session: { title: "go", messages: [{ role: "user" }, { role: "assistant" }] },
    });
    expect(result).not.toHaveProperty("pendingAskUserRequests");
    const pending = (result as unknown as Loaded).pendingPermissions?.[0]?.requestId ?? "";
    client.answer(pending, { selectedOption: "proceed_once" });
    await client.state("idle", from);
    expect(storyOf(client.received.slice(from))).toEqual([
      "result r3",
      "permission_resolved",
      "state executing_tool",
      "tool_result",
      "state streaming_assistant_message",
      "assistant_text_delta",
      "assistant_text_complete",
      "create_message assistant",
      "session_token_usage_changed",
      "agent_turn_completed",
      "state idle",
    ]);
    const after = (await client.request("droid.load_session", { sessionId })).result as unknown as Loaded;
    expect(after.isAgentLoopInProgress).toBe(false);
    expect(after).not.toHaveProperty("pendingPermissions");
  });

  test("with a question open also repeats it", async () => {
    const questionnaire = "1. [question] Which?\n[topic] Colour\n[option] Red\n[option] Blue";
    const { client, init, say } = serve([calls(["AskUser", { questionnaire }]), says("well")]);
    const sessionId = idIn(await init());
    await say("go");
    const { id, params } = await client.asked();
    const { result } = await client.request("droid.load_session", { sessionId });
    expect(result).toMatchObject({
      isAgentLoopInProgress: true,
      pendingAskUserRequests: [{ requestId: id, ...params }],
    });
    expect(result).not.toHaveProperty("pendingPermissions");
    client.answer(id, { answers: [{ index: 1, question: "Which?", answer: "Red" }] });
    await client.state("idle");
    expect((await client.notice("tool_result")).content).toBe("1. [question] Which?\n[answer] Red");
  });

  test("during a tool includes everything from before the response, and the rest follows", async () => {
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
    const { client, init, say } = serve([calls(["Execute", { command: "make" }]), says("made")], {
      host,
      defaults: { autonomy: "high" },
    });
    const sessionId = idIn(await init());
    await say("go");
    await client.state("executing_tool");
    const history = await compareHistory(client, sessionId);
    expect(history.told).toEqual(history.loaded);
    go.give();
    await client.state("idle");
    const whole = await compareHistory(client, sessionId);
    expect(whole.told).toEqual(whole.loaded);
    expect(whole.loadedParents).toEqual(chainOf(whole.loaded));
  });

  test("gives a slow reader what it got before, and nothing still to come", async () => {
    const { client, init, kit } = serve([says("one"), says("two")], { maxWaiting: 300 });
    const sessionId = idIn(await init());
    client.stopReading();
    client.ask("droid.add_user_message", { text: "first", messageId: "m1" });
    client.ask("droid.add_user_message", { text: "second", messageId: "m2" });
    const id = client.ask("droid.load_session", { sessionId });
    await until(() => kit.requests.length === 2);
    client.readOn();
    const answer = await client.waitFor((message) => message.id === id);
    const before = createToldHistory();
    for (const notice of noticesIn(client.received.slice(0, client.received.indexOf(answer)))) before.take(notice);
    expect(loadedHistory(answer).loaded).toEqual(before.told);
    await client.waitFor((message) => noticesIn([message])[0]?.turnId === "m2");
    const whole = await compareHistory(client, sessionId);
    expect(whole.told).toEqual(whole.loaded);
  });

  test("keeps its filters, adds those that come with it, and reports changes once", async () => {
    const { client, init, say, kit } = serve([says("hi")]);
    const sessionId = idIn(await init({ restrictToolIds: ["Read", "LS", "Grep"] }));
    const from = client.mark;
    const { result } = await client.request("droid.load_session", { sessionId, disabledToolIds: ["LS"] });
    expect(result?.settings).toMatchObject({ restrictToolIds: ["Read", "LS", "Grep"], disabledToolIds: ["LS"] });
    expect(storyOf(client.received.slice(from))).toEqual(["settings_updated", "result r2"]);
    await say("hi");
    await client.state("idle");
    expect(kit.requests[0]?.tools.map(({ name }) => name)).toEqual(["Read", "Grep"]);
  });
});

describe("loading an earlier session", () => {
  const thought: ModelEvent[] = [
    { type: "thinking", text: "Let me look.", proof: { anthropic: { signature: "sig" } } },
    { type: "text", text: "I look." },
    ...calls(["Read", { file_path: "readme.md" }], ["Read", { file_path: "missing.md" }]),
  ];

  test("restores everything: reminders first, results as messages, thoughts with their signature", async () => {
    const first = serve([thought, says("It says hello.")], { reminders: ["You are in /ws."] });
    const sessionId = idIn(await first.init({ autonomyLevel: "low" }));
    await first.say("What does it say?");
    await first.client.state("idle");
    const history = await compareHistory(first.client, sessionId);
    expect(history.told).toEqual(history.loaded);
    expect(history.toldParents).toEqual([
      history.loadedParents[0],
      history.loadedParents[1],
      undefined,
      history.loadedParents[3],
    ]);
    first.client.end();
    await first.over;

    const second = serve([], { kit: first.kit, later: false });
    const { result } = await second.client.request("droid.load_session", { sessionId });
    const at = { createdAt: 1_000_000, updatedAt: 1_000_000 };
    expect(result).toEqual({
      session: {
        title: "What does it say?",
        messages: [
          {
            id: idOf(2),
            role: "user",
            content: [
              { type: "text", text: "<system-reminder>\nYou are in /ws.\n</system-reminder>" },
              { type: "text", text: "What does it say?" },
            ],
            ...at,
            parentId: "root",
          },
          {
            id: idOf(4),
            role: "assistant",
            content: [
              { type: "thinking", thinking: "Let me look.", signature: "sig" },
              { type: "text", text: "I look." },
              { type: "tool_use", id: "call_1", name: "Read", input: { file_path: "readme.md" } },
              { type: "tool_use", id: "call_2", name: "Read", input: { file_path: "missing.md" } },
            ],
            ...at,
            parentId: idOf(2),
          },
          {
            id: idOf(5),
            role: "tool",
            content: [
              { type: "tool_result", toolUseId: "call_1", content: expect.stringContaining("hello"), isError: false },
              { type: "tool_result", toolUseId: "call_2", content: expect.stringContaining("Error"), isError: true },
            ],
            ...at,
            parentId: idOf(4),
          },
          {
            id: idOf(6),
            role: "assistant",
            content: [{ type: "text", text: "It says hello." }],
            ...at,
            parentId: idOf(5),
          },
        ],
      },
      settings: {
        modelId: "fake",
        reasoningEffort: "none",
        autonomyLevel: "auto-low",
        specModeReasoningEffort: "none",
      },
      availableModels: [expect.objectContaining({ id: "fake" })],
      isAgentLoopInProgress: false,
      cwd: "/ws",
      tokenUsage: tokens(2),
    });
    expect(storyOf(second.client.received)).toEqual([
      "settings_updated",
      "session_title_updated",
      "mcp_status_changed",
      "result r1",
    ]);
  });

  test("continues the chain, the token counts, the title and the conversation", async () => {
    const first = serve([says("one"), says("two")]);
    const sessionId = idIn(await first.init({ systemPrompt: "Be a cat." }));
    await first.say("first");
    await first.client.state("idle");
    await first.client.request("droid.rename_session", { title: "Cats" });
    first.client.end();
    await first.over;
    const { client, say } = serve([], { kit: first.kit });
    const { result } = await client.request("droid.load_session", { sessionId });
    expect(result?.settings).toMatchObject({ systemPrompt: "Be a cat." });
    const from = client.mark;
    await say("second");
    await client.state("idle", from);
    expect(storyOf(client.received.slice(from))).not.toContain("session_title_updated");
    expect((await client.notice("create_message", from)).message).toMatchObject({ parentId: idOf(4) });
    expect((await client.notice("session_token_usage_changed", from)).tokenUsage).toEqual(tokens(2));
    expect((await client.notice("agent_turn_completed", from)).tokenUsage).toEqual(tokens(1));
    expect(first.kit.requests[1]?.system).toContain("Be a cat.");
    expect(first.kit.requests[1]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    const { session } = (await client.request("droid.load_session", { sessionId })).result as unknown as Loaded;
    expect([session.title, session.messages.length]).toEqual(["Cats", 4]);
  });

  test("in the middle of a call knows its outcome, and asks no more", async () => {
    const { client, init, say } = serve([calls(["Execute", { command: "git push" }]), says("ok")]);
    const sessionId = idIn(await init());
    await say("go");
    const { id } = await client.asked();
    await client.request("droid.close_session", {});
    const from = client.mark;
    const { result } = await client.request("droid.load_session", { sessionId });
    expect(result).not.toHaveProperty("pendingPermissions");
    client.answer(id, { selectedOption: "proceed_once" });
    await say("more");
    await client.state("idle", from);
    expect(storyOf(client.received.slice(from))).not.toContain("permission_resolved");
  });

  test("without a user to ask reports that at once", async () => {
    const { client, init, say } = serve([calls(["Execute", { command: "git push" }]), says("never")]);
    await init({ autoRejectPermissionRequests: true });
    await say("go");
    await client.state("idle");
    expect(storyOf(client.received).filter((line) => line.startsWith("request"))).toEqual([]);
    expect((await client.notice("agent_turn_completed")).reason).toBe("no_approver_available");
    expect((await client.notice("error")).message).toEqual(expect.any(String));
  });
});

describe("a fork", () => {
  test("is an independent session, and the client stays where it is", async () => {
    const { client, init, say } = serve([says("one"), says("two"), says("three")]);
    const sessionId = idIn(await init());
    await say("first");
    await client.state("idle");
    const { result } = await client.request("droid.fork_session", {});
    const newSessionId = String(result?.newSessionId);
    expect(newSessionId).not.toBe(sessionId);
    const from = client.mark;
    await say("second");
    await client.state("idle", from);
    const here = (await client.request("droid.load_session", { sessionId })).result as unknown as Loaded;
    const fork = (await client.request("droid.load_session", { sessionId: newSessionId })).result as unknown as Loaded;
    expect([here.session.messages.length, fork.session.messages.length]).toEqual([4, 2]);
    expect(fork.session).toMatchObject({ title: "[Fork] first", messages: here.session.messages.slice(0, 2) });
  });

  test("in the middle of a turn has no part of it", async () => {
    const { client, init, say } = serve([calls(["Execute", { command: "git push" }]), says("pushed"), says("two")]);
    await init();
    await say("first");
    const { id } = await client.asked();
    const fork = await client.request("droid.fork_session", { title: "Half" });
    client.answer(id, { selectedOption: "proceed_once" });
    await client.state("idle");
    const loaded = await client.request("droid.load_session", { sessionId: fork.result?.newSessionId });
    expect(loaded.result).toMatchObject({
      isAgentLoopInProgress: false,
      session: { title: "Half", messages: [{ role: "user" }, { role: "assistant" }, { role: "tool" }] },
    });
    const from = client.mark;
    await say("and now?");
    await client.state("idle", from);
    expect((await client.notice("agent_turn_completed", from)).reason).toBe("completed");
  });
});

test("a session whose model reports no usage has zero", async () => {
  const { client, init, say } = serve([
    [
      { type: "text", text: "a" },
      { type: "end", stop: "end" },
    ],
    says("b"),
  ]);
  const sessionId = idIn(await init());
  await say("go");
  await client.state("idle");
  expect((await client.request("droid.load_session", { sessionId })).result?.tokenUsage).toEqual(tokens(0));
});

test("a session with a damaged log is loaded with a notice before the response", async () => {
  const before = serve([says("one")]);
  const sessionId = idIn(await before.init());
  await before.say("go");
  await before.client.state("idle");
  before.client.end();
  await before.over;
  const store = damagedStore(before.kit.store, ({ type }) => type === "message.ended");
  const { client, events } = serve([], { kit: createKit([], { store }) });
  const { result } = await client.request("droid.load_session", { sessionId });
  const message = "1 damaged line of the session log skipped (line 6).";
  expect(noticesIn(client.received).find(({ type }) => type === "notice")).toEqual({
    type: "notice",
    level: "warning",
    message,
    timestamp: "1970-01-01T00:16:40.000Z",
  });
  expect(storyOf(client.received).at(-1)).toBe("result r1");
  expect(events).toMatchObject([{ type: "notice", text: message }]);
  expect((result as unknown as Loaded).session.messages).toMatchObject([{ role: "user" }]);
});
