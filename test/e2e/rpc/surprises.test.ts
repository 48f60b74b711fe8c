import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Notice, Received, Wire } from "../../fakes/rpc/wire.ts";
import { noticesIn } from "../../fakes/rpc/wire.ts";
import { type Bench, createBench } from "../tinman.ts";
import { dialects, execute, lasting, logOf, open, openDialect, pidIn, prompt, turn } from "./raw-client.ts";

/** Faults seen in `droid exec`. Each test shows that we don't have it. (How the process ends: lifecycle.test.ts.) */

let bench: Bench;
let wire: Wire;
/** The position where a test's messages start. */
let from: number;
beforeAll(async () => {
  bench = await createBench();
  wire = openDialect(bench, "later");
});
beforeEach(() => {
  from = wire.received.length;
});
afterAll(async () => {
  wire.eof();
  const { code, stderr } = await wire.exit().finally(() => bench.remove());
  // Retries also notify people, and nothing else does.
  expect([code, stderr.split("\n").filter((line) => !line.includes("Trying again"))]).toEqual([0, [""]]);
});

const harmless = (command: string): object => execute(command, { riskLevel: "low" });
const plan = { tool_calls: [{ name: "ExitSpecMode", input: { plan: "1. Do it." } }] };
const scripted = async (replies: readonly object[], params: object = {}): Promise<string> =>
  open(wire, bench, { modelId: await bench.script(replies), ...params });
const of = (notices: readonly Notice[], type: string): readonly Notice[] =>
  notices.filter((each) => each.type === type);
const said = (notices: readonly Notice[]): string =>
  notices.flatMap(({ textDelta }) => (textDelta === undefined ? [] : [textDelta])).join("");
const asked = (messages: readonly Received[]): readonly Received[] => messages.filter(({ type }) => type === "request");
const reasons = (notices: readonly Notice[]): readonly unknown[] =>
  of(notices, "agent_turn_completed").map(({ reason }) => reason);
const request = (): Promise<Received> => wire.waitFor(({ type }) => type === "request", "a request", from);
const idle = (): Promise<Notice> => wire.waitForNotice("droid_working_state_changed", from, { newState: "idle" });
const textOf = (message: unknown): string =>
  (message as { content: { text?: string }[] }).content.map(({ text }) => text ?? "").join("");

describe("one session at a time", () => {
  test("a second initialize_session starts empty: the model gets nothing of the session before", async () => {
    const modelId = await bench.script([
      { when: { contains: "PELICAN" }, text: "I know of PELICAN.", times: "any" },
      { text: "I know of nothing.", times: "any" },
    ]);
    await open(wire, bench, { modelId });
    expect(said(await turn(wire, "The word is PELICAN."))).toBe("I know of PELICAN.");
    await open(wire, bench, { modelId });
    const next = await turn(wire, "What is the word?");
    expect(said(next)).toBe("I know of nothing.");
    expect(of(next, "create_message")[0]).toMatchObject({ message: { role: "user", parentId: "root" } });
  });

  test("in the middle of a turn it first ends that turn, which stays in its own session", async () => {
    const first = await scripted([{ text: Array.from({ length: 500 }, (_, at) => `w${at} `), chunk_delay_ms: 20 }]);
    await prompt(wire, "go");
    await wire.waitForNotice("assistant_text_delta", from);
    const second = await scripted([{ text: "Clean." }]);
    const opened = wire.received.length;
    const ofFirst = noticesIn(wire.received.slice(from));
    expect(reasons(ofFirst)).toEqual(["cancelled"]);
    expect(said(await turn(wire, "hi"))).toBe("Clean.");
    expect(reasons(noticesIn(wire.received.slice(opened)))).toEqual(["completed"]);
    const ended = async (id: string) => (await logOf(bench, id)).filter(({ type }) => type === "turn.ended");
    expect([await ended(first), await ended(second)]).toMatchObject([
      [{ reason: "interrupted" }],
      [{ reason: "completed" }],
    ]);
  });

  test("a fork is a copy: the process stays in its session, and the copy does not grow", async () => {
    const sessionId = await scripted([{ text: "One." }, { text: "Two." }]);
    await turn(wire, "first");
    const { result } = await wire.request("droid.fork_session", { title: "a copy" });
    const copy = await logOf(bench, String(result?.newSessionId));
    const length = (await logOf(bench, sessionId)).length;
    const second = await turn(wire, "second");
    expect(of(second, "session_token_usage_changed").at(-1)).toMatchObject({ sessionId });
    expect((await logOf(bench, sessionId)).length).toBeGreaterThan(length);
    expect(await logOf(bench, String(result?.newSessionId))).toEqual(copy);
  });

  test("a session id is not a path", async () => {
    const folders = async (): Promise<readonly string[]> => (await readdir(bench.root, { recursive: true })).sort();
    await open(wire, bench);
    const before = await folders();
    for (const sessionId of ["../evil", "..", "a/b", "/etc/evil", "a\\b", "a\u0000b", "x".repeat(300), "con\n"]) {
      const { error } = await wire.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd, sessionId });
      expect([sessionId, error]).toMatchObject([sessionId, { code: -32602 }]);
    }
    expect(await folders()).toEqual(before);
  });
});

describe.each(dialects)("one answer to a request, in the %s dialect", (dialect) => {
  test("that comes too early, or has an invalid image", async () => {
    const other = openDialect(bench, dialect);
    const image = { type: "base64", mediaType: "image/png", data: "no picture at all" };
    const early = await other.request("droid.add_user_message", { text: "x" }, { id: "early" });
    expect(early.error).toMatchObject({ code: -32603, message: expect.stringContaining("No active session") });
    await open(other, bench, {
      modelId: await bench.script([{ text: "x", times: "any" }], { model: { images: true } }),
    });
    other.send({
      ...other.sent.at(-1),
      id: "broken",
      method: "droid.add_user_message",
      params: { text: "x", images: [image] },
    });
    await turn(other, "after it");
    other.eof();
    await other.exit();
    const answers = (id: string): readonly Received[] =>
      other.received.filter((message) => message.type === "response" && (message.id === id || isAbout(message, id)));
    expect([answers("early").length, answers("broken").length]).toEqual([1, 1]);
    expect(answers("broken")[0]?.error).toBeDefined();
    expect(reasons(noticesIn(other.received))).toEqual(["completed"]);
  });
});

function isAbout({ error }: Received, id: string): boolean {
  return (error?.data as { requestId?: string } | undefined)?.requestId === id;
}

describe("permissions", () => {
  test.each([
    ["low", "rm -rf zzz", "high"],
    ["low", "git push", "high"],
    ["off", "ls > listing.txt", "low"],
    ["off", "touch made.txt", "low"],
  ])("at level %s, asks for %j, whatever risk the model names", async (autonomyLevel, command, impactLevel) => {
    await scripted([harmless(command)], { autonomyLevel });
    await prompt(wire, "go");
    const { params, ...asking } = await request();
    expect(params?.toolUses).toMatchObject([{ details: { fullCommand: command, impactLevel } }]);
    wire.answer(asking, { selectedOption: "cancel" });
    await idle();
    expect([existsSync(join(bench.cwd, "listing.txt")), existsSync(join(bench.cwd, "made.txt"))]).toEqual([
      false,
      false,
    ]);
  });

  test.each([{ interactionMode: "spec", autonomyLevel: "high" }, { autonomyMode: "spec" }, { autonomyLevel: "spec" }])(
    "spec mode changes nothing at any level: %j",
    async (params) => {
      await scripted([harmless("touch planned.txt"), { text: "I may not." }], params);
      const notices = await turn(wire, "go");
      expect([said(notices), asked(wire.received.slice(from))]).toEqual(["I may not.", []]);
      expect(of(notices, "tool_result")).toMatchObject([
        { isError: true, content: expect.stringMatching(/spec mode/i) },
      ]);
      expect(existsSync(join(bench.cwd, "planned.txt"))).toBe(false);
    },
  );

  test("an answer sent after an interrupt is too late, whatever happens before both", async () => {
    await scripted([harmless("touch too-late.txt")]);
    await prompt(wire, "go");
    const asking = await request();
    const { params: _, ...envelope } = wire.sent.at(-1) ?? {};
    for (const method of ["fork_session", "interrupt_session"]) {
      wire.send({ ...envelope, id: method, method: `droid.${method}`, params: {} });
    }
    wire.answer(asking, { selectedOption: "proceed_once" });
    await idle();
    const notices = noticesIn(wire.received.slice(from));
    expect(of(notices, "permission_resolved")).toMatchObject([{ requestId: asking.id, selectedOption: "cancel" }]);
    expect([reasons(notices), existsSync(join(bench.cwd, "too-late.txt"))]).toEqual([["cancelled"], false]);
  });

  test("while an approved command runs, the state says so", async () => {
    await scripted([harmless(lasting("pid-approved", "touch it;"))]);
    await prompt(wire, "go");
    wire.answer(await request(), { selectedOption: "proceed_once" });
    await pidIn(bench, "pid-approved");
    const states = of(noticesIn(wire.received.slice(from)), "droid_working_state_changed");
    expect(states.map(({ newState }) => newState).slice(-3)).toEqual([
      "executing_tool",
      "waiting_for_tool_confirmation",
      "executing_tool",
    ]);
    await wire.request("droid.interrupt_session", {});
    await idle();
  });

  test.each([
    ["proceed_always", { interactionMode: "spec", autonomyLevel: "off" }],
    ["proceed_auto_run_high", { interactionMode: "auto", autonomyLevel: "high" }],
  ])("the answer %s to a plan sets no effort that the model lacks", async (selectedOption, mode) => {
    const sessionId = await scripted([plan, { text: "Done." }], { interactionMode: "spec" });
    const opened = wire.received.length;
    await prompt(wire, "plan it");
    wire.answer(await request(), { selectedOption });
    await idle();
    const changes = of(noticesIn(wire.received.slice(opened)), "settings_updated").map(({ settings }) => settings);
    expect(changes).toMatchObject(mode.interactionMode === "auto" ? [{ ...mode, reasoningEffort: "none" }] : []);
    const { result } = await wire.request("droid.load_session", { sessionId });
    expect(result?.settings).toMatchObject({ ...mode, reasoningEffort: "none" });
  });
});

describe("model behaviour", () => {
  test("an empty reply does not end the turn silently", async () => {
    await scripted([{ empty: true, times: "any" }]);
    const notices = await turn(wire, "go");
    expect(of(notices, "error")).toMatchObject([{ message: expect.stringMatching(/\S/) }]);
    expect(reasons(notices)).toEqual(["error"]);
    await scripted([{ empty: true }, { text: "Here I am." }]);
    expect(said(await turn(wire, "go"))).toBe("Here I am.");
  });

  test("reports every retry, with its reason", async () => {
    const fault = { status: 500, message: "oops", retry_after_ms: 1 };
    await scripted([{ error: fault }, { error: { ...fault, status: 429 } }, { text: "At last." }]);
    const notices = await turn(wire, "go");
    expect(of(notices, "llm_retry")).toMatchObject([{ attempt: 1 }, { attempt: 2, reason: "rate_limited" }]);
    expect([said(notices), reasons(notices)]).toEqual(["At last.", ["completed"]]);
  });

  test("after truncation, a block's deltas still add up to its message", async () => {
    await scripted([{ text: ["partial ", "text, "], error: "cut" }, { text: ["and ", "the rest"] }]);
    const notices = await turn(wire, "go");
    const deltas = new Map<string, string>();
    for (const { messageId, blockIndex, textDelta } of of(notices, "assistant_text_delta")) {
      const key = `${messageId} ${blockIndex}`;
      deltas.set(key, `${deltas.get(key) ?? ""}${textDelta}`);
    }
    const messages = of(notices, "create_message").map(
      ({ message }) => message as { role: string; id: string; content: { text: string }[] },
    );
    const blocks = messages
      .filter(({ role }) => role === "assistant")
      .flatMap(({ id, content }) => content.map(({ text }, at) => [`${id} ${at}`, text] as const));
    expect([...deltas]).toEqual(blocks);
    expect(said(notices)).toContain("the rest");
  });

  test("text from before an interrupt is sent and stored", async () => {
    const sessionId = await scripted([{ text: Array.from({ length: 500 }, (_, at) => `w${at} `), chunk_delay_ms: 10 }]);
    await prompt(wire, "go");
    await wire.waitFor((message) => noticesIn([message])[0]?.textDelta === "w3 ", "some words", from);
    await wire.request("droid.interrupt_session", {});
    await idle();
    const told = of(noticesIn(wire.received.slice(from)), "create_message").map(({ message }) => message);
    expect(textOf(told.at(-1))).toMatch(/^w0 w1 w2 w3 /);
    const other = openDialect(bench, "later");
    await open(wire, bench);
    const { result } = await other.request("droid.load_session", { sessionId });
    const kept = result?.session as { messages: unknown[] } | undefined;
    expect(kept?.messages.at(-1)).toEqual(told.at(-1));
    other.eof();
    await other.exit();
  });
});

describe("tools", () => {
  test("accepts a line of 3 million characters", async () => {
    await scripted([harmless("head -c 3000000 /dev/zero | tr '\\0' x"), { text: "Seen." }], { autonomyLevel: "high" });
    await prompt(wire, "go");
    await wire.waitForNotice("droid_working_state_changed", from, { newState: "executing_tool" });
    expect((await wire.request("droid.list_skills", {})).result).toEqual({ skills: [] });
    await idle();
    const notices = noticesIn(wire.received.slice(from));
    expect(of(notices, "tool_result")).toMatchObject([{ isError: false, content: expect.stringContaining("xxx") }]);
    expect([said(notices), String(of(notices, "tool_result")[0]?.content).length < 200_000]).toEqual(["Seen.", true]);
  });

  test("missing files and timeouts are errors", async () => {
    const calls = [
      { name: "Teleport", input: {} },
      { name: "Execute", input: { command: "sleep 20", timeout: 1 } },
    ];
    await scripted([{ tool_calls: calls }, { text: "I see." }], { autonomyLevel: "high" });
    const notices = await turn(wire, "go");
    expect(of(notices, "tool_result")).toMatchObject([
      { isError: true, content: expect.stringContaining("Teleport") },
      { isError: true, content: expect.stringContaining("timed out") },
    ]);
  });
});

describe("settings from a client or the command line take effect", () => {
  const touching = (name: string): readonly object[] => [
    harmless(`touch ${name}; rm ${name}; echo > ${name}`),
    { text: "Done." },
  ];

  test.each(dialects)("--model, --auto and --cwd, in the %s dialect", async (dialect) => {
    const modelId = await bench.script([harmless("echo here > by-flags.txt; sh -c true"), { text: "By flags." }]);
    await bench.file(`${dialect}/x`, "");
    const args = ["--model", modelId, "--auto", "high", "--cwd", join(bench.cwd, dialect)];
    const other = openDialect(bench, dialect, { args });
    const { result } = await other.request("droid.initialize_session", { machineId: "m" });
    const level = dialect === "early" ? "auto-high" : "high";
    expect(result?.settings).toMatchObject({ modelId, autonomyLevel: level });
    expect(said(await turn(other, "go"))).toBe("By flags.");
    other.eof();
    await other.exit();
    expect([await bench.read(`${dialect}/by-flags.txt`), asked(other.received)]).toEqual(["here\n", []]);
  });

  test("skipPermissionsUnsafe, and the option with that name", async () => {
    await scripted(touching("unsafe-1.txt"), { skipPermissionsUnsafe: true });
    expect(said(await turn(wire, "go"))).toBe("Done.");
    const other = openDialect(bench, "later", { args: ["--skip-permissions-unsafe"] });
    await open(other, bench, { modelId: await bench.script(touching("unsafe-2.txt")) });
    expect(said(await turn(other, "go"))).toBe("Done.");
    other.eof();
    await other.exit();
    expect([...asked(wire.received.slice(from)), ...asked(other.received)]).toEqual([]);
    expect(existsSync(join(bench.cwd, "unsafe-1.txt")) && existsSync(join(bench.cwd, "unsafe-2.txt"))).toBe(true);
  });

  test.each([{ disabledToolIds: ["execute-cli"] }, { restrictToolIds: ["Read"] }])(
    "tool filters: %j",
    async (filter) => {
      await scripted([harmless("pwd"), { text: "Not mine." }], { autonomyLevel: "high", ...filter });
      const notices = await turn(wire, "go");
      expect(of(notices, "tool_result")).toMatchObject([
        { isError: true, content: expect.stringContaining("Execute") },
      ]);
    },
  );

  test("named servers are used, and reported as failed if that is impossible", async () => {
    await open(wire, bench, { mcpServers: [{ name: "files", command: "files-server" }] });
    const isFailed = ({ params }: Received): boolean =>
      JSON.stringify(params?.notification?.summary ?? {}).includes('"failed":1');
    const [status] = noticesIn([await wire.waitFor(isFailed, "a failed server", from)]);
    expect(status).toMatchObject({
      servers: [{ name: "files", status: "failed", error: expect.stringMatching(/\S/) }],
      summary: { total: 1, connected: 0, failed: 1 },
    });
  });
});
