import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Notice, Received, Wire } from "../../fakes/rpc/wire.ts";
import { isFullRun } from "../../full-run.ts";
import { type Bench, createBench } from "../tinman.ts";
import { dialects, logOf, open, openDialect, prompt, turn } from "./raw-client.ts";

/** Mistakes that clients have made, and what happens. */

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const notFound = { code: -32004, message: "Session not found" };
const said = (notices: readonly Notice[]): string =>
  notices.flatMap(({ textDelta }) => (textDelta === undefined ? [] : [textDelta])).join("");
const rolesIn = ({ result }: Received): readonly unknown[] =>
  ((result?.session ?? {}) as { messages?: { role: unknown }[] }).messages?.map(({ role }) => role) ?? [];
const load = (wire: Wire, sessionId: string): Promise<Received> => wire.request("droid.load_session", { sessionId });
const end = async (wire: Wire): Promise<void> => {
  wire.eof();
  expect(await wire.exit()).toEqual({ code: 0, signal: null, stderr: "" });
};

describe.each(dialects)("in the %s dialect", (dialect) => {
  const offline = { modelId: "offline" };
  const told = async (wire: Wire, params: object = {}): Promise<string> => {
    const sessionId = await open(wire, bench, { ...offline, ...params });
    await turn(wire, "The password is DOLPHIN-2288. Just reply OK.");
    return sessionId;
  };
  const question = "What password did I tell you? Reply ONLY the password.";

  test("initialize_session accepts a client's own id; whether load_session finds it depends on the dialect", async () => {
    const sessionId = `my-session-${dialect}`;
    const wire = openDialect(bench, dialect);
    expect(await told(wire, { sessionId })).toBe(sessionId);
    const itself = await load(wire, sessionId);
    // Whatever the response, the process still works with it.
    expect(said(await turn(wire, question))).toContain("DOLPHIN-2288");
    await end(wire);
    const next = openDialect(bench, dialect);
    const loaded = await load(next, sessionId);
    if (dialect === "early") expect(itself.error).toEqual(notFound);
    else expect(rolesIn(itself)).toEqual(["user", "assistant"]);
    // A connection that starts with it speaks the dialect that finds it.
    expect(rolesIn(loaded)).toEqual(["user", "assistant", "user", "assistant"]);
    expect(said(await turn(next, question))).toContain("DOLPHIN-2288");
    await end(next);
    // The name is taken now.
    const third = openDialect(bench, dialect);
    expect(await open(third, bench, { sessionId })).toMatch(uuid);
    await end(third);
  });

  test("unknown values change nothing", async () => {
    const wire = openDialect(bench, dialect);
    const sessionId = await open(wire, bench, offline);
    const before = (await load(wire, sessionId)).result?.settings;
    const from = wire.received.length;
    const bad = [
      { autonomyLevel: "bogus-level" },
      { reasoningEffort: "very" },
      { modelId: 7 },
      { interactionMode: "agi" },
    ];
    for (const [at, params] of bad.entries()) {
      const id = `bad-${at}`;
      wire.send({ ...wire.sent.at(-1), id, method: "droid.update_session_settings", params });
      const isAnswer = (message: Received): boolean =>
        message.id === id || (message.error?.data as { requestId?: string } | undefined)?.requestId === id;
      const { id: answered, error } = await wire.waitFor(isAnswer, id, from);
      expect([params, answered, error]).toMatchObject(
        dialect === "early"
          ? [params, null, { code: -32600, message: "Invalid request format" }]
          : [params, id, { code: -32602, message: expect.stringContaining(Object.keys(params)[0] ?? "") }],
      );
    }
    const unknown = await wire.request("droid.update_session_settings", { modelId: "no-such-model" });
    expect(unknown.error).toMatchObject({ code: -32602, message: expect.stringContaining("no-such-model") });
    expect((await load(wire, sessionId)).result?.settings).toEqual(before);
    expect(wire.received.slice(from).filter(({ type }) => type === "notification")).toEqual([]);
    await end(wire);
  });

  describe("answers to a question", () => {
    let wire: Wire;
    beforeAll(() => {
      wire = openDialect(bench, dialect);
    });
    afterAll(() => end(wire));

    const questionnaire = [
      "1. [question] Which color do you want?\n[topic] Color\n[option] Red\n[option] Blue",
      "2. [question] Which size?\n[topic] Size\n[option] S\n[option] L",
    ].join("\n\n");
    const color = "1. [question] Which color do you want?\n[answer] Red";
    const both = `${color}\n\n2. [question] Which size?\n[answer] L`;
    const objects = [
      { index: 1, question: "Which color do you want?", answer: "Red" },
      { index: 2, question: "Which size?", answer: "L" },
    ];
    const answered = { isError: false, content: both };
    const refused = { isError: true, content: expect.stringMatching(/\S/) };

    test.each<[string, object, object]>([
      ["objects", { result: { cancelled: false, answers: objects } }, answered],
      ["objects in another order", { result: { cancelled: false, answers: [...objects].reverse() } }, answered],
      ["plain strings, in order", { result: { cancelled: false, answers: ["Red", "L"] } }, answered],
      ["plain strings without the key cancelled", { result: { answers: ["Red", "L"] } }, answered],
      ["too few", { result: { cancelled: false, answers: ["Red"] } }, refused],
      ["none", { result: { cancelled: false, answers: [] } }, refused],
      ["numbers", { result: { cancelled: false, answers: [1, 2] } }, refused],
      ["null", { result: null }, refused],
      ["a text", { result: "Red" }, refused],
      ["an empty result", {}, refused],
      ["an answer to a permission", { result: { selectedOption: "proceed_once" } }, refused],
      ["an error", { error: { code: -32603, message: "no window" } }, refused],
      ["cancelled", { result: { cancelled: true, answers: [] } }, refused],
    ])("%s: the turn continues, and the model reads what arrived", async (_, answer, wanted) => {
      const call = { tool_calls: [{ name: "AskUser", input: { questionnaire } }] };
      await open(wire, bench, { modelId: await bench.script([call, { text: "I go on." }]) });
      const from = wire.received.length;
      await prompt(wire, "ask me");
      const { id } = await wire.waitFor(({ method }) => method === "droid.ask_user", "a question", from);
      const { params: __, method: ___, ...envelope } = wire.sent.at(-1) ?? {};
      wire.send({ ...envelope, type: "response", id, ...answer });
      await wire.waitForNotice("droid_working_state_changed", from, { newState: "idle" });
      const notices = wire.received.slice(from).flatMap(({ params }) => params?.notification ?? []);
      expect(notices.filter(({ type }) => type === "tool_result")).toMatchObject([wanted]);
      expect(said(notices)).toBe("I go on.");
      expect(notices.filter(({ type }) => type === "agent_turn_completed")).toMatchObject([{ reason: "completed" }]);
    });
  });

  // The same in both dialects: the short run tries it in the later one.
  if (dialect === "early" && !isFullRun) return;

  test("initialize_session with an old session's id opens an empty session under another id, and keeps the old one", async () => {
    const first = openDialect(bench, dialect);
    const old = await told(first);
    await end(first);
    const before = await logOf(bench, old);
    const wire = openDialect(bench, dialect);
    const opened = await wire.request("droid.initialize_session", {
      machineId: "m",
      cwd: bench.cwd,
      ...offline,
      sessionId: old,
    });
    expect([opened.result?.sessionId === old, opened.result?.session]).toEqual([false, { messages: [] }]);
    expect(opened.result?.sessionId).toMatch(uuid);
    expect(said(await turn(wire, question))).not.toContain("DOLPHIN");
    expect(await logOf(bench, old)).toEqual(before);
    // The right way, in the same process.
    expect(rolesIn(await load(wire, old))).toEqual(["user", "assistant"]);
    expect(said(await turn(wire, question))).toContain("DOLPHIN-2288");
    await end(wire);
  });

  test("the same with the id of this process's current session", async () => {
    const wire = openDialect(bench, dialect);
    const old = await told(wire);
    const next = await open(wire, bench, { ...offline, sessionId: old });
    expect([next === old, uuid.test(next)]).toEqual([false, true]);
    expect(said(await turn(wire, question))).not.toContain("DOLPHIN");
    expect(rolesIn(await load(wire, old))).toEqual(["user", "assistant"]);
    await end(wire);
  });

  test("an unknown id leaves the current session", async () => {
    const wire = openDialect(bench, dialect);
    await told(wire);
    for (const sessionId of ["00000000-0000-4000-8000-000000000000", "", "../../etc/passwd", "a\u0000b"]) {
      expect([sessionId, (await load(wire, sessionId)).error]).toEqual([sessionId, notFound]);
    }
    expect(said(await turn(wire, question))).toContain("DOLPHIN-2288");
    await end(wire);
  });

  test("load_session alone, from another folder, is enough", async () => {
    const first = openDialect(bench, dialect);
    const old = await told(first);
    await end(first);
    const wire = openDialect(bench, dialect, { cwd: bench.home });
    const loaded = await load(wire, old);
    expect([rolesIn(loaded), loaded.result?.cwd]).toEqual([["user", "assistant"], bench.cwd]);
    expect(said(await turn(wire, question))).toContain("DOLPHIN-2288");
    await end(wire);
    const textMode = await bench.tinman(["exec", "-s", old, question]);
    expect([textMode.code, textMode.stdout]).toEqual([0, expect.stringContaining("DOLPHIN-2288")]);
  });

  test("everything that needs a session reports that there is none", async () => {
    const wire = openDialect(bench, dialect);
    const calls: readonly (readonly [string, object])[] = [
      ["add_user_message", { text: "x" }],
      ["update_session_settings", {}],
      ["rename_session", { title: "x" }],
      ["fork_session", {}],
      ["close_session", {}],
      ["get_context_stats", {}],
    ];
    for (const [method, params] of calls) {
      const { error } = await wire.request(`droid.${method}`, params);
      expect([method, error]).toEqual([
        method,
        { code: -32603, message: "No active session. Call initialize_session or load_session first." },
      ]);
    }
    await end(wire);
  });
});

test("either dialect opens a session that the other created, in its own vocabulary", async () => {
  const early = openDialect(bench, "early");
  const sessionId = await open(early, bench, { autonomyLevel: "auto-medium", modelId: "offline" });
  await turn(early, "Just reply OK.");
  await end(early);
  const later = openDialect(bench, "later");
  expect((await load(later, sessionId)).result?.settings).toMatchObject({
    interactionMode: "auto",
    autonomyLevel: "medium",
    autonomyMode: "auto-medium",
  });
  await later.request("droid.update_session_settings", { interactionMode: "spec" });
  await end(later);
  const again = openDialect(bench, "early");
  expect((await load(again, sessionId)).result?.settings).toEqual({
    modelId: "offline",
    reasoningEffort: "none",
    autonomyLevel: "spec",
    specModeReasoningEffort: "none",
  });
  await end(again);
});
