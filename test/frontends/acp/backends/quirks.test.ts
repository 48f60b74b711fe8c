import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Bench, createBench } from "../../../e2e/tinman.ts";
import { isFullRun } from "../../../full-run.ts";
import { type Answer, chooses, type Editor, openEditor, textOf, type Update } from "../fakes/raw-editor.ts";

/* A backend with deliberate faults behind the adapter: the editor sees the same as without them. */

const quirkNames = [
  ...["silent-cancel", "no-turn-end", "usage-after-idle", "early-idle", "restart-deltas", "repeated-tool-calls"],
  ...["late-settings", "duplicates", "unknown-types", "second-answer", "null-ids", "stray-lines"],
] as const;

const replies = [
  {
    when: { user: "look" },
    reasoning: ["Let me", " see."],
    text: ["I will", " look."],
    tool_calls: [
      { name: "Execute", input: { command: "touch seen", riskLevel: "medium" } },
      { name: "Create", input: { file_path: "made.txt", content: "made\n" } },
    ],
  },
  { when: { after_tool: "Execute" }, text: ["It is", " there."] },
  { when: { user: "plan" }, tool_calls: [{ name: "TodoWrite", input: { todos: "1. [in_progress] Do it" } }] },
  { when: { after_tool: "TodoWrite" }, text: "Planned." },
  { when: { user: "fail" }, error: { status: 400, message: "Bad words." } },
  { when: { user: "slow" }, text: ["Slow", " words"], chunk_delay_ms: 60_000 },
  { when: { user: "again" }, text: "Hello wor", error: "cut" },
  { when: { user: "again" }, text: "ld." },
  { times: "any", text: "You said {{user}}." },
];

let bench: Bench;
let model: string;
let editor: Editor;

beforeAll(async () => {
  bench = await createBench();
  model = await bench.script(replies);
  const formats = "--input-format stream-jsonrpc --output-format stream-jsonrpc";
  editor = openEditor(bench, {
    args: ["-m", model, "--backend", `exec tinman exec ${formats} $(cat quirks)`],
    answers: () => chooses("proceed_once"),
    patienceMs: 25_000,
  });
  await editor.hello();
});

afterAll(async () => {
  expect(await editor.leave()).toMatchObject({ code: 0, signal: null });
  await bench.remove();
});

/** Ids by order of appearance, without updates whose time varies, such as window usage. */
function plainly(updates: readonly Update[]): readonly unknown[] {
  const ids = new Map<unknown, string>();
  return updates
    .filter(({ sessionUpdate }) => sessionUpdate !== "usage_update")
    .map(({ messageId, updatedAt: _, ...update }) => {
      if (messageId === undefined) return update;
      if (!ids.has(messageId)) ids.set(messageId, `message ${ids.size + 1}`);
      return { ...update, messageId: ids.get(messageId) };
    });
}

interface Conversation {
  readonly sessionId: string;
  readonly answers: readonly Answer[];
  readonly asked: readonly unknown[];
  readonly updates: readonly unknown[];
}

async function conversation(one: Editor, name: string, quirks: readonly string[]): Promise<Conversation> {
  const cwd = join(bench.root, name, "folder");
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "quirks"), quirks.length === 0 ? "" : `--quirks ${quirks.join(",")}`);
  const sessionId = await one.open(cwd);
  await one.waitForUpdate(sessionId, ({ sessionUpdate }) => sessionUpdate === "available_commands_update");
  const answers: Answer[] = [];
  for (const text of ["look", "plan", "fail"]) answers.push(await one.prompt(sessionId, text));
  const slow = one.prompt(sessionId, "slow");
  await one.waitForUpdate(sessionId, ({ content }) => (content as { text?: string } | undefined)?.text === "Slow");
  one.notify("session/cancel", { sessionId });
  answers.push(await slow, await one.prompt(sessionId, "bye"));
  const asked = one.asked
    .filter(({ params }) => params.sessionId === sessionId)
    .map(({ method, params: { sessionId: _, ...params } }) => ({ method, params }));
  // The reason of a failed turn comes with its end, which one of the quirks drops.
  for (const { error } of answers) delete (error?.data as { reason?: unknown } | undefined)?.reason;
  const all = { answers, asked, updates: plainly(one.updates(sessionId)) };
  return { sessionId, ...(JSON.parse(JSON.stringify(all).replaceAll(cwd, "/folder")) as typeof all) };
}

describe("a backend with quirks", () => {
  const alone = (isFullRun ? quirkNames : []).map((name) => [name, [name]] as const);
  const all = ["all of them", quirkNames] as const;

  it("looks like one without", async () => {
    const own = openEditor(bench, { args: ["-m", model], answers: () => chooses("proceed_once") });
    await own.hello();
    const [engine, plain, ...quirked] = await Promise.all([
      conversation(own, "engine", []),
      conversation(editor, "none", []),
      ...[...alone, all].map(([name, quirks]) => conversation(editor, name, quirks)),
    ]);
    await own.leave();
    const { sessionId: _, ...expected } = engine;
    expect(expected.answers).toEqual([
      { result: { stopReason: "end_turn" } },
      { result: { stopReason: "end_turn" } },
      { error: expect.objectContaining({ message: expect.stringContaining("Bad words.") }) },
      { result: { stopReason: "cancelled" } },
      { result: { stopReason: "end_turn" } },
    ]);
    expect(expected.asked).toHaveLength(2);
    for (const { sessionId: id, ...each } of [plain, ...quirked]) expect(each, id).toEqual(expected);
  });

  it("that restarts a message is shown with the whole message", async () => {
    const cwd = join(bench.root, "again");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "quirks"), `--quirks ${quirkNames.join(",")}`);
    const sessionId = await editor.open(cwd);
    expect(await editor.prompt(sessionId, "again")).toEqual({ result: { stopReason: "end_turn" } });
    const chunks = editor.updates(sessionId).filter(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk");
    const last = chunks.at(-1)?.messageId;
    expect(textOf(chunks.filter(({ messageId }) => messageId === last))).toBe("Hello world.");
  });
});
