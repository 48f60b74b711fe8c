import { mkdirSync, readFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, createBench } from "../../e2e/tinman.ts";
import { isAlive, until } from "../../sdk/fakes/stand-ins.ts";
import { alikeSources } from "./fakes/acp-suite.ts";
import { badBackend, badFolder } from "./fakes/bad-folders.ts";
import { chooses, choosesNothing, type Editor, openEditor, textOf, type Update } from "./fakes/raw-editor.ts";

/* The most frequent complaints about agents in editors, and mistakes of an earlier adapter for `droid`: not here. */

const execute = (command: string) => ({ name: "Execute", input: { command, riskLevel: "low" } });
const long = `printf '%s' "${"long ".repeat(200)}" > long.txt\ntouch second-line.txt`;
const replies = [
  { when: { user: "stream" }, times: "any", text: ["One", " word", " at", " a", " time."] },
  { when: { user: "slow" }, times: "any", text: ["Slow", " words"], chunk_delay_ms: 60_000 },
  { when: { user: "sleep" }, times: "any", tool_calls: [execute("echo $$ > pid; exec sleep 1000")] },
  {
    when: { user: "create" },
    times: "any",
    tool_calls: [{ name: "Create", input: { file_path: "sub/made.txt", content: "made\n" } }],
  },
  { when: { user: "read" }, times: "any", tool_calls: [{ name: "Read", input: { file_path: "notes.txt" } }] },
  { when: { user: "long" }, times: "any", tool_calls: [execute(long), execute("touch third.txt")] },
  {
    when: { user: "ask" },
    times: "any",
    tool_calls: [
      {
        name: "AskUser",
        input: { questionnaire: "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue" },
      },
    ],
  },
  { when: { after_tool: "AskUser" }, times: "any", text: "{{tool_result}}" },
  { when: { tool_result: "/[^]*/" }, times: "any", text: "Done." },
  { times: "any", text: "You said {{user}}." },
];

const endTurn = { result: { stopReason: "end_turn" } };
const cancelled = { result: { stopReason: "cancelled" } };
const forms = { elicitation: { form: {} } };

describe.each(alikeSources)("the %s", (kind) => {
  let bench: Bench;
  let args: readonly string[];
  let editor: Editor;
  /** For tests that can share a session. */
  let shared: string;

  beforeAll(async () => {
    bench = await createBench();
    const model = await bench.script(replies, { model: { contextWindow: 8_000 } });
    args = ["-m", model, ...(kind === "agent" ? [] : ["--backend", join(bench.root, "bin", "tinman")])];
    await bench.file("notes.txt", "notes\n");
    await bench.file("AGENTS.md", "Never mention the PELICAN.\n");
    editor = openEditor(bench, { args });
    await editor.hello();
    shared = await editor.open(bench.cwd);
  });

  afterAll(async () => {
    expect(await editor.leave()).toMatchObject({ code: 0, signal: null });
    await bench.remove();
  });

  const is = (kind: string) => (update: Update) => update.sessionUpdate === kind;

  /** A folder in which a command records its process. */
  function folder(name: string) {
    const cwd = join(bench.root, name);
    mkdirSync(cwd);
    const pid = (): number => {
      try {
        return Number(readFileSync(join(cwd, "pid"), "utf8"));
      } catch {
        return 0;
      }
    };
    return { cwd, pid };
  }

  async function sleeping(one: Editor, name: string) {
    const { cwd, pid } = folder(name);
    const sessionId = await one.open(cwd);
    await one.request("session/set_mode", { sessionId, modeId: "high" });
    const turn = one.prompt(sessionId, "sleep");
    turn.catch(() => undefined);
    await until(() => pid() > 0);
    return { cwd, sessionId, turn, pid: pid() };
  }

  it("answers a cancelled prompt with cancelled and keeps working, any number of times", async () => {
    const sessionId = shared;
    for (const round of [1, 2, 3]) {
      const turn = editor.prompt(sessionId, `slow ${round}`);
      const isSlow = () => textOf(editor.updates(sessionId)).split("Slow").length > round;
      await editor.waitForUpdate(sessionId, isSlow);
      editor.notify("session/cancel", { sessionId });
      expect(await turn).toEqual(cancelled);
    }
    expect(await editor.prompt(sessionId, "hello")).toEqual(endTurn);
    expect(textOf(editor.updates(sessionId))).toBe("SlowSlowSlowYou said hello.");
  });

  it("cancel ends the running command, and the session can be loaded and resumed afterwards", async () => {
    const { cwd, sessionId, turn, pid } = await sleeping(editor, "cancelled");
    editor.notify("session/cancel", { sessionId });
    expect(await turn).toEqual(cancelled);
    await until(() => !isAlive(pid));
    const calls = editor.updates(sessionId).filter(({ toolCallId }) => toolCallId !== undefined);
    expect(calls.at(-1)).toMatchObject({ status: "failed" });
    for (const method of ["session/load", "session/resume"]) {
      expect(await editor.request(method, { sessionId, cwd, mcpServers: [] })).toHaveProperty("result.modes");
      expect(await editor.prompt(sessionId, "hello")).toEqual(endTurn);
    }
  });

  it("loads tool calls with their titles, and nothing that was not part of the conversation", async () => {
    const sessionId = await editor.open(bench.cwd);
    await editor.prompt(sessionId, "read");
    await editor.request("session/close", { sessionId });
    const from = editor.updates(sessionId).length;
    await editor.request("session/load", { sessionId, cwd: bench.cwd, mcpServers: [] });
    const replayed = editor.updates(sessionId).slice(from);
    expect(replayed.slice(0, 4)).toEqual([
      { sessionUpdate: "user_message_chunk", messageId: expect.any(String), content: { type: "text", text: "read" } },
      expect.objectContaining({ sessionUpdate: "tool_call", title: "Read notes.txt", kind: "read" }),
      expect.objectContaining({ sessionUpdate: "tool_call_update", status: "completed" }),
      expect.objectContaining({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Done." } }),
    ]);
    expect(JSON.stringify(replayed)).not.toMatch(/system-reminder|PELICAN/);
  });

  it("offers the models as an option and in the old form, and both work", async () => {
    const { result } = await editor.request("session/new", { cwd: bench.cwd, mcpServers: [] });
    const { sessionId, configOptions, models } = result as {
      sessionId: string;
      configOptions: { id: string; category: string; currentValue: string; options: { value: string }[] }[];
      models: { currentModelId: string; availableModels: { modelId: string }[] };
    };
    const option = configOptions.find(({ category }) => category === "model");
    const values = option?.options.map(({ value }) => value) ?? [];
    expect(models).toMatchObject({ currentModelId: option?.currentValue });
    expect(models.availableModels.map(({ modelId }) => modelId)).toEqual(values);
    const [other] = values.filter((value) => value !== option?.currentValue);
    const chosen = await editor.request("session/set_config_option", { sessionId, configId: "model", value: other });
    expect(chosen.result?.configOptions).toContainEqual(expect.objectContaining({ id: "model", currentValue: other }));
    expect(await editor.request("session/set_model", { sessionId, modelId: other })).toEqual({ result: {} });
    expect(await editor.request("session/set_model", { sessionId, modelId: "no such" })).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("no such") },
    });
  });

  it("asks about every call before any runs, and shows each command whole", async () => {
    const { cwd } = folder("asked");
    const sessionId = await editor.open(cwd);
    const shown: string[] = [];
    const ran: string[] = [];
    editor.answers = ({ params }) => {
      shown.push(JSON.stringify((params.toolCall as Update).content));
      ran.push(...["long.txt", "third.txt"].filter((file) => exists(join(cwd, file))));
      return chooses("proceed_once");
    };
    expect(await editor.prompt(sessionId, "long")).toEqual(endTurn);
    editor.answers = () => undefined;
    expect(shown).toEqual(
      [long, "touch third.txt"].map((each) => expect.stringContaining(JSON.stringify(each).slice(1, -1))),
    );
    expect([ran, exists(join(cwd, "second-line.txt")), exists(join(cwd, "third.txt"))]).toEqual([[], true, true]);
  });

  it("passes questions on, and the turn ends with every kind of answer, and with none", async () => {
    const withForms = openEditor(bench, { args, capabilities: forms });
    await withForms.hello();
    const other = await withForms.open(bench.cwd);
    const form = { result: { action: "accept", content: { q1: "Blue" } } };
    for (const [one, answer, text] of [
      [editor, chooses("answer-2"), "[answer] Blue"],
      [editor, choosesNothing, "User cancelled"],
      [editor, { error: { code: -32601, message: "no" } }, "User cancelled"],
      [withForms, form, "[answer] Blue"],
      [withForms, { result: { action: "decline" } }, "User cancelled"],
      [withForms, { error: { code: -32601, message: "no" } }, "User cancelled"],
    ] as const) {
      const sessionId = one === editor ? shared : other;
      const from = one.updates(sessionId).length;
      one.answers = () => answer;
      expect(await one.prompt(sessionId, "ask")).toEqual(endTurn);
      one.answers = () => undefined;
      expect(textOf(one.updates(sessionId).slice(from))).toContain(text);
    }
    const methods = [editor, withForms].map(({ asked }) => asked.at(-1)?.method);
    expect(methods).toEqual(["session/request_permission", "elicitation/create"]);
    await withForms.leave();
  });

  it("exits when its input ends, with everything running, even after a cancel", async () => {
    const one = openEditor(bench, { args });
    await one.hello();
    const [first, second] = [await sleeping(one, "left-1"), await sleeping(one, "left-2")];
    one.notify("session/cancel", { sessionId: first.sessionId });
    expect(await first.turn).toEqual(cancelled);
    const { stdout } = await bench.shell(`ps -o pid= --ppid ${one.wire.pid}`);
    const children = stdout.trim().split(/\s+/).map(Number);
    expect(children.length).toBeGreaterThanOrEqual(kind === "agent" ? 1 : 2);
    expect(await one.leave()).toMatchObject({ code: 0, signal: null });
    await until(() => ![first.pid, second.pid, ...children].some(isAlive));
  });

  it("streams, reports window usage, and sends absolute paths, kinds and diffs", async () => {
    const { cwd } = folder("created");
    const sessionId = await editor.open(cwd);
    await editor.request("session/set_mode", { sessionId, modeId: "low" });
    expect([await editor.prompt(sessionId, "stream"), await editor.prompt(sessionId, "create")]).toEqual([
      endTurn,
      endTurn,
    ]);
    const updates = editor.updates(sessionId);
    expect(updates.filter(is("agent_message_chunk")).length).toBeGreaterThan(3);
    expect(await editor.waitForUpdate(sessionId, is("usage_update"))).toMatchObject({ size: 8_000 });
    const path = join(cwd, "sub/made.txt");
    const diff = { type: "diff", path, oldText: null, newText: "made\n" };
    expect(updates.find(is("tool_call"))).toMatchObject({ kind: "edit", locations: [{ path }], content: [diff] });
    expect(updates.filter(is("tool_call_update")).at(-1)).toMatchObject({ status: "completed", content: [diff] });
    const paths = [...JSON.stringify(updates).matchAll(/"path":"([^"]*)"/g)].map(([, each]) => each ?? "");
    expect(paths.filter((each) => !isAbsolute(each))).toEqual([]);
  });

  it("advertises its commands, whose output is visible and free", async () => {
    const sessionId = shared;
    const first = editor.updates(sessionId).length;
    const { availableCommands } = await editor.waitForUpdate(sessionId, is("available_commands_update"));
    const names = (availableCommands as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["status", "model", "mode"]));
    for (const name of ["status", "model", "mode", "tools"]) {
      const from = editor.updates(sessionId).length;
      expect(await editor.prompt(sessionId, `/${name}`)).toEqual(endTurn);
      expect(textOf(editor.updates(sessionId).slice(from))).not.toBe("");
    }
    expect(textOf(editor.updates(sessionId).slice(first))).not.toContain("You said");
  });

  it("reports a fault in a folder or session at once", async () => {
    const missing = join(bench.root, "missing");
    for (const [cwd, words] of [
      [missing, `The folder ${missing} does not exist.`],
      ["relative", "absolute"],
      [join(bench.cwd, "notes.txt"), "is not a folder"],
    ]) {
      const answer = await editor.request("session/new", { cwd, mcpServers: [] });
      expect(answer).toMatchObject({ error: { code: -32602, message: expect.stringContaining(words ?? "") } });
    }
    for (const [method, more] of [
      ["session/prompt", { prompt: [] }],
      ["session/load", { cwd: bench.cwd, mcpServers: [] }],
      ["session/set_mode", { modeId: "low" }],
    ] as const) {
      const answer = await editor.request(method, { sessionId: "no-such-session", ...more });
      expect(answer, method).toMatchObject({
        error: { code: -32002, message: expect.stringContaining("no-such-session") },
      });
    }
  });
});

it("the adapter notices a backend that ends before it is ready", async () => {
  const bench = await createBench();
  const { cwd } = badFolder(bench.root, "ends", "dies:open");
  const editor = openEditor(bench, { args: ["--backend", badBackend] });
  await editor.hello();
  const answer = await editor.request("session/new", { cwd, mcpServers: [] });
  expect(answer).toMatchObject({ error: { message: expect.stringContaining("last words of open") } });
  await editor.leave();
  await bench.remove();
});

function exists(path: string): boolean {
  try {
    return readFileSync(path) !== undefined;
  } catch {
    return false;
  }
}
