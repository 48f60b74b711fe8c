import { describe, expect, test } from "vitest";
import { calls, says } from "../../../fakes/kit.ts";
import type { AskOptions } from "../../../fakes/rpc/linked-client.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { noticesIn, type Received } from "../../../fakes/rpc/wire.ts";
import type { ServeOptions } from "./served.ts";
import { serve } from "./served.ts";

const early: ServeOptions = { later: false };

const settingsOf = (response: Received): unknown => response.result?.settings;
const errorOf = ({ id, error }: Received): object => ({ id, ...error });

const earlySettings = (autonomyLevel: string): object => ({
  modelId: "fake",
  reasoningEffort: "none",
  autonomyLevel,
  specModeReasoningEffort: "none",
});

const laterSettings = (interactionMode: string, autonomyLevel: string, autonomyMode: string): object => ({
  modelId: "fake",
  reasoningEffort: "none",
  interactionMode,
  autonomyLevel,
  autonomyMode,
});

describe("the dialect", () => {
  test.each<[what: string, params: object, options: AskOptions, dialect: "early" | "later"]>([
    ["nothing", {}, {}, "early"],
    ["an old level word", { autonomyLevel: "auto-low" }, {}, "early"],
    ["the version", {}, { later: true }, "later"],
    ["the version with an old level word", { autonomyLevel: "auto-low" }, { later: true }, "later"],
    ["interactionMode", { interactionMode: "auto" }, {}, "later"],
    ["autonomyMode", { autonomyMode: "normal" }, {}, "later"],
    ["a new level word", { autonomyLevel: "off" }, {}, "later"],
  ])("is chosen by %s", async (_, params, options, dialect) => {
    const { client } = serve([], early);
    const answer = await client.request("droid.initialize_session", { machineId: "m", cwd: "/ws", ...params }, options);
    expect("interactionMode" in (settingsOf(answer) as object)).toBe(dialect === "later");
  });

  test("is the client's latest in any message", async () => {
    const { client, init } = serve([], early);
    expect(errorOf(await client.request("droid.nothing", {}))).toMatchObject({ id: null, code: -32600 });
    client.sendRaw(
      JSON.stringify({
        jsonrpc: "2.0",
        factoryApiVersion: "1.0.0",
        factoryProtocolVersion: "1.1.0",
        type: "notification",
        method: "droid.hello",
      }),
    );
    expect(errorOf(await client.request("droid.nothing", {}))).toMatchObject({ id: "r2", code: -32601 });
    expect(settingsOf(await init())).toEqual(laterSettings("auto", "off", "normal"));
  });

  test("is fixed by the first session, for this connection only", async () => {
    const first = serve([], early);
    const opened = await first.init();
    const again = await first.init({ interactionMode: "auto", autonomyLevel: "low" });
    expect(settingsOf(again)).toEqual(earlySettings("auto-low"));
    expect((await first.client.request("droid.nothing", {}, { later: true })).id).toBeNull();
    await first.client.request("droid.close_session", {});

    const second = serve([], { kit: first.kit });
    const loaded = await second.client.request("droid.load_session", { sessionId: opened.result?.sessionId });
    expect(settingsOf(loaded)).toEqual(laterSettings("spec", "off", "spec"));
  });

  test("is not fixed by a session that failed to open", async () => {
    const { client, init } = serve([], early);
    await client.request("droid.load_session", { sessionId: "nobody" });
    expect(settingsOf(await init({ interactionMode: "auto" }))).toEqual(laterSettings("auto", "off", "normal"));
  });
});

describe("the level", () => {
  const words: readonly [params: object, early: string, later: readonly [string, string, string]][] = [
    [{ autonomyLevel: "normal" }, "normal", ["auto", "off", "normal"]],
    [{ autonomyLevel: "auto-low" }, "auto-low", ["auto", "low", "auto-low"]],
    [{ autonomyLevel: "auto-medium" }, "auto-medium", ["auto", "medium", "auto-medium"]],
    [{ autonomyLevel: "auto-high" }, "auto-high", ["auto", "high", "auto-high"]],
    [{ autonomyLevel: "spec" }, "spec", ["spec", "off", "spec"]],
  ];

  test.each(words)("%o is understood by both, and answered in each vocabulary", async (params, old, later) => {
    expect(settingsOf(await serve([], early).init(params))).toEqual(earlySettings(old));
    expect(settingsOf(await serve([]).init(params))).toEqual(laterSettings(...later));
  });

  test.each<[params: object, settings: readonly [string, string, string]]>([
    [{ autonomyLevel: "off" }, ["auto", "off", "normal"]],
    [{ autonomyLevel: "low" }, ["auto", "low", "auto-low"]],
    [{ autonomyLevel: "medium" }, ["auto", "medium", "auto-medium"]],
    [{ autonomyLevel: "high" }, ["auto", "high", "auto-high"]],
    [{ autonomyMode: "auto-high" }, ["auto", "high", "auto-high"]],
    [{ autonomyMode: "spec" }, ["spec", "off", "spec"]],
    [{ interactionMode: "spec" }, ["spec", "off", "spec"]],
    [{ interactionMode: "spec", autonomyLevel: "high" }, ["spec", "high", "spec"]],
    [{ interactionMode: "auto", autonomyLevel: "low", autonomyMode: "spec" }, ["auto", "low", "auto-low"]],
  ])("%o sets it in the later dialect", async (params, expected) => {
    expect(settingsOf(await serve([]).init(params))).toEqual(laterSettings(...expected));
  });

  test("of an early connection's second session can use the other vocabulary", async () => {
    const { client, init } = serve([], early);
    expect(settingsOf(await init())).toEqual(earlySettings("spec"));
    for (const [level, word] of [
      ["off", "normal"],
      ["low", "auto-low"],
      ["high", "auto-high"],
    ] as const) {
      const params = { machineId: "m", cwd: "/ws", autonomyLevel: level };
      expect(settingsOf(await client.request("droid.initialize_session", params))).toEqual(earlySettings(word));
    }
  });

  test("of an early session can be changed with the other vocabulary", async () => {
    const { client, init } = serve([], early);
    await init({ autonomyLevel: "auto-low" });
    const from = client.mark;
    await client.request("droid.update_session_settings", { autonomyLevel: "high" });
    await client.request("droid.update_session_settings", { interactionMode: "spec" });
    await client.request("droid.update_session_settings", { autonomyMode: "normal" });
    const told = client.received.slice(from).map(({ params }) => params?.notification?.settings);
    expect(told.filter(Boolean)).toEqual(["auto-high", "spec", "normal"].map(earlySettings));
  });

  test.each<[defaults: object, early: string, later: readonly [string, string, string]]>([
    [{}, "spec", ["auto", "off", "normal"]],
    [{ autonomy: "medium" }, "auto-medium", ["auto", "medium", "auto-medium"]],
    [{ spec: true }, "spec", ["spec", "off", "spec"]],
    [{ spec: true, autonomy: "high" }, "spec", ["spec", "high", "spec"]],
  ])("defaults to the command line's %o, or the usual one", async (defaults, old, later) => {
    expect(settingsOf(await serve([], { ...early, defaults }).init())).toEqual(earlySettings(old));
    expect(settingsOf(await serve([], { defaults }).init())).toEqual(laterSettings(...later));
  });

  test("and all other client settings override the command line", async () => {
    const defaults = { autonomy: "high", specReasoningEffort: "low", appendSystemPrompt: "Be brief." } as const;
    const { init } = serve([], { defaults });
    const params = { autonomyLevel: "low", reasoningEffort: "high", specModeReasoningEffort: "max" };
    expect(settingsOf(await init(params))).toEqual({
      ...laterSettings("auto", "low", "auto-low"),
      reasoningEffort: "high",
      specModeReasoningEffort: "max",
      systemPrompt: { type: "preset", preset: "droid", append: "Be brief." },
    });
  });
});

describe("an approved plan", () => {
  const replies = [calls(["ExitSpecMode", { plan: "1. Do it", title: "Do it" }]), says("done")];
  const around = (first: string, second: string): string[] => [
    "state waiting_for_tool_confirmation",
    "request droid.request_permission",
    first,
    second,
    "state executing_tool",
    "tool_result",
    "state streaming_assistant_message",
  ];

  test.each([
    [early, { autonomyLevel: "spec" }, around("settings_updated", "permission_resolved"), earlySettings("auto-low")],
    [
      {},
      { interactionMode: "spec" },
      around("permission_resolved", "settings_updated"),
      laterSettings("auto", "low", "auto-low"),
    ],
  ])("is reported in the order of the dialect %o", async (options, params, story, settings) => {
    const { client, init, say } = serve(replies, options);
    await init(params);
    const from = client.mark;
    await say("plan it");
    const request = await client.asked();
    client.answer(request.id, { selectedOption: "proceed_auto_run_low" });
    await client.state("idle");
    const told = storyOf(client.received);
    const start = told.indexOf("state waiting_for_tool_confirmation");
    expect(told.slice(start, start + story.length)).toEqual(story);
    expect((await client.notice("settings_updated", from)).settings).toEqual(settings);
  });
});

describe("a session id chosen by the client", () => {
  test.each([early, {}])("is kept, and %o", async (options) => {
    const { client, init } = serve([], options);
    expect((await init({ sessionId: "my-session" })).result?.sessionId).toBe("my-session");
    await client.request("droid.close_session", {});
    const loaded = await client.request("droid.load_session", { sessionId: "my-session" });
    if (options === early) expect(errorOf(loaded)).toEqual({ id: "r3", code: -32004, message: "Session not found" });
    else expect(loaded.result?.session).toEqual({ messages: [] });
  });

  test("of an early client is found by a later one", async () => {
    const first = serve([], early);
    await first.init({ sessionId: "my-session" });
    first.client.end();
    await first.over;
    const second = serve([], { kit: first.kit });
    const loaded = await second.client.request("droid.load_session", { sessionId: "my-session" });
    expect(settingsOf(loaded)).toEqual(laterSettings("spec", "off", "spec"));
  });
});

describe("an early session", () => {
  test.each([
    ["off", "normal"],
    ["low", "auto-low"],
    ["medium", "auto-medium"],
    ["high", "auto-high"],
    ["normal", "normal"],
    ["auto-high", "auto-high"],
  ])("maps the level %s to %s, and leaves spec mode", async (word, level) => {
    const { client, init } = serve([], early);
    expect(settingsOf(await init())).toEqual(earlySettings("spec"));
    const from = client.mark;
    expect((await client.request("droid.update_session_settings", { autonomyLevel: word })).result).toEqual({});
    expect(noticesIn(client.received.slice(from))).toEqual([
      { type: "settings_updated", settings: earlySettings(level) },
    ]);
  });

  test.each([
    [{ interactionMode: "auto" }, "normal"],
    [{ autonomyMode: "auto-medium" }, "auto-medium"],
    [{ autonomyLevel: "low", interactionMode: "auto" }, "auto-low"],
  ])("accepts %j, words of the later one", async (change, level) => {
    const { client, init } = serve([], early);
    await init();
    const from = client.mark;
    await client.request("droid.update_session_settings", change);
    expect(noticesIn(client.received.slice(from))).toEqual([
      { type: "settings_updated", settings: earlySettings(level) },
    ]);
  });

  test.each([{ autonomyLevel: "spec" }, { interactionMode: "spec" }, { autonomyMode: "spec" }])(
    "returns to spec mode with %j",
    async (change) => {
      const { client, init } = serve([], early);
      await init({ autonomyLevel: "auto-low" });
      const from = client.mark;
      await client.request("droid.update_session_settings", change);
      expect(noticesIn(client.received.slice(from))).toEqual([
        { type: "settings_updated", settings: earlySettings("spec") },
      ]);
    },
  );
});

describe("a session under a client's own name", () => {
  const own = "my-session-1";

  test("is loaded in the later dialect by a connection that starts with that", async () => {
    const first = serve([], early);
    await first.init({ sessionId: own });
    await first.client.request("droid.close_session", {});
    const second = serve([], { ...early, kit: first.kit });
    const loaded = await second.client.request("droid.load_session", { sessionId: own });
    expect(settingsOf(loaded)).toEqual(laterSettings("spec", "off", "spec"));
    // From here on, the connection uses this dialect.
    expect(errorOf(await second.client.request("droid.nothing", {}))).toMatchObject({ id: "r2", code: -32601 });
  });

  test("is not found by a connection that started in the early dialect", async () => {
    const { client, init } = serve([], early);
    await init({ sessionId: own });
    await client.request("droid.close_session", {});
    expect(errorOf(await client.request("droid.load_session", { sessionId: own }))).toMatchObject({ code: -32004 });
  });

  test("is not found if unknown, and decides nothing", async () => {
    const { client, init } = serve([], early);
    expect(errorOf(await client.request("droid.load_session", { sessionId: own }))).toMatchObject({ code: -32004 });
    expect(settingsOf(await init())).toEqual(earlySettings("spec"));
  });
});
