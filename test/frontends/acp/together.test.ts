import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createBench } from "../../e2e/tinman.ts";
import { choosing, type Editor, openEditor, type Source, sources, textOf } from "./fakes/acp-client.ts";
import { calls, on, otherwise, useEditor } from "./fakes/acp-suite.ts";

describe.each(sources)("%s: several sessions in one process", (source) => {
  const at = useEditor(source, async (bench) => {
    const replies = [
      on("/^count (\\w+)$/", { text: Array.from({ length: 8 }, () => "{{user}}. "), chunk_delay_ms: 20 }),
      calls("write", ["Create", { file_path: "mine.txt", content: "{{user}}" }]),
      ...otherwise,
    ];
    return { args: ["-m", await bench.script(replies)] };
  });

  test("each gets only its own updates, while all are active", async () => {
    const { editor } = at();
    const names = ["alpha", "beta", "gamma"];
    const sessions = await Promise.all(names.map(() => editor.open()));
    const from = editor.lines.length;
    const turns = await Promise.all(sessions.map((session, index) => session.prompt(`count ${names[index]}`)));
    expect(turns.map(({ updates }) => textOf(updates))).toEqual(names.map((name) => `count ${name}. `.repeat(8)));
    const order = editor.lines
      .slice(from)
      .flatMap(({ message: { method, params } }) => (method === "session/update" ? [params?.sessionId] : []));
    const changes = order.filter((id, index) => id !== order[index - 1]);
    expect(changes.length).toBeGreaterThan(names.length);
  });

  test("each is asked only about its own, and a no to one does not affect another", async () => {
    const { bench, editor } = at();
    const folders = ["one", "two"].map((name) => join(bench.root, name));
    await Promise.all(folders.map((folder) => mkdir(folder)));
    const [yes, no] = await Promise.all(folders.map((folder) => editor.open(folder)));
    editor.permit = (request, signal) =>
      choosing(request.sessionId === yes?.id ? "allow_once" : "reject_once")(request, signal);
    await Promise.all([yes?.prompt("write yes"), no?.prompt("write no")]);
    const asked = editor.permissions.slice(-2).map(({ sessionId, toolCall }) => [sessionId, toolCall.locations]);
    expect(new Map(asked as [string, unknown][])).toEqual(
      new Map([
        [yes?.id, [{ path: join(folders[0] ?? "", "mine.txt") }]],
        [no?.id, [{ path: join(folders[1] ?? "", "mine.txt") }]],
      ]),
    );
    const found = await bench.shell("cat one/mine.txt; ls two", { cwd: bench.root });
    expect(found.stdout).toBe("write yes");
  });
});

/** Everything that an editor sees of one conversation, in order, without ids, times and places. */
async function conversation(source: Source): Promise<readonly string[]> {
  const bench = await createBench();
  try {
    const question = "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue";
    const replies = [
      on("talk", { reasoning: ["Hm", "m."], text: ["Well, ", "hello."], usage: { input: 100, output: 7 } }),
      calls("look", ["Read", { file_path: "a.txt" }], ["Grep", { pattern: "one" }], ["Read", { file_path: "no.txt" }]),
      calls("make", ["Create", { file_path: "b.txt", content: "two\n" }]),
      calls("run", ["Execute", { command: "echo out; exit 2" }]),
      calls("ask", ["AskUser", { questionnaire: question }]),
      calls("todo", ["TodoWrite", { todos: "1. [pending] All of it" }]),
      calls("plan", ["ExitSpecMode", { plan: "# Do it", title: "It" }]),
      on("fail", { error: { status: 400, message: "Bad." } }),
      on("refuse", { text: "No.", stop: "refusal" }),
      ...otherwise,
    ];
    await bench.file("a.txt", "one\n");
    const editor = await openEditor(source, bench, {
      args: ["-m", await bench.script(replies, { summaries: [{ text: "It was about colors." }] })],
      capabilities: { elicitation: { form: {} }, session: { notices: {} } },
    });
    editor.permit = choosing("allow_once");
    editor.elicit = () => ({ action: "accept", content: { q1: "Red" } });
    const session = await editor.open();
    const compacting = ["/compact", "talk", "look", "/compact Mind the files.", "/compact"];
    const more = ["make", "run", "ask", "todo", "fail", "refuse", "/mode", "/rename New name"];
    for (const text of [...compacting, ...more]) {
      await session.prompt(text).catch(() => undefined);
      await settled(editor);
    }
    editor.permit = choosing("reject_once");
    for (const text of ["make", "run"]) {
      await session.prompt(text);
      await settled(editor);
    }
    await session.request("session/set_mode", { modeId: "spec" });
    editor.permit = choosing("proceed_auto_run_medium");
    await session.prompt("plan");
    await settled(editor);
    await session.request("session/close");
    const from = session.updates.length;
    await session.request("session/load", { cwd: bench.cwd, mcpServers: [] });
    // The last update for a newly opened session.
    await session.update(({ sessionUpdate }) => sessionUpdate === "session_info_update", from);
    await editor.close();
    return normalised(editor, bench.root);
  } finally {
    await bench.remove();
  }
}

/** Everything under way has arrived when this is answered. */
async function settled(editor: Editor): Promise<void> {
  await editor.agent.request("session/list", { cwd: "/" });
}

function normalised(editor: Editor, root: string): readonly string[] {
  const ids = new Map<string, string>();
  const named = (id: string): string => {
    if (!ids.has(id)) ids.set(id, `<id ${ids.size + 1}>`);
    return ids.get(id) ?? id;
  };
  return (
    editor.lines
      .filter(({ message: { method } }) => method !== "session/list")
      .map(({ from, message }) => `${from} ${JSON.stringify(message)}`)
      // Updates whose time varies: window usage, and a command's output so far.
      .filter((line) => !line.includes('"usage_update"') && !/"status":"in_progress","content"/.test(line))
      .filter((line) => !line.includes('"sessions":[]'))
      .map((line) =>
        line
          .replaceAll(root, "<root>")
          .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, named)
          .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>"),
      )
  );
}

test("a whole conversation is the same with both, message for message", async () => {
  const [agent = [], adapter = []] = await Promise.all(sources.map(conversation));
  expect(agent.length).toBeGreaterThan(80);
  expect(adapter).toEqual(agent);
  const told = adapter.flatMap((line) => /"text":"([^"]*(?:compact|summary)[^"]*)"/.exec(line)?.[1] ?? []);
  expect(told.filter((text) => !text.startsWith("/compact"))).toEqual([
    "Nothing to compact — the conversation is empty.",
    "The model now reads a summary in place of 6 messages. They stay in the history.",
    "Nothing to compact — almost nothing follows the last summary.",
  ]);
});
