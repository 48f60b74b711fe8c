import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, createBench } from "../../../e2e/tinman.ts";
import { isFullRun } from "../../../full-run.ts";
import { until } from "../../../sdk/fakes/stand-ins.ts";
import { badBackend, badFolder } from "../fakes/bad-folders.ts";
import { chooses, choosesNothing, type Editor, openEditor, textOf } from "../fakes/raw-editor.ts";

/* One adapter with a misbehaving backend per session. No session suffers from another's. */

let bench: Bench;
let editor: Editor;

beforeAll(async () => {
  bench = await createBench();
  editor = openEditor(bench, { args: ["--backend", badBackend], capabilities: { session: { notices: {} } } });
  await editor.hello();
});

afterAll(async () => {
  expect(await editor.leave()).toMatchObject({ code: 0, signal: null });
  await bench.remove();
});

const folder = (name: string, ...lives: readonly string[]) => badFolder(bench.root, name, ...lives);
const endTurn = { result: { stopReason: "end_turn" } };
const cancelled = { result: { stopReason: "cancelled" } };

const gone = (step: string) => ({
  error: {
    code: -32603,
    message: expect.stringContaining(`last words of ${step}`),
    data: { code: "backend_gone", exitCode: 3, signal: null, stderr: `last words of ${step}\n` },
  },
});

describe("a backend that dies", () => {
  it.each(["start", "open"])("before its session opens (%s) is reported with its last message", async (step) => {
    const { cwd, lives } = folder(`new-${step}`, `dies:${step}`, "good");
    expect(await editor.request("session/new", { cwd, mcpServers: [] })).toEqual(gone(step));
    const sessionId = await editor.open(cwd);
    expect([await editor.prompt(sessionId, "go"), lives()]).toEqual([endTurn, 2]);
  });

  it("while a session loads is reported with its last message", async () => {
    const { cwd } = folder("load", "dies:open", "good");
    const wanted = { sessionId: "of-load", cwd, mcpServers: [] };
    expect(await editor.request("session/load", wanted)).toEqual(gone("open"));
    expect(await editor.request("session/load", wanted)).toHaveProperty("result.modes");
    expect(await editor.prompt("of-load", "go")).toEqual(endTurn);
  });

  it("in a turn fails it, and the next prompt restarts it", async () => {
    const { cwd, lives, heard } = folder("turn", "dies:turn", "good");
    const sessionId = await editor.open(cwd);
    expect(await editor.prompt(sessionId, "go")).toEqual(gone("turn"));
    expect(heard("load_session")).toBe(false);
    expect(await editor.prompt(sessionId, "again")).toEqual(endTurn);
    expect([lives(), heard("load_session")]).toEqual([2, true]);
    expect(textOf(editor.updates(sessionId))).toBe("LifeLife 1.");
  });

  it.each(["opened", "idle"])("while idle (%s) is reported, and restarted by the next prompt", async (step) => {
    const { cwd, lives } = folder(`idle-${step}`, `dies:${step}`, "good");
    const sessionId = await editor.open(cwd);
    if (step === "idle") expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
    const notice = await editor.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "notice");
    expect(notice).toEqual({
      sessionUpdate: "notice",
      severity: "error",
      title: expect.stringContaining("ended with exit code 3. The next prompt starts it again."),
      description: `last words of ${step}`,
    });
    expect([await editor.prompt(sessionId, "again"), lives()]).toEqual([endTurn, 2]);
  });

  it("is restarted once for simultaneous prompts, and each is answered", async () => {
    const { cwd, lives, alive } = folder("together", "dies:opened", "good");
    const sessionId = await editor.open(cwd);
    await editor.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "notice");
    const answers = await Promise.all(["one", "two", "three"].map((text) => editor.prompt(sessionId, text)));
    expect([answers, lives(), alive().length]).toEqual([[endTurn, endTurn, endTurn], 2, 1]);
  });

  it("and returns with other settings is shown with them", async () => {
    const { cwd } = folder("bold", "dies:opened", "bold");
    const sessionId = await editor.open(cwd);
    await editor.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "notice");
    expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
    expect(editor.updates(sessionId)).toContainEqual({ sessionUpdate: "current_mode_update", currentModeId: "high" });
  });

  it("repeatedly fails each prompt separately", async () => {
    const { cwd, lives } = folder("always", "good", "dies:start");
    const sessionId = await editor.open(cwd);
    process.kill(Number((await bench.shell("cat pids", { cwd })).stdout), "SIGKILL");
    await editor.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "notice");
    expect(await editor.prompt(sessionId, "go")).toEqual(gone("start"));
    expect(await editor.prompt(sessionId, "go")).toEqual(gone("start"));
    expect(lives()).toBe(3);
  });

  it("during a question takes the question with it", async () => {
    const { cwd, chosen } = folder("asking", "asks-and-dies", "good");
    const sessionId = await editor.open(cwd);
    const before = editor.asked.length;
    expect(await editor.prompt(sessionId, "go")).toMatchObject({
      error: { message: expect.stringContaining("exit code 3") },
    });
    const withdrawn = editor.asked.slice(before).map(({ id }) => id);
    const told = editor.wire.received.filter(({ method }) => method === "$/cancel_request");
    expect(told.map(({ params }) => params?.requestId)).toEqual(expect.arrayContaining(withdrawn));
    const open = editor
      .updates(sessionId)
      .filter(({ toolCallId }) => toolCallId === "c")
      .at(-1);
    expect(open).toMatchObject({ status: "failed" });
    for (const id of withdrawn) editor.wire.send({ jsonrpc: "2.0", id, ...chooses("proceed_once") });
    expect([await editor.prompt(sessionId, "again"), chosen()]).toEqual([endTurn, []]);
  });
});

describe("a disobedient backend", () => {
  it("is given up after a cancel, and the session continues with another", async () => {
    const { cwd, lives, heard, alive } = folder("stubborn", "stubborn", "good");
    const sessionId = await editor.open(cwd);
    const turn = editor.prompt(sessionId, "go");
    await editor.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    editor.notify("session/cancel", { sessionId });
    expect(await turn).toEqual(cancelled);
    expect(heard("interrupt_session")).toBe(true);
    expect([await editor.prompt(sessionId, "again"), lives()]).toEqual([endTurn, 2]);
    await editor.request("session/close", { sessionId });
    expect(alive()).toEqual([]);
  });

  it("is awaited only until the editor cancels while it fails to reopen its session", async () => {
    const { cwd } = folder("mute-again", "dies:opened", "mute");
    const sessionId = await editor.open(cwd);
    await editor.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "notice");
    const turn = editor.prompt(sessionId, "go");
    editor.notify("session/cancel", { sessionId });
    expect(await turn).toEqual(cancelled);
  });

  it("can be left by the editor's cancel while a session opens", async () => {
    const { cwd, lives, alive } = folder("mute", "mute");
    const opened = editor.request("session/new", { cwd, mcpServers: [] }, "mute");
    await until(() => lives() === 1);
    editor.notify("$/cancel_request", { requestId: "mute" });
    expect(await opened).toMatchObject({ error: { code: -32800 } });
    expect(alive()).toEqual([]);
  });
});

if (isFullRun) {
  it("a backend that answers only mandatory requests is not awaited", async () => {
    const { cwd } = folder("ignorant", "ignorant");
    const sessionId = await editor.open(cwd);
    expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
  });
}

describe("only the editor can allow anything", () => {
  it("a question before the session is open is declined without asking", async () => {
    const { cwd, chosen } = folder("early", "asks-early");
    const before = editor.asked.length;
    const sessionId = await editor.open(cwd);
    expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
    expect([chosen(), editor.asked.length]).toEqual([["cancel"], before]);
  });

  it.each([
    ["plain", choosesNothing, "cancel"],
    ["plain", chooses("proceed_like_mad"), "cancel"],
    ["plain", chooses(""), "cancel"],
    ["plain", { result: {} }, "cancel"],
    ["plain", { result: { outcome: { outcome: "selected" } } }, "cancel"],
    ["plain", { result: null }, "cancel"],
    ["plain", { error: { code: -32601, message: "no" } }, "cancel"],
    ["plain", { error: "no" }, "cancel"],
    ["plain", {}, "cancel"],
    ["no-options", chooses("proceed_once"), "cancel"],
    ["only-yes", chooses("cancel"), "cancel"],
    ["only-yes", chooses("proceed_always"), "cancel"],
    ["plain", chooses("proceed_once"), "proceed_once"],
    ["plain", chooses("proceed_always"), "proceed_always"],
  ])("%s, answered %j", async (question, answer, selected) => {
    const name = `asks-${editor.wire.received.length}`;
    const { cwd, chosen } = folder(name, `asks:${question}`);
    const sessionId = await editor.open(cwd);
    editor.answers = () => answer;
    expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
    editor.answers = () => undefined;
    expect(chosen()).toEqual([selected]);
  });

  it.each(["no-calls", "unreadable"])(
    "a question that cannot be shown (%s) is declined without asking",
    async (question) => {
      const { cwd, chosen } = folder(question, `asks:${question}`);
      const sessionId = await editor.open(cwd);
      const before = editor.asked.length;
      expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
      expect([chosen(), editor.asked.length]).toEqual([["cancel"], before]);
    },
  );

  it("shows what would be hidden or reversed in a command", async () => {
    const { cwd } = folder("hidden", "asks:hidden");
    const sessionId = await editor.open(cwd);
    editor.answers = () => choosesNothing;
    expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
    editor.answers = () => undefined;
    const line = String.raw`rm -rf / \u{202e}kcehc # \u{1b}[2K\u{200b}`;
    const lines = line.replace("/ ", "/\n");
    expect(editor.asked.at(-1)?.params).toMatchObject({
      toolCall: {
        title: line,
        content: [{ content: { text: expect.stringContaining(`\`\`\`\n${lines}\n\`\`\``) } }],
      },
      options: [{ name: line }, { kind: "reject_once" }],
    });
  });

  it("does not offer an unknown option", async () => {
    const { cwd, chosen } = folder("strange", "asks:strange-option");
    const sessionId = await editor.open(cwd);
    editor.answers = () => choosesNothing;
    expect(await editor.prompt(sessionId, "go")).toEqual(endTurn);
    editor.answers = () => undefined;
    expect(editor.asked.at(-1)?.params.options).toEqual([{ optionId: "cancel", name: "No", kind: "reject_once" }]);
    expect(chosen()).toEqual(["cancel"]);
  });

  it("a question left open is declined when the turn is cancelled, whatever the editor answers later", async () => {
    const { cwd, chosen } = folder("open-question", "asks", "good");
    const sessionId = await editor.open(cwd);
    const before = editor.asked.length;
    const turn = editor.prompt(sessionId, "go");
    const { id } = await editor.waitForAsked(before + 1);
    editor.notify("session/cancel", { sessionId });
    expect(await turn).toEqual(cancelled);
    editor.wire.send({ jsonrpc: "2.0", id, ...chooses("proceed_once") });
    editor.answers = () => choosesNothing;
    expect(await editor.prompt(sessionId, "again")).toEqual(endTurn);
    editor.answers = () => undefined;
    expect(chosen().filter((option) => option !== "cancel")).toEqual([]);
  });
});
