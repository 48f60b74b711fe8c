import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Answer, Interaction } from "../../../src/engine/interaction.ts";
import type { ReplyBlock, ToolResultBlock } from "../../../src/engine/message.ts";
import type { Preview } from "../../../src/engine/permission.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import type { Tool } from "../../../src/engine/tool.ts";
import { defineTool, succeeded } from "../../../src/engine/tool.ts";
import { z } from "../../../src/tools/zod.ts";
import { ask, calls, createKit, type KitOptions, listen, says, settings } from "../../fakes/kit.ts";
import { createMemoryHost, type MemoryHost } from "../../fakes/memory-host.ts";

type Call = readonly [name: string, input: Readonly<Record<string, unknown>>];

interface Habit {
  readonly agent: string;
  readonly prefersPatch?: boolean;
  readonly call: Call;
  readonly becomes: Call;
}

const habits = JSON.parse(readFileSync(new URL("habitual-calls.json", import.meta.url), "utf8")) as readonly Habit[];
const asked = new Set(["Execute", "Create", "Edit", "ApplyPatch", "FetchUrl"]);

function answerTo(interaction: Interaction): Answer {
  if (interaction.kind === "question") return { kind: "answers", answers: [{ index: 1, answer: "SQLite" }] };
  return { kind: "allow" };
}

/** Reads a file and makes the call, in a session whose client allows everything. */
async function run(name: string, input: unknown, options: KitOptions = {}) {
  const host = createMemoryHost(
    { "/ws/app.ts": "one\ntwo\nthree\n", "/ws/sub/x": "" },
    { pages: { "https://example.com/": { body: "<p>Hello</p>" } } },
  );
  const kit = createKit([calls(["Read", { file_path: "app.ts" }]), calls([name, input]), says("done")], {
    host,
    ...options,
  });
  const session = await kit.open({ autonomy: "off" });
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const permissions: Extract<Interaction, { kind: "permission" }>["calls"][number][] = [];
  const heard = listen(session);
  const answering = (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      if (event.interaction.kind === "permission") permissions.push(...event.interaction.calls);
      attachment.answer(event.requestId, answerTo(event.interaction));
    }
  })();
  await ask(session, "go");
  await heard.stop();
  attachment.detach();
  await answering;
  return { kit, host, session, permissions, events: heard.events };
}

const lastBlock = (session: Session, role: "assistant" | "tool") =>
  session
    .history()
    .flatMap((message): readonly (ReplyBlock | ToolResultBlock)[] =>
      message.role === "user" || message.role !== role ? [] : message.content,
    )
    .filter(({ type }) => type === "tool_call" || type === "tool_result")
    .at(-1);

/** The file's content after the preview, or the command's description. */
function shownOf(preview: Preview | undefined, host: MemoryHost, path: string) {
  if (preview?.type === "command") return [preview.command, host.commands.at(-1)?.command];
  if (preview?.type === "create") return [preview.content, host.text(path)];
  if (preview?.type === "edit") return [preview.newContent, host.text(path)];
  if (preview?.type === "patch") return [preview.files[0]?.newContent, host.text(path)];
  return [preview?.type === "fetch" ? preview.url : undefined, host.fetched.at(-1)?.url];
}

describe("calls as models know them from other agents", () => {
  test.each(habits.map((habit) => [`${habit.agent}: ${habit.call[0]}`, habit] as const))("%s", async (_, habit) => {
    const [[name, input], [ownName, ownInput]] = [habit.call, habit.becomes];
    const { host, session, permissions, kit } = await run(name, input, {
      model: { prefersPatch: habit.prefersPatch === true },
    });
    const call = { type: "tool_call", id: "call_1", name: ownName, input: ownInput };
    expect(lastBlock(session, "tool")).toMatchObject({ name: ownName, status: "ok" });
    expect(lastBlock(session, "assistant")).toEqual({ ...call, raw: { name, input } });
    expect(permissions.map((one) => one.call)).toEqual(asked.has(ownName) ? [call] : []);
    if (permissions.length > 0) {
      const path = `/ws/${ownName === "Create" ? "new.ts" : "app.ts"}`;
      const [shown, done] = shownOf(permissions[0]?.preview, host, path);
      expect(shown).toBe(done);
      expect(shown).toBeDefined();
    }
    expect(kit.requests).toHaveLength(3);
  });
});

const own = (name: string, runBy?: "client"): Tool => ({
  name,
  kind: "read",
  title: name,
  description: name,
  concurrent: true,
  ...(runBy === undefined ? {} : { runBy }),
  load: async () =>
    defineTool({ input: z.unknown(), access: async () => [], run: async (input) => succeeded(JSON.stringify(input)) }),
});

describe("an understood call", () => {
  test("names the ignored arguments to the model only", async () => {
    const { session } = await run("LS", { directory_path: "/ws/sub", recursive: true, depth: 3 });
    expect(lastBlock(session, "assistant")).toMatchObject({
      input: { directory_path: "/ws/sub" },
      raw: { name: "LS", ignored: ["recursive", "depth"] },
    });
    const result = lastBlock(session, "tool");
    if (result?.type !== "tool_result") throw new Error("no result");
    expect(result.forModel).toBe(`${result.text}\n\n[LS has no argument recursive, depth: ignored.]`);
  });

  test.each([
    [{ command: ["git", "commit", "-m", "it's done"] }, "git commit -m 'it'\\''s done'"],
    [{ command: ["/bin/sh", "-c", "echo $HOME"] }, "echo $HOME"],
    [{ command: "ls", workdir: "/ws/" }, "ls"],
    [{ command: "ls", workdir: "a b'; rm -rf /; '" }, "cd 'a b'\\''; rm -rf /; '\\''' && ls"],
    [{ command: "ls", cwd: "-" }, "cd ./- && ls"],
    [{ command: "ls", directory: "~/my files" }, "cd ~/'my files' && ls"],
    [{ command: "ls # all", workdir: "sub" }, "cd sub && {\nls # all\n}"],
  ])("runs a command in the intended form: %j", async (input, command) => {
    const { session, host } = await run("shell", { ...input, riskLevel: "HIGH" });
    expect(lastBlock(session, "assistant")).toMatchObject({ input: { command, riskLevel: "high" } });
    expect(host.commands.map((spec) => spec.command)).toEqual([command]);
  });

  test.each([
    ["Bash", 120_000, 120],
    ["Bash", 3_601, 3.601],
    ["Bash", 7_200_000, 3_600],
    ["Execute", 120_000, 120],
    ["Execute", 30_000, 30],
    ["Execute", 3_601, 3.601],
    ["Execute", 3_600, 3_600],
  ])("takes %s's timeout of %s for %s s", async (name, timeout, seconds) => {
    const { host } = await run(name, { command: "npm test", timeout });
    expect(host.commands.map(({ timeoutMs }) => timeoutMs)).toEqual([seconds * 1_000]);
  });

  test.each([
    [[["One", "Two"], [["Three"]]], "1. [pending] One\n2. [pending] Two\n3. [pending] Three"],
    [
      [{ title: "One", status: "done", subtasks: ["A", { content: "B" }] }, { items: ["C"] }],
      "1. [completed] One\n2. [pending] A\n3. [pending] B\n4. [pending] C",
    ],
  ])("writes nested todos one after the other: %j", async (todos, text) => {
    const { session } = await run("TodoWrite", { todos });
    expect(lastBlock(session, "assistant")).toMatchObject({ input: { todos: text } });
  });

  test.each([
    ["TodoWrite", { todos: ["One", {}] }, "todos is required and must be a string: one task a line"],
    ["TodoWrite", { todos: [{ content: ["One"] }] }, "todos is required and must be a string: one task a line"],
    ["AskUser", { questions: [{ options: ["a", "b"] }] }, "questionnaire is required and must be a string"],
    ["AskUser", { questions: [{ question: "Which?", options: [["a"], "b"] }] }, "questionnaire is required"],
  ])("refuses %s with an item that has no words: %j", async (name, input, why) => {
    const { session } = await run(name, input);
    expect(lastBlock(session, "tool")).toMatchObject({ status: "failed", text: expect.stringContaining(why) });
  });

  test("keeps what the model wrote only within limits", async () => {
    const content = "x".repeat(2 * 1024 * 1024);
    const { session, host } = await run("Write", { path: "new.ts", content });
    expect(lastBlock(session, "assistant")).not.toHaveProperty("raw");
    expect(host.text("/ws/new.ts")).toBe(content);
  });

  test("prefers its own argument over another name for it", async () => {
    const { session, host } = await run("Bash", { command: "npm test", cmd: "rm -rf /" });
    expect(host.commands.map(({ command }) => command)).toEqual(["npm test"]);
    expect(lastBlock(session, "assistant")).toMatchObject({ raw: { ignored: ["cmd"] } });
  });

  test("is refused if an ignored argument would have prevented its effect", async () => {
    const { session, host } = await run("Bash", { command: "npm test", dry_run: true });
    expect(lastBlock(session, "tool")).toMatchObject({ name: "Execute", status: "failed" });
    expect(host.commands).toEqual([]);
  });

  test("stays unchanged if the tool accepts it", async () => {
    const { session } = await run("Read", { file_path: "app.ts", limit: 1 });
    expect(lastBlock(session, "assistant")).toEqual({
      type: "tool_call",
      id: "call_1",
      name: "Read",
      input: { file_path: "app.ts", limit: 1 },
    });
  });

  test("is not shown under the model's name while it streams", async () => {
    const input = { type: "tool_input", id: "call_1", text: '{"command":"npm test"}' } as const;
    const names = ["Bash", "Execute", "str_replace_based_edit_tool"];
    const replies = names.map((name) => [{ ...input, name }, ...calls([name, { command: "npm test" }])]);
    const kit = createKit([...replies, says("done")]);
    const session = await kit.open();
    const heard = listen(session);
    await ask(session, "go");
    await heard.stop();
    expect(heard.events.flatMap((event) => (event.type === "tool.input" ? [event.name] : []))).toEqual(["Execute"]);
  });

  test("goes to a tool with that name, if there is one", async () => {
    const { session, host, permissions } = await run(
      "Bash",
      { command: "npm test" },
      { tools: [own("bash"), own("Execute")] },
    );
    expect(lastBlock(session, "tool")).toMatchObject({ name: "bash", text: '{"command":"npm test"}' });
    expect([host.commands, permissions]).toEqual([[], []]);
  });

  test("is refused like the tool it means if that is disabled", async () => {
    const kit = createKit([calls(["Bash", { command: "npm test" }]), says("done")]);
    const run = { disabledTools: ["Execute"] };
    const session = await kit.engine.create({ cwd: "/ws", settings, run });
    await ask(session, "go");
    expect(lastBlock(session, "tool")).toMatchObject({
      name: "Execute",
      status: "failed",
      text: expect.stringMatching(/^Error: Unknown tool: Execute\. /),
    });
    expect(kit.host.commands).toEqual([]);
  });

  test("reaches a client that runs all tools as the model wrote it", async () => {
    const kit = createKit([calls(["Bash", { cmd: "npm test" }]), says("done")]);
    const session = await kit.open({ clientRunsTools: true });
    const attachment = session.attach({ approve: true, answer: true, runTools: true, onDetach: "cancel" });
    const wanted: unknown[] = [];
    const answering = (async () => {
      for await (const event of attachment.events()) {
        if (event.type !== "request.opened" || event.interaction.kind !== "tool") continue;
        wanted.push(event.interaction.call);
        attachment.answer(event.requestId, { kind: "result", text: "passed" });
      }
    })();
    await ask(session, "go");
    attachment.detach();
    await answering;
    expect(wanted).toEqual([{ type: "tool_call", id: "call_1", name: "Bash", input: { cmd: "npm test" } }]);
  });
});
