import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { SessionUpdate, ToolCall, ToolCallContent } from "@agentclientprotocol/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ProviderServer } from "../../fakes/providers/base.ts";
import { createOpenAIResponsesServer } from "../../fakes/providers/openai-responses-server.ts";
import { choosing, only } from "./fakes/acp-client.ts";
import { alikeSources, calls, on, otherwise, useEditor } from "./fakes/acp-suite.ts";

let patcher: ProviderServer;
const page = createServer((_, response) => response.setHeader("content-type", "text/plain").end("The page."));

beforeAll(async () => {
  patcher = await createOpenAIResponsesServer();
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
});
afterAll(async () => {
  await patcher.close();
  await new Promise((resolve) => page.close(resolve));
});
const pageUrl = (): string => `http://127.0.0.1:${(page.address() as AddressInfo).port}/`;

const words = (text: string): ToolCallContent => ({ type: "content", content: { type: "text", text } });

/** A call as a client assembles it: its start, with all later updates. */
function shown(updates: readonly SessionUpdate[]): ToolCall & { readonly statuses: readonly unknown[] } {
  const begin = only(updates, "tool_call").at(-1);
  if (begin === undefined) throw new Error("There is no such call.");
  const { sessionUpdate: _, ...call } = begin;
  const later = only(updates, "tool_call_update").filter(({ toolCallId }) => toolCallId === call.toolCallId);
  const statuses = [begin, ...later]
    .map(({ status }) => status)
    .filter((status, index, all) => status !== all[index - 1]);
  const told = later.map(({ sessionUpdate: _u, ...rest }) => rest);
  return Object.assign({}, call, ...told, { statuses });
}

describe.each(alikeSources)("%s: tool calls", (source) => {
  const at = useEditor(source, async (bench) => {
    const replies = [
      calls("read", ["Read", { file_path: "notes.txt", offset: 1 }]),
      calls("list", ["LS", { directory_path: "src" }]),
      calls("grep", ["Grep", { pattern: "needle", path: "src" }]),
      calls("glob", ["Glob", { patterns: ["**/*.ts"] }]),
      calls("fetch", ["FetchUrl", { url: pageUrl() }]),
      calls("run", ["Execute", { command: "echo out; echo err >&2" }]),
      calls("fail", ["Execute", { command: "echo no; exit 3" }]),
      calls("missing", ["Read", { file_path: "nowhere.txt" }]),
      calls("outside", ["Read", { file_path: "/etc/hostname" }]),
      calls("strange", ["Teleport", { to: "Mars" }]),
      calls("create", ["Create", { file_path: "new/file.txt", content: "fresh\n" }]),
      on("replace", {
        tool_calls: [
          { name: "Read", input: { file_path: "notes.txt" }, chunks: 2 },
          { name: "Create", input: { file_path: "notes.txt", content: "replaced\n" }, chunks: 8 },
        ],
        chunk_delay_ms: 30,
      }),
      calls(
        "edit",
        ["Read", { file_path: "edit.txt" }],
        ["Edit", { file_path: "edit.txt", old_str: "two", new_str: "2" }],
      ),
      calls("amiss", ["Edit", { file_path: "edit.txt", old_str: "nothing like it", new_str: "2" }]),
      calls("live", ["Execute", { command: "echo first; sleep 0.8; echo second" }]),
      calls("several", ["Read", { file_path: "notes.txt" }], ["LS", {}], ["Read", { file_path: "edit.txt" }]),
      on("spoken", { text: "Let me.", tool_calls: [{ name: "LS", input: {}, chunks: 3 }] }),
      calls("long", ["Execute", { command: `echo ${"x".repeat(400)}\necho done` }]),
      calls("bell", ["Execute", { command: "printf 'a\\u0007\u001b[31m\u202eb'" }]),
      ...otherwise,
    ];
    await bench.file("notes.txt", "one\ntwo\n");
    await bench.file("edit.txt", "one\ntwo\nthree\n");
    await bench.file("src/a.ts", "// needle\n");
    return {
      args: ["-m", await bench.script(replies)],
      env: { OPENAI_API_KEY: patcher.key, OPENAI_BASE_URL: patcher.url },
    };
  });
  /** The final state of a turn's last call, in a mode that does not ask. */
  async function call(prompt: string, permit = choosing("reject_once")) {
    const { editor, session } = at();
    await editor.agent.request("session/set_mode", { sessionId: session.id, modeId: "high" });
    editor.permit = permit;
    return shown((await session.prompt(prompt)).updates);
  }

  test.each([
    ["Read", "read", "read", "Read notes.txt", ["notes.txt"]],
    ["LS", "list", "read", "List src", ["src"]],
    ["Grep", "grep", "search", "Search for needle in src", ["src"]],
    ["Glob", "glob", "search", "Find **/*.ts", []],
    ["Execute", "run", "execute", "echo out; echo err >&2", []],
    ["Create", "create", "edit", "Create new/file.txt", ["new/file.txt"]],
    ["Edit", "edit", "edit", "Edit edit.txt", ["edit.txt"]],
  ])("%s has its kind, its title and its absolute location", async (name, prompt, kind, title, paths) => {
    const made = await call(prompt);
    const locations = made.locations?.map(({ path }) => path);
    const places = paths.map((path) => join(at().bench.cwd, path));
    expect([made.name, made.kind, made.title, locations]).toEqual([name, kind, title, places]);
    expect(made.statuses).toEqual(["pending", "in_progress", "completed"]);
  });

  test("FetchUrl has its kind, its title and no location", async () => {
    const made = await call("fetch", choosing("allow_once"));
    expect([made.kind, made.title, made.locations]).toEqual(["fetch", `Fetch ${pageUrl()}`, []]);
  });

  test("an unknown tool is shown as called, and fails", async () => {
    const made = await call("strange");
    expect([made.kind, made.title, made.statuses.at(-1)]).toEqual(["other", 'Teleport {"to":"Mars"}', "failed"]);
  });

  test("input and output are passed on raw", async () => {
    const made = await call("run");
    expect(made.rawInput).toEqual({ command: "echo out; echo err >&2" });
    expect(made.rawOutput).toEqual({ text: expect.stringContaining("out") });
  });

  test("shows the output", async () => {
    const { rawOutput, content } = await call("read");
    expect(content).toEqual([words((rawOutput as { text: string }).text)]);
    expect(JSON.stringify(content)).toContain("two");
  });

  test("the line that is read is part of its location", async () => {
    expect((await call("read")).locations).toEqual([{ path: join(at().bench.cwd, "notes.txt"), line: 2 }]);
  });

  test("shows a location outside the folder as an absolute path", async () => {
    const made = await call("outside");
    expect([made.title, made.locations]).toEqual(["Read /etc/hostname", [{ path: "/etc/hostname" }]]);
  });

  test("a failed call is marked failed, with the reason", async () => {
    const made = await call("missing");
    expect(made.statuses.at(-1)).toBe("failed");
    expect(JSON.stringify(made.content)).toContain("nowhere.txt");
  });

  test("a failed command shows its output", async () => {
    const made = await call("fail");
    expect(JSON.stringify(made.content)).toMatch(/no.*3/s);
  });

  test("announces a call before it runs and ends it once, with nothing after", async () => {
    const { session } = at();
    const { updates } = await session.prompt("several");
    const ids = only(updates, "tool_call").map(({ toolCallId }) => toolCallId);
    expect(new Set(ids).size).toBe(3);
    for (const id of ids) {
      const told = updates.filter((each) => "toolCallId" in each && each.toolCallId === id);
      expect(told[0]?.sessionUpdate).toBe("tool_call");
      const ends = told.flatMap((each, place) =>
        "status" in each && (each.status === "completed" || each.status === "failed") ? [place] : [],
      );
      expect(ends).toEqual([told.length - 1]);
    }
  });

  test("a call comes after the text before it", async () => {
    const { updates } = await at().session.prompt("spoken");
    const kinds = updates.map(({ sessionUpdate }) => sessionUpdate);
    expect(kinds.indexOf("agent_message_chunk")).toBeLessThan(kinds.indexOf("tool_call"));
    expect(kinds.filter((kind) => kind === "tool_call")).toHaveLength(1);
  });

  test("a running command shows its output", async () => {
    const { editor, session } = at();
    await editor.agent.request("session/set_mode", { sessionId: session.id, modeId: "high" });
    const from = session.updates.length;
    const turn = session.prompt("live");
    const live = await session.update(
      (each) => each.sessionUpdate === "tool_call_update" && (each.content?.length ?? 0) > 0,
      from,
    );
    expect(live).toMatchObject({ status: "in_progress", content: [words(expect.stringContaining("first") as never)] });
    expect(JSON.stringify(live)).not.toContain("second");
    expect(JSON.stringify(shown((await turn).updates).content)).toMatch(/first.*second/s);
  });

  test("cuts a long title to one line", async () => {
    const { title, rawInput } = await call("long");
    expect([title.length, title.endsWith("…"), title.includes("\n")]).toEqual([301, true, false]);
    expect(rawInput).toEqual({ command: `echo ${"x".repeat(400)}\necho done` });
  });

  test("escapes invisible characters in a title", async () => {
    expect((await call("bell")).title).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  });

  describe.each([
    ["unasked", "high"],
    ["asked", "off"],
  ])("diffs, %s", (how, modeId) => {
    /** The diff at the end; with a permission request, the one in the request. */
    async function diffOf(prompt: string) {
      const { editor, session } = at();
      await editor.agent.request("session/set_mode", { sessionId: session.id, modeId });
      editor.permit = choosing("allow_once");
      const before = editor.permissions.length;
      const made = shown((await session.prompt(prompt)).updates);
      const asked = editor.permissions.slice(before).map(({ toolCall }) => toolCall.content);
      expect(made.statuses.at(-1)).toBe("completed");
      expect(asked).toEqual(how === "asked" ? [made.content] : []);
      return made.content;
    }

    test("a new file has no old text", async () => {
      const { bench } = at();
      await bench.shell("rm -rf new");
      const path = join(bench.cwd, "new/file.txt");
      expect(await diffOf("create")).toEqual([{ type: "diff", path, oldText: null, newText: "fresh\n" }]);
    });

    test("a replaced file", async () => {
      const { bench } = at();
      const path = await bench.file("notes.txt", "one\ntwo\n");
      const [diff] = (await diffOf("replace")) ?? [];
      expect(diff).toEqual({ type: "diff", path, oldText: "one\ntwo\n", newText: "replaced\n" });
    });

    test("an edit", async () => {
      const { bench } = at();
      const path = await bench.file("edit.txt", "one\ntwo\nthree\n");
      const content = await diffOf("edit");
      const whole = { oldText: "one\ntwo\nthree\n", newText: "one\n2\nthree\n" };
      const piece = { oldText: "two", newText: "2" };
      expect(content).toEqual([{ type: "diff", path, ...(how === "asked" ? whole : piece) }]);
    });

    test("a patch of several files has one diff per file", async () => {
      const { bench, editor } = at();
      await bench.file("p.txt", "one\ntwo\nthree\n");
      await bench.file("gone.txt", "bye\n");
      await bench.shell("rm -f added.txt");
      const input = [
        "*** Begin Patch",
        "*** Update File: p.txt",
        "@@",
        " one",
        "-two",
        "+2",
        " three",
        "*** Add File: added.txt",
        "+new",
        "*** Delete File: gone.txt",
        "*** End Patch",
      ].join("\n");
      patcher.enqueue({ calls: [{ name: "ApplyPatch", input: { input } }] }, { text: ["Patched."] });
      const session = await editor.open();
      await editor.agent.request("session/set_model", { sessionId: session.id, modelId: "gpt-5.1" });
      await editor.agent.request("session/set_mode", { sessionId: session.id, modeId });
      editor.permit = choosing("allow_once");
      const before = editor.permissions.length;
      const made = shown((await session.prompt("patch")).updates);
      const files = ["p.txt", "added.txt", "gone.txt"].map((name) => join(bench.cwd, name));
      expect([made.kind, made.title, made.statuses.at(-1)]).toEqual([
        "edit",
        "Patch p.txt, added.txt, gone.txt",
        "completed",
      ]);
      expect(made.locations?.map(({ path }) => path)).toEqual(files);
      const ends = how === "asked" ? "\n" : "";
      expect(made.content).toEqual([
        { type: "diff", path: files[0], oldText: `one\ntwo\nthree${ends}`, newText: `one\n2\nthree${ends}` },
        { type: "diff", path: files[1], oldText: null, newText: "new\n" },
        ...(how === "asked" ? [{ type: "diff", path: files[2], oldText: "bye\n", newText: "" }] : []),
        { type: "content", content: { type: "text", text: `${how === "asked" ? files[2] : "gone.txt"} is deleted.` } },
      ]);
      const asked = editor.permissions.slice(before).map(({ toolCall }) => toolCall.content);
      expect(asked).toEqual(how === "asked" ? [made.content] : []);
    });
  });

  test("an edit that fails shows why, and not only what it wanted", async () => {
    const made = await call("amiss");
    expect(made.statuses.at(-1)).toBe("failed");
    expect(made.content?.map(({ type }) => type)).toEqual(["diff", "content"]);
  });
});
