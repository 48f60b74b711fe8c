import { mkdir, readdir, readFile, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { type Conversation, only, refusal, sources, textOf } from "../fakes/acp-client.ts";
import { calls, on, otherwise, useEditor } from "../fakes/acp-suite.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

/** A client's final view. Pieces of one message are joined, whether streamed or not. */
function shownOf(updates: readonly SessionUpdate[]): readonly (readonly unknown[])[] {
  const shown: unknown[][] = [];
  let open = "";
  for (const update of updates) {
    switch (update.sessionUpdate) {
      case "user_message_chunk":
      case "agent_message_chunk":
      case "agent_thought_chunk": {
        const { content, messageId, sessionUpdate } = update;
        const last = shown.at(-1);
        const key = `${sessionUpdate} ${messageId} ${content.type}`;
        if (content.type !== "text") shown.push([sessionUpdate, content.type]);
        else if (last !== undefined && key === open) last[1] = `${last[1]}${content.text}`;
        else shown.push([sessionUpdate, content.text]);
        open = key;
        break;
      }
      case "tool_call":
        shown.push([update.title, update.kind, update.rawInput]);
        break;
      case "tool_call_update":
        if (update.rawOutput !== undefined) shown.push([update.status, update.content, update.rawOutput]);
        break;
      case "plan":
        shown.push(["plan", update.entries]);
        break;
      default:
    }
  }
  return shown;
}

describe.each(sources)("%s: earlier sessions", (source) => {
  const at = useEditor(source, async (bench) => {
    const replies = [
      on("work", {
        reasoning: ["I look ", "first."],
        text: ["Let ", "me see."],
        tool_calls: [
          { name: "Read", input: { file_path: "notes.txt" } },
          { name: "Read", input: { file_path: "nowhere.txt" } },
          { name: "TodoWrite", input: { todos: "1. [completed] Look" } },
        ],
      }),
      calls("write", ["Create", { file_path: "made.txt", content: "made\n" }]),
      { when: { user: "password", contains: "DOLPHIN" }, times: "any", text: "It is DOLPHIN." },
      on("password", { text: "I do not know." }),
      ...otherwise,
    ];
    await bench.file("notes.txt", "a note\n");
    await bench.file("AGENTS.md", "Always be SECRETLY kind.\n");
    return { args: ["-m", await bench.script(replies), "--auto", "low"] };
  });
  const where = () => ({ cwd: at().bench.cwd, mcpServers: [] });
  const reopened = (how: "session/load" | "session/resume", session: Conversation) => session.request(how, where());

  /** A session with one of everything, and all updates that a replay must have. */
  async function worked() {
    const session = await at().editor.open();
    const image: ContentBlock = { type: "image", mimeType: "image/png", data: png };
    const first = await session.prompt([{ type: "text", text: "Remember DOLPHIN" }, image]);
    const second = await session.prompt("work");
    const third = await session.prompt("write");
    const told = [
      ["user_message_chunk", "image"],
      ["user_message_chunk", "Remember DOLPHIN"],
      ...shownOf(first.updates),
      ["user_message_chunk", "work"],
      ...shownOf(second.updates),
      ["user_message_chunk", "write"],
      ...shownOf(third.updates),
    ];
    await session.request("session/close");
    const from = session.updates.length;
    return { session, told, from, ...(await reopened("session/load", session)) };
  }
  let work: ReturnType<typeof worked> | undefined;
  function loaded(): ReturnType<typeof worked> {
    work ??= worked();
    return work;
  }

  async function isListed({ id }: Conversation): Promise<boolean> {
    const { sessions } = await at().editor.agent.request("session/list", { cwd: at().bench.cwd });
    return sessions.some(({ sessionId }) => sessionId === id);
  }

  test("loads a session with its whole history, in order, as first sent", async () => {
    const { told, updates } = await loaded();
    expect(shownOf(updates)).toEqual(told);
    expect(told.map(([kind]) => kind)).toEqual(
      expect.arrayContaining([
        "agent_thought_chunk",
        "agent_message_chunk",
        "plan",
        "Read notes.txt",
        "Create made.txt",
      ]),
    );
  });

  test("every call of a loaded session has its title, its kind and its end", async () => {
    const { updates } = await loaded();
    const calls = only(updates, "tool_call").map(({ title, kind }) => [title, kind]);
    expect(calls).toEqual([
      ["Read notes.txt", "read"],
      ["Read nowhere.txt", "read"],
      ["Create made.txt", "edit"],
    ]);
    expect(only(updates, "tool_call_update").map(({ status }) => status)).toEqual(["completed", "failed", "completed"]);
  });

  test("has nothing that was not part of the conversation", async () => {
    const { updates } = await loaded();
    expect(JSON.stringify(updates)).not.toMatch(/system-reminder|SECRETLY|AGENTS\.md/);
  });

  test("loading returns its state, and reports title, commands and window", async () => {
    const { session, from, answer } = await loaded();
    expect(answer).toMatchObject({ modes: { currentModeId: "low" }, configOptions: expect.any(Array) });
    for (const kind of ["available_commands_update", "session_info_update", "usage_update"] as const) {
      await session.update(({ sessionUpdate }) => sessionUpdate === kind, from);
    }
  });

  test("a loaded session remembers the conversation", async () => {
    const { session } = await loaded();
    expect(textOf((await session.prompt("What is the password?")).updates)).toBe("It is DOLPHIN.");
  });

  test("a resumed session sends nothing of the past, and remembers it", async () => {
    const { session } = await loaded();
    await session.request("session/close");
    const { answer, updates } = await reopened("session/resume", session);
    expect(updates).toEqual([]);
    expect(answer).toMatchObject({ modes: { currentModeId: "low" } });
    expect(textOf((await session.prompt("What is the password?")).updates)).toBe("It is DOLPHIN.");
  });

  test("an open session can be loaded again, at no higher level than the program was started with", async () => {
    const session = await at().editor.open();
    await session.prompt("Hello");
    await session.request("session/set_mode", { modeId: "high" });
    const { answer, updates } = await reopened("session/load", session);
    expect(shownOf(updates)).toEqual([
      ["user_message_chunk", "Hello"],
      ["agent_message_chunk", "You said: Hello"],
    ]);
    expect(answer).toMatchObject({ modes: { currentModeId: "low" } });
    expect((await session.prompt("Again")).response.stopReason).toBe("end_turn");
  });

  test.each(["session/load", "session/resume"])(
    "rejects %s into another folder, without side effects",
    async (method) => {
      const { bench, editor, session } = at();
      const cwd = join(bench.root, "another");
      await mkdir(cwd, { recursive: true });
      expect(await refusal(session.request(method, { cwd, mcpServers: [] }))).toEqual({
        code: -32602,
        message: `The session ${session.id} works in ${bench.cwd}, not in ${cwd}.`,
      });
      for (const wrong of ["relative", join(bench.root, "nowhere")]) {
        expect(await refusal(session.request(method, { cwd: wrong, mcpServers: [] }))).toMatchObject({ code: -32602 });
      }
      expect((await session.prompt("Still open?")).response.stopReason).toBe("end_turn");
      expect(editor.faults).toEqual([]);
    },
  );

  test("a fork is an independent session that remembers the conversation", async () => {
    const { editor } = at();
    const { session } = await loaded();
    const params = { sessionId: session.id, ...where() };
    const forked = await editor.agent.request<{ sessionId: string; modes: object }>("session/fork", params);
    expect(forked).toMatchObject({ modes: { currentModeId: "low" } });
    expect(forked.sessionId).not.toBe(session.id);
    const fork = editor.conversation(forked.sessionId);
    expect(textOf((await fork.prompt("What is the password?")).updates)).toBe("It is DOLPHIN.");
    await fork.prompt("Only here");
    const { updates } = await reopened("session/load", session);
    expect(JSON.stringify(updates)).not.toContain("Only here");
  });

  test("a closed session can be forked", async () => {
    const { editor } = at();
    const { session } = await loaded();
    await editor.agent.request("session/close", { sessionId: session.id });
    const params = { sessionId: session.id, ...where() };
    const { sessionId } = await editor.agent.request<{ sessionId: string }>("session/fork", params);
    expect(textOf((await editor.conversation(sessionId).prompt("password?")).updates)).toBe("It is DOLPHIN.");
  });

  test("a closed session takes no prompts, stays in the list and in its folder, and can be deleted", async () => {
    const { bench, editor } = at();
    const session = await editor.open();
    await session.prompt("Hello");
    expect((await session.request("session/close")).answer).toEqual({});
    expect(await refusal(session.prompt("Hello"))).toMatchObject({ code: -32002 });
    expect(await isListed(session)).toBe(true);
    expect(await refusal(session.request("session/load", { cwd: bench.home, mcpServers: [] }))).toEqual({
      code: -32602,
      message: `The session ${session.id} works in ${bench.cwd}, not in ${bench.home}.`,
    });
    expect((await session.request("session/delete")).answer).toEqual({});
    expect(await isListed(session)).toBe(false);
    expect(await refusal(reopened("session/load", session))).toMatchObject({ code: -32002 });
  });

  test("an open session can be deleted", async () => {
    const session = await at().editor.open();
    await session.prompt("Hello");
    expect((await session.request("session/delete")).answer).toEqual({});
    expect(await isListed(session)).toBe(false);
    expect(await refusal(session.prompt("Hello"))).toMatchObject({ code: -32002 });
  });

  test("rejects loading a session during its turn, and closing it ends the turn", async () => {
    const { editor } = at();
    const session = await editor.open();
    editor.permit = () => new Promise(() => undefined);
    await editor.agent.request("session/set_mode", { sessionId: session.id, modeId: "off" });
    const turn = session.prompt("write");
    await editor.line(
      ({ method, params }) => method === "session/request_permission" && params?.sessionId === session.id,
    );
    expect(await refusal(reopened("session/load", session))).toEqual({
      code: -32602,
      message: "A turn is running in this session. Cancel it first.",
    });
    await editor.agent.request("session/close", { sessionId: session.id });
    expect((await turn).response).toEqual({ stopReason: "cancelled" });
  });

  test("a list has id, folder, title and time, newest first", async () => {
    const { bench, editor } = at();
    const cwd = join(bench.root, "listed");
    await mkdir(cwd);
    const older = await editor.open(cwd);
    await older.prompt("The older one");
    const newer = await editor.open(cwd);
    await newer.prompt("The newer one");
    const { sessions, nextCursor } = await editor.agent.request("session/list", { cwd });
    const updatedAt = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    expect([sessions, nextCursor]).toEqual([
      [
        { sessionId: newer.id, cwd, title: "The newer one", updatedAt },
        { sessionId: older.id, cwd, title: "The older one", updatedAt },
      ],
      undefined,
    ]);
  });

  test("a list without a folder has the sessions of every folder", async () => {
    const { sessions } = await at().editor.agent.request("session/list", {});
    expect(new Set(sessions.map(({ cwd }) => cwd)).size).toBeGreaterThan(1);
  });

  test("rejects a list of a relative folder", async () => {
    expect(await refusal(at().editor.agent.request("session/list", { cwd: "here" }))).toMatchObject({ code: -32602 });
  });

  test.each(["nonsense", "-1:x", ":"])("rejects the cursor %s", async (cursor) => {
    expect((await at().editor.raw("session/list", { cursor })).error?.code).toBe(-32602);
  });

  test("after a deleted session, the list continues with older ones", async () => {
    expect((await at().editor.raw("session/list", { cursor: "1:gone" })).result).toEqual({ sessions: [] });
  });

  test("a long list has pages, each session once", async () => {
    const { bench, editor } = at();
    const cwd = join(bench.root, "many");
    await mkdir(cwd);
    const session = await editor.open(cwd);
    await session.prompt("Hello");
    await editor.agent.request("session/close", { sessionId: session.id });
    const copies = await copiesOf(bench.home, session.id, 149);
    const pages: string[][] = [];
    let cursor: string | undefined;
    do {
      const page = await editor.agent.request("session/list", { cwd, ...(cursor === undefined ? {} : { cursor }) });
      pages.push(page.sessions.map(({ sessionId }) => sessionId));
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
    expect(pages.map(({ length }) => length)).toEqual([100, 50]);
    expect(new Set(pages.flat())).toEqual(new Set([session.id, ...copies]));
  });

  test.each([
    ["session/prompt", { prompt: [{ type: "text", text: "x" }] }],
    ["session/set_mode", { modeId: "low" }],
    ["session/set_config_option", { configId: "mode", value: "low" }],
    ["session/set_model", { modelId: "offline" }],
    ["session/load", {}],
    ["session/resume", {}],
    ["session/fork", {}],
    ["session/close", {}],
    ["session/delete", {}],
  ])("%s of an unknown session is an error with a message", async (method, params) => {
    const isOpening = /load|resume|fork/.test(method);
    const places = isOpening ? where() : {};
    // Methods that open a session start a backend to check.
    const others = isOpening ? [] : ["../../etc/passwd", ""];
    for (const sessionId of ["00000000-0000-4000-8000-000000000000", ...others]) {
      const { error } = await at().editor.raw(method, { sessionId, ...places, ...params });
      expect([method, sessionId, error?.code]).toEqual([method, sessionId, -32002]);
      expect(error?.message).toMatch(
        /^(Session ".*" not found\.|No session ".*" is open here: load or resume it first\.)$/,
      );
    }
  });
});

/** The log of a session under other ids, each a second older. */
async function copiesOf(home: string, id: string, times: number): Promise<readonly string[]> {
  const files = await readdir(home, { recursive: true });
  const log = files.find((name) => name.endsWith(`${id}.jsonl`));
  if (log === undefined) throw new Error("The session has no log.");
  const text = await readFile(join(home, log), "utf8");
  return Promise.all(
    Array.from({ length: times }, async (_, index) => {
      const copy = `00000000-0000-4000-8000-${String(index + 1).padStart(12, "0")}`;
      const path = join(home, log.replace(id, copy));
      await writeFile(path, text.replaceAll(id, copy));
      const time = new Date(Date.now() - 60_000 - index * 1_000);
      await utimes(path, time, time);
      return copy;
    }),
  );
}
