import { describe, expect, test } from "vitest";
import type { Payload } from "../../fakes/rpc/sdk-connection.ts";
import { atBothLevels, ofType, results, run, since } from "./both-levels.ts";

interface Loaded {
  readonly session: {
    readonly title?: string;
    readonly messages: readonly (Payload & { content: readonly Payload[] })[];
  };
  readonly settings: Payload;
}

const noSession = { code: -32603, message: "No active session. Call initialize_session or load_session first." };

atBothLevels((stage) => {
  describe("before any session", () => {
    test("lists tools and models; everything else says what is missing", async () => {
      const client = stage.fresh();
      const { tools } = (await client.call("droid.list_tools")) as { tools: readonly Payload[] };
      expect(tools.map(({ id }) => String(id).toLowerCase())).toEqual(
        expect.arrayContaining(["read", "execute", "edit"]),
      );
      const { models } = (await client.call("droid.list_models")) as { models: readonly Payload[] };
      expect(models.map(({ id }) => id)).toContain("offline");
      const listed = (await client.call("droid.list_models", { includeDisabled: true })) as {
        models: readonly Payload[];
      };
      const disabled = listed.models.filter((model) => model.disabled === true);
      expect(disabled.some(({ disabledReason }) => String(disabledReason).includes("ANTHROPIC_API_KEY"))).toBe(true);
      expect(disabled.every((model) => !models.some(({ id }) => id === model.id))).toBe(true);
      const needing: readonly (readonly [string, Payload])[] = [
        ["droid.add_user_message", { text: "hi" }],
        ["droid.update_session_settings", {}],
        ["droid.get_context_stats", {}],
        ["droid.fork_session", {}],
        ["droid.rename_session", { title: "x" }],
        ["droid.close_session", {}],
      ];
      expect(await client.call("droid.interrupt_session", {})).toEqual({});
      for (const [method, params] of needing)
        await expect(client.call(method, params), method).rejects.toMatchObject(noSession);
      await expect(client.resume("5f0c8b9e-0000-4000-8000-000000000000")).rejects.toMatchObject({
        kind: "session-not-found",
        code: -32004,
        message: "Session not found",
      });
      await expect(client.open({ cwd: "/does/not/exist" })).rejects.toMatchObject({
        kind: "invalid-working-directory",
      });
      await expect(client.call("droid.no_such_method")).rejects.toMatchObject({ code: -32601 });
      await expect(client.open({ autonomyLevel: "bogus" })).rejects.toMatchObject({ code: -32602 });
      client.wire.eof();
      expect(await client.wire.exit()).toEqual({ code: 0, signal: null, stderr: "" });
    });
  });

  test("tools removed by a filter are not allowed", async () => {
    const { client } = stage;
    const allowed = async (params: Payload): Promise<readonly unknown[]> => {
      const { tools } = (await client.call("droid.list_tools", params)) as { tools: readonly Payload[] };
      return tools.filter(({ currentlyAllowed }) => currentlyAllowed).map(({ llmId, id }) => llmId ?? id);
    };
    const all = await allowed({});
    expect(await allowed({ disabledToolIds: ["execute-cli"] })).toEqual(all.filter((name) => name !== "Execute"));
    await stage.scripted([run("echo hi", "low"), { text: "done" }], {
      autonomyLevel: "high",
      disabledToolIds: ["Execute"],
    });
    expect(client.settings().disabledToolIds).toEqual(["Execute"]);
    const turn = await client.turn("go");
    expect(results(turn)).toMatchObject([{ isError: true }]);
  });

  test("a session's settings include its options, and a fork inherits filters", async () => {
    const { client, bench } = stage;
    await bench.file("seen.txt", "seen\n");
    const replies = [
      {
        tool_calls: [
          { name: "Read", input: { file_path: "seen.txt" } },
          { name: "LS", input: {} },
        ],
      },
      { text: "done" },
    ];
    const tag = { name: "team", metadata: { colour: "red" } };
    await stage.scripted(replies, { restrictToolIds: ["Read"], tags: [tag], reasoningEffort: "none" });
    const kept = { restrictToolIds: ["Read"], reasoningEffort: "none", tags: expect.arrayContaining([tag]) };
    expect(client.settings()).toMatchObject(kept);
    expect(results(await client.turn("go"))).toMatchObject([{ isError: false }, { isError: true }]);
    await client.fork();
    if (client.level === "high") expect(client.settings()).toMatchObject({ restrictToolIds: ["Read"] });
  });

  test("the stats of the context add up", async () => {
    const { client } = stage;
    await stage.scripted(
      [{ text: "hello", usage: { input: 1000, output: 10 } }],
      {},
      { model: { contextWindow: 8000 } },
    );
    await client.turn("hi");
    const stats = await client.call("droid.get_context_stats");
    expect(stats.limit).toBe(8000);
    expect(stats.used).toBeGreaterThan(0);
    expect(Number(stats.used) + Number(stats.remaining)).toBe(8000);
    expect(new Date(String(stats.updatedAt)).getTime()).toBeGreaterThan(0);
  });

  test("lists skills and commands as empty", async () => {
    await stage.client.open({ modelId: "offline" });
    expect(await stage.client.call("droid.list_skills")).toMatchObject({ skills: [] });
    expect(await stage.client.call("droid.list_commands")).toMatchObject({ commands: [] });
  });

  describe("a system prompt", () => {
    const parrot = "You are a parrot.";
    const replies = [
      { when: { system: "/Tinman[\\s\\S]*parrot/" }, times: "any", text: "both" },
      { when: { system: "parrot" }, times: "any", text: "only the parrot" },
      { times: "any", text: "no parrot" },
    ];

    test("replaces ours", async () => {
      const { settings } = await stage.scripted(replies, { systemPrompt: parrot });
      expect((settings as Payload).systemPrompt).toBe(parrot);
      expect((await stage.client.turn("hi")).text).toBe("only the parrot");
    });

    test("is appended to ours", async () => {
      const systemPrompt = { type: "preset", preset: "droid", append: parrot };
      const { settings } = await stage.scripted(replies, { systemPrompt });
      expect((settings as Payload).systemPrompt).toEqual(systemPrompt);
      expect((await stage.client.turn("hi")).text).toBe("both");
    });

    test("of one session does not affect the next", async () => {
      const { settings } = await stage.scripted(replies);
      expect(settings).not.toHaveProperty("systemPrompt");
      expect((await stage.client.turn("hi")).text).toBe("no parrot");
    });
  });

  test("settings are sent when they change, before the response, and only then", async () => {
    const { client } = stage;
    const model = { reasoningEfforts: ["none", "low", "high"] };
    await stage.scripted([{ text: "hi" }], { reasoningEffort: "low" }, { model });
    const changes = { autonomyLevel: "medium", reasoningEffort: "high", tags: [{ name: "a", metadata: { b: "c" } }] };
    const from = client.wire.received.length;
    await client.update(changes);
    const [first, last, ...more] = client.wire.received.slice(from);
    expect([first?.type, last?.type, more]).toEqual(["notification", "response", []]);
    expect(client.settings()).toMatchObject({ ...changes, autonomyMode: "auto-medium", interactionMode: "auto" });
    await client.update(changes);
    expect(since(client.wire, from)).toHaveLength(1);
    await client.update({ specModeModelId: "offline", specModeReasoningEffort: "none" });
    expect(client.settings()).toMatchObject({ specModeModelId: "offline", specModeReasoningEffort: "none" });
    await client.update({ specModeModelId: null, specModeReasoningEffort: null });
    expect(client.settings()).not.toHaveProperty("specModeModelId");
    expect(client.settings()).not.toHaveProperty("specModeReasoningEffort");
  });

  test("a second session knows nothing of the first", async () => {
    const { client } = stage;
    await client.open({ modelId: "offline" });
    await client.turn("The password is DOLPHIN-2288. Just reply OK.");
    const { session } = (await client.open({ modelId: "offline" })) as unknown as Loaded;
    expect(session.messages).toEqual([]);
    expect((await client.turn("What password did I tell you?")).text).not.toContain("DOLPHIN");
  });

  test("another program resumes a session by its id alone", async () => {
    const { bench } = stage;
    await bench.file("kept.txt", "kept\n");
    const first = stage.fresh();
    const model = await bench.script([
      { reasoning: "Hm.", text: "Look.", tool_calls: [{ name: "Read", input: { file_path: "kept.txt" } }] },
      { text: "I know DOLPHIN-2288." },
      { when: { user: "Which", contains: "DOLPHIN-2288" }, text: "DOLPHIN-2288" },
    ]);
    await first.open({ modelId: model, autonomyLevel: "low" });
    const told = await first.turn("The password is DOLPHIN-2288.");
    const id = first.sessionId();
    const { code } = await first.close();
    expect(first.level === "high" ? [143] : [0, 143]).toContain(code);

    const second = stage.fresh();
    const from = second.wire.received.length;
    const loaded = (await second.resume(id)) as unknown as Loaded & Payload;
    expect(loaded).toMatchObject({ cwd: bench.cwd, isAgentLoopInProgress: false });
    expect(loaded.settings).toMatchObject({ modelId: model, autonomyLevel: "low", interactionMode: "auto" });
    const { messages } = loaded.session;
    expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"]);
    expect(messages.map(({ parentId }) => parentId)).toEqual(["root", ...messages.slice(0, -1).map((each) => each.id)]);
    const notified = ofType(told, "create_message").map(({ message }) => message as (typeof messages)[number]);
    const kept = messages.filter(({ role }) => role !== "tool");
    expect(kept.slice(1)).toEqual(notified.slice(1));
    expect(kept[0]).toEqual({ ...notified[0], content: expect.any(Array) });
    expect(kept[0]?.content.at(-1)).toEqual(notified[0]?.content.at(-1));
    const reminders = kept[0]?.content.slice(0, -1).map(({ text }) => text) ?? [];
    for (const text of reminders) expect(text).toMatch(/^<system-reminder>[\s\S]*<\/system-reminder>$/);
    expect(messages[2]?.content).toMatchObject([
      { type: "tool_result", isError: false, content: expect.stringContaining("kept") },
    ]);
    const before = since(second.wire, from).map(({ type }) => type);
    expect(before.filter((type) => type === "settings_updated" || type === "session_title_updated").sort()).toEqual([
      "session_title_updated",
      "settings_updated",
    ]);
    expect((await second.turn("Which password?")).text).toBe("DOLPHIN-2288");
    await second.close();
  });

  test("a fork is independent, and a new title is sent and stored", async () => {
    const { client } = stage;
    await client.open({ modelId: "offline" });
    await client.turn("Remember code GRAPE-1122");
    const original = client.sessionId();
    const copy = await client.fork("A copy");
    expect(copy).not.toBe(original);
    expect((await client.turn("what code did I mention?")).text).toContain("GRAPE-1122");
    const from = client.wire.received.length;
    expect(await client.call("droid.rename_session", { title: "Grapes" })).toEqual({ success: true });
    expect(since(client.wire, from)).toMatchObject([{ type: "session_title_updated", title: "Grapes" }]);
    const count = async (id: string): Promise<number> =>
      ((await client.resume(id)) as unknown as Loaded).session.messages.length;
    expect([await count(original), await count(copy)]).toEqual([2, 4]);
    expect(
      since(client.wire, from)
        .filter(({ type }) => type === "session_title_updated")
        .at(-1),
    ).toMatchObject({
      title: "Grapes",
    });
  });

  test("a closed session is closed, can be loaded again, and another can be opened", async () => {
    const { client } = stage;
    await client.open({ modelId: "offline" });
    await client.turn("Just reply OK.");
    const id = client.sessionId();
    expect(await client.call("droid.close_session", { reason: "other" })).toEqual({});
    await expect(client.call("droid.add_user_message", { text: "hi" })).rejects.toMatchObject(noSession);
    expect(((await client.resume(id)) as unknown as Loaded).session.messages).toHaveLength(2);
    await client.open({ modelId: "offline" });
    expect((await client.turn("Just reply OK.")).text).toBe("OK");
  });
});
