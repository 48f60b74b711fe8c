import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { workingFolder } from "../../../../src/commands/working-folder.ts";
import { AgentError } from "../../../../src/engine/errors.ts";
import type { ModelCatalog } from "../../../../src/engine/ports.ts";
import { calls, info, says, until } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { createSignal, end, hangsAfter, idOf, serve, waitsBetween } from "./served.ts";

const errorOf = ({ id, error }: Received): object => ({ id, ...error });
const openingStory = (id: string): string[] => ["settings_updated", "mcp_status_changed", `result ${id}`];

describe("the folder of a session", () => {
  test("must exist, and is returned in its canonical form", async () => {
    const root = await realpath(await mkdtemp(join(tmpdir(), "folders-")));
    try {
      await mkdir(join(root, "place"));
      await writeFile(join(root, "file"), "");
      const served = serve([], { folder: workingFolder });
      const refused = (words: RegExp): object => ({
        id: expect.any(String),
        code: -32602,
        message: expect.stringMatching(words),
        data: { code: "usage" },
      });
      expect(errorOf(await served.init({ cwd: join(root, "missing") }))).toEqual(
        refused(/cwd.*missing does not exist/),
      );
      expect(errorOf(await served.init({ cwd: join(root, "file") }))).toEqual(refused(/cwd.*file is not a folder/));
      expect(errorOf(await served.init({ cwd: "" }))).toEqual(refused(/cwd.*empty/));
      expect(errorOf(await served.init({ cwd: "no/such\u0000place" }))).toEqual(refused(/cwd/));
      expect(storyOf(served.client.received)).toEqual(["error r1", "error r2", "error r3", "error r4"]);
      served.kit.host.put(`${root}/place/x`, "");
      const opened = await served.init({ cwd: relative(process.cwd(), join(root, "place")) });
      await served.client.request("droid.close_session", {});
      const loaded = await served.client.request("droid.load_session", { sessionId: opened.result?.sessionId });
      expect(loaded.result?.cwd).toBe(join(root, "place"));
    } finally {
      await rm(root, { recursive: true });
    }
  });

  test("defaults to the command line's, and its repository is reported", async () => {
    const asked: string[] = [];
    const repository = async (cwd: string) => {
      asked.push(cwd);
      return { owner: "me", repoName: "mine" };
    };
    const { client } = serve([], { defaults: { cwd: "/other" }, repository });
    const opened = await client.request("droid.initialize_session", { machineId: "m" });
    expect([asked, opened.result?.gitRepo]).toEqual([["/other"], { owner: "me", repoName: "mine" }]);
  });
});

describe("a model", () => {
  const models: ModelCatalog = {
    list: async () => [info],
    unusable: async () => [],
    resolve: async (id) => {
      if (id !== "fake") throw new AgentError("model_unknown", `There is no model ${id}. Known are: fake.`);
      return { info, stream: () => hangsAfter() as never };
    },
  };
  const unknown = (id: string): object => ({
    id,
    code: -32602,
    message: expect.stringContaining("Known are: fake"),
    data: { code: "model_unknown" },
  });

  test.each([true, false])("that is unknown opens and changes nothing (later: %s)", async (later) => {
    const { client, init } = serve([], { models, later });
    expect(errorOf(await init({ modelId: "gpt-0" }))).toEqual(unknown("r1"));
    expect(errorOf(await init({ specModeModelId: "gpt-0" }))).toEqual(unknown("r2"));
    expect((await client.request("droid.update_session_settings", {})).error?.code).toBe(-32603);
    await init({ modelId: "fake" });
    const from = client.mark;
    const change = { modelId: "gpt-0", reasoningEffort: "high", disabledToolIds: ["Read"] };
    expect(errorOf(await client.request("droid.update_session_settings", change))).toEqual(unknown("r5"));
    expect(errorOf(await client.request("droid.list_tools", { modelId: "gpt-0" }))).toEqual(unknown("r6"));
    expect(storyOf(client.received.slice(from))).toEqual(["error r5", "error r6"]);
  });
});

describe("no session", () => {
  test.each([
    ["droid.add_user_message", { text: "hi" }],
    ["droid.update_session_settings", {}],
    ["droid.close_session", {}],
    ["droid.rename_session", { title: "a" }],
    ["droid.fork_session", {}],
    ["droid.get_context_stats", {}],
  ])("%s reports it, in both dialects", async (method, params) => {
    const message = "No active session. Call initialize_session or load_session first.";
    for (const later of [true, false]) {
      const { client } = serve([], { later });
      expect(errorOf(await client.request(method, params))).toEqual({ id: "r1", code: -32603, message });
      expect(client.received).toHaveLength(1);
    }
  });

  test("is fine for an interrupt: nothing is running", async () => {
    for (const later of [true, false]) {
      const { client } = serve([], { later });
      expect((await client.request("droid.interrupt_session", {})).result).toEqual({});
      expect(client.received).toHaveLength(1);
    }
  });

  test("is needed for listings", async () => {
    const { client } = serve([]);
    const tools = (await client.request("droid.list_tools", {})).result?.tools as { readonly id: string }[];
    expect(tools.map(({ id }) => id)).toContain("Execute");
    expect((await client.request("droid.list_models", {})).result?.models).toHaveLength(1);
    expect((await client.request("droid.list_skills", {})).result).toEqual({ skills: [] });
    expect((await client.request("droid.list_commands", {})).result).toEqual({ commands: [] });
  });
});

describe("a requested session id", () => {
  test("that is in use yields a fresh one, and the old session stays unchanged", async () => {
    const { client, init, say, kit } = serve([says("one"), says("two")]);
    const first = await init();
    await say("hi");
    await client.state("idle");
    const { sessionId } = first.result as { sessionId: string };
    const again = await init({ sessionId });
    expect(again.result).toMatchObject({ sessionId: expect.not.stringMatching(sessionId), session: { messages: [] } });
    await say("hello");
    await client.state("idle", client.mark);
    expect((await kit.store.read(sessionId)).events.filter(({ type }) => type === "prompt.accepted")).toHaveLength(1);
    expect((await client.request("droid.load_session", { sessionId })).result?.session).toMatchObject({
      messages: [{ role: "user" }, { role: "assistant" }],
    });
  });

  test("that is empty counts as absent", async () => {
    expect((await serve([]).init({ sessionId: "" })).result?.sessionId).toBe(idOf(1));
  });
});

describe("a second initialize_session", () => {
  test("starts clean", async () => {
    const { client, init, say, kit } = serve([says("I know"), says("what?")]);
    await init();
    await say("The word is DOLPHIN");
    await client.state("idle");
    await init();
    const from = client.mark;
    await say("What is the word?");
    await client.state("idle", from);
    expect(JSON.stringify(kit.requests[1]?.messages)).not.toContain("DOLPHIN");
    const told = client.received.slice(from).find((message) => storyOf([message])[0] === "create_message user");
    expect(told?.params?.notification?.message).toMatchObject({ parentId: "root" });
    const usage = await client.notice("session_token_usage_changed", from);
    expect(usage.tokenUsage).toMatchObject({ inputTokens: 10 });
  });

  test("in the middle of a turn ends it first, and nothing of it follows", async () => {
    const { client, init, say, kit } = serve([hangsAfter({ type: "text", text: "SECRET" }), says("new")]);
    await init();
    await say("first");
    await client.notice("assistant_text_delta");
    const queued = client.ask("droid.add_user_message", { text: "queued", messageId: "q" });
    const from = client.mark;
    await init();
    expect(storyOf(client.received.slice(from))).toEqual([
      `result ${queued}`,
      "queued_messages_discarded",
      "agent_turn_completed",
      "assistant_text_complete",
      "create_message assistant",
      "session_token_usage_changed",
      "agent_turn_completed",
      "state idle",
      ...openingStory("r4"),
    ]);
    await say("second");
    await client.state("idle", client.mark);
    expect(kit.requests[1]?.messages.map(({ content }) => content)).toEqual([[{ type: "text", text: "second" }]]);
  });

  test("with a request open resolves it once, and a late answer changes nothing", async () => {
    const { client, init, say } = serve([calls(["Execute", { command: "git push" }]), says("new")]);
    await init();
    await say("first");
    const request = await client.asked();
    const from = client.mark;
    await init();
    client.answer(request.id, { selectedOption: "proceed_always" });
    await say("second");
    await client.state("idle", client.mark);
    const told = storyOf(client.received.slice(from));
    expect(told.slice(0, 8)).toEqual([
      "permission_resolved",
      "tool_result",
      "agent_turn_completed",
      "state idle",
      ...openingStory("r3"),
      "result r4",
    ]);
    expect(told.filter((line) => line === "permission_resolved" || line === "settings_updated")).toHaveLength(2);
  });
});

describe("load_session", () => {
  test.each(["nobody", "", "../../etc/passwd", idOf(99)])("of %j keeps the active session", async (sessionId) => {
    for (const later of [true, false]) {
      const { client, init, say } = serve([says("still here")], { later });
      await init();
      const missing = await client.request("droid.load_session", { sessionId });
      expect(errorOf(missing)).toEqual({ id: "r2", code: -32004, message: "Session not found" });
      await say("are you there?");
      await client.state("idle");
    }
  });

  test("of another one ends what runs, and later messages are about the other", async () => {
    const { client, init, say } = serve([says("one"), hangsAfter({ type: "text", text: "two" }), says("three")]);
    const { sessionId } = (await init()).result as { sessionId: string };
    await say("first");
    await client.state("idle");
    await init();
    await say("second");
    await client.notice("assistant_text_delta", client.mark);
    const from = client.mark;
    const loaded = await client.request("droid.load_session", { sessionId });
    expect(storyOf(client.received.slice(from))).toEqual([
      "assistant_text_complete",
      "create_message assistant",
      "session_token_usage_changed",
      "agent_turn_completed",
      "state idle",
      "settings_updated",
      "session_title_updated",
      "mcp_status_changed",
      "result r5",
    ]);
    const { messages } = (loaded.result as { session: { messages: readonly { id: string }[] } }).session;
    const behind = client.mark;
    await say("third");
    await client.state("idle", behind);
    const user = await client.notice("create_message", behind);
    expect(user.message).toMatchObject({ role: "user", parentId: messages.at(-1)?.id });
  });

  test("that is in use elsewhere is rejected, and keeps the active session", async () => {
    const first = serve([says("still here")]);
    const { sessionId } = (await first.init()).result as { sessionId: string };
    const second = serve([], { kit: first.kit });
    await second.init();
    const refused = await second.client.request("droid.load_session", { sessionId });
    expect(refused.error).toMatchObject({ code: -32603, data: { code: "session_in_use" } });
    expect((await second.client.request("droid.get_context_stats", {})).error).toBeUndefined();
  });
});

describe("close_session", () => {
  test("in the middle of a turn ends it before the response, and the session can be loaded", async () => {
    const { client, init, say } = serve([hangsAfter({ type: "text", text: "half" })]);
    const { sessionId } = (await init()).result as { sessionId: string };
    await say("first");
    await client.notice("assistant_text_delta");
    const from = client.mark;
    await client.request("droid.close_session", {});
    expect(storyOf(client.received.slice(from))).toEqual([
      "assistant_text_complete",
      "create_message assistant",
      "session_token_usage_changed",
      "agent_turn_completed",
      "state idle",
      "result r3",
    ]);
    expect((await say("more")).error?.code).toBe(-32603);
    const loaded = await client.request("droid.load_session", { sessionId });
    expect(loaded.result).toMatchObject({
      isAgentLoopInProgress: false,
      session: { messages: [{ role: "user" }, { role: "assistant", content: [{ type: "text", text: "half" }] }] },
    });
  });
});

describe("the end of the client's input", () => {
  test("without a session ends the connection", async () => {
    const { client, over } = serve([]);
    client.end();
    await over;
    expect(client.received).toEqual([]);
  });

  test("in the middle of a turn waits for its end and for waiting prompts", async () => {
    const go = createSignal();
    const { client, init, say, over } = serve([
      waitsBetween([], go.come, [{ type: "text", text: "a" }, ...end]),
      says("b"),
    ]);
    await init();
    await say("one");
    await say("two");
    client.end();
    go.give();
    await over;
    expect(storyOf(client.received).filter((line) => line === "state idle")).toHaveLength(2);
  });

  test.each([
    ["permission", calls(["Execute", { command: "git push" }])],
    ["question", calls(["AskUser", { questionnaire: "1. [question] Which?" }])],
  ])("with a %s open cancels it", async (_, reply) => {
    const { client, init, say, over } = serve([reply, says("done")]);
    await init();
    await say("one");
    await client.asked();
    client.end();
    await over;
    await until(() => storyOf(client.received).at(-1) === "state idle");
    expect(client.received.flatMap(({ params }) => params?.notification?.isError ?? [])).toEqual([true]);
  });
});
