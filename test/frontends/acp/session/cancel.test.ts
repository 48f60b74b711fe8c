import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { only, type Permit, sources, textOf } from "../fakes/acp-client.ts";
import { calls, on, otherwise, useEditor } from "../fakes/acp-suite.ts";

describe.each(sources)("%s: cancel", (source) => {
  const at = useEditor(source, async (bench) => {
    const question = "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue";
    const replies = [
      on("stream", { text: Array.from({ length: 400 }, (_, index) => `${index} `), chunk_delay_ms: 50 }),
      on("silence", { delay_ms: 60_000, text: "Late." }),
      calls("command", ["Execute", { command: "echo $$ > pid; echo begun; sleep 61" }]),
      calls("permission", ["Create", { file_path: "asked.txt", content: "x" }]),
      calls(
        "several",
        ["Create", { file_path: "one.txt", content: "x" }],
        ["Create", { file_path: "two.txt", content: "x" }],
      ),
      calls("question", ["AskUser", { questionnaire: question }]),
      on("remember", { text: "I heard: {{user}}" }),
      ...otherwise,
    ];
    const summaries = [{ delay_ms: 60_000, text: "Late." }];
    return { args: ["-m", await bench.script(replies, { summaries })], capabilities: { elicitation: { form: {} } } };
  });
  /** The session works as before. */
  async function isUsable(): Promise<void> {
    const { response, updates } = await at().session.prompt("remember me");
    expect([response, textOf(updates)]).toEqual([{ stopReason: "end_turn" }, "I heard: remember me"]);
  }
  /** A slow editor, whose requests are withdrawn. */
  function never(): { readonly asked: Promise<void>; readonly permit: Permit; wasWithdrawn: boolean } {
    let tell: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      tell = resolve;
    });
    const state = {
      asked,
      wasWithdrawn: false,
      permit: (_: unknown, signal: AbortSignal) =>
        new Promise<never>((_resolve, reject) => {
          tell();
          signal.addEventListener("abort", () => {
            state.wasWithdrawn = true;
            reject(signal.reason);
          });
        }),
    };
    return state;
  }

  test("during a reply", async () => {
    const { session } = at();
    const from = session.updates.length;
    const turn = session.prompt("stream");
    await session.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", from);
    await session.cancel();
    expect((await turn).response).toEqual({ stopReason: "cancelled" });
    const told = textOf(session.updates.slice(from));
    expect(told.startsWith("0 ") && !told.includes("399 ")).toBe(true);
    await isUsable();
  });

  test("while the conversation is compacted", async () => {
    await isUsable();
    const { editor, session } = at();
    const compacting = session.prompt("/compact");
    await editor.agent.request("session/list", { cwd: "/" });
    await session.cancel();
    expect((await compacting).response).toEqual({ stopReason: "cancelled" });
    await isUsable();
  });

  test("before the first word of a reply", async () => {
    const { session } = at();
    const turn = session.prompt("silence");
    await session.cancel();
    expect((await turn).response).toEqual({ stopReason: "cancelled" });
    await isUsable();
  });

  test("sends nothing of a turn after its response", async () => {
    const { session } = at();
    const turn = session.prompt("stream");
    const from = session.updates.length;
    await session.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", from);
    await session.cancel();
    await turn;
    const after = session.updates.length;
    await isUsable();
    expect(textOf(session.updates.slice(after))).toBe("I heard: remember me");
  });

  test("during a command: its process is gone, and its call has failed", async () => {
    const { bench, editor, session } = at();
    await editor.agent.request("session/set_mode", { sessionId: session.id, modeId: "high" });
    const from = session.updates.length;
    const turn = session.prompt("command");
    await session.update((each) => JSON.stringify(each).includes('"text":"begun"'), from);
    const pid = Number(readFileSync(join(bench.cwd, "pid"), "utf8"));
    await session.cancel();
    const { response, updates } = await turn;
    expect(response).toEqual({ stopReason: "cancelled" });
    expect(existsSync(`/proc/${pid}`)).toBe(false);
    const told = only(updates, "tool_call_update");
    expect(told.at(-1)).toMatchObject({ toolCallId: only(updates, "tool_call")[0]?.toolCallId, status: "failed" });
    await isUsable();
  });

  test("during a permission request: it is withdrawn, and nothing runs", async () => {
    const { bench, editor, session } = at();
    await editor.agent.request("session/set_mode", { sessionId: session.id, modeId: "off" });
    const waiting = never();
    editor.permit = waiting.permit;
    const turn = session.prompt("permission");
    await waiting.asked;
    await session.cancel();
    const { response, updates } = await turn;
    expect(response).toEqual({ stopReason: "cancelled" });
    expect(only(updates, "tool_call_update").at(-1)?.status).toBe("failed");
    expect([waiting.wasWithdrawn, existsSync(join(bench.cwd, "asked.txt"))]).toEqual([true, false]);
    await isUsable();
  });

  test("during a permission request that the editor itself answers as cancelled", async () => {
    const { bench, editor, session } = at();
    let answer: () => void = () => undefined;
    const asked = new Promise<void>((tell) => {
      editor.permit = () =>
        new Promise((resolve) => {
          answer = () => resolve({ outcome: { outcome: "cancelled" } });
          tell();
        });
    });
    const turn = session.prompt("permission");
    await asked;
    await session.cancel();
    answer();
    expect((await turn).response).toEqual({ stopReason: "cancelled" });
    expect(existsSync(join(bench.cwd, "asked.txt"))).toBe(false);
    await isUsable();
  });

  test("during the first of several permission requests, the others are never sent", async () => {
    const { bench, editor, session } = at();
    const before = editor.permissions.length;
    const waiting = never();
    editor.permit = waiting.permit;
    const turn = session.prompt("several");
    await waiting.asked;
    await session.cancel();
    const { response, updates } = await turn;
    expect(response).toEqual({ stopReason: "cancelled" });
    expect(editor.permissions).toHaveLength(before + 1);
    const ended = only(updates, "tool_call_update").filter(({ status }) => status === "failed");
    expect(new Set(ended.map(({ toolCallId }) => toolCallId)).size).toBe(2);
    expect(["one.txt", "two.txt"].some((name) => existsSync(join(bench.cwd, name)))).toBe(false);
    await isUsable();
  });

  test("during a question: the form is withdrawn", async () => {
    const { editor, session } = at();
    const waiting = never();
    editor.elicit = waiting.permit as never;
    const turn = session.prompt("question");
    await waiting.asked;
    await session.cancel();
    const { response, updates } = await turn;
    expect([response, waiting.wasWithdrawn]).toEqual([{ stopReason: "cancelled" }, true]);
    expect(only(updates, "tool_call_update").at(-1)?.status).toBe("failed");
    await isUsable();
  });

  test("twice has the same effect as once", async () => {
    const { session } = at();
    const from = session.updates.length;
    const turn = session.prompt("stream");
    await session.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", from);
    await Promise.all([session.cancel(), session.cancel()]);
    await session.cancel();
    expect((await turn).response).toEqual({ stopReason: "cancelled" });
    await isUsable();
  });

  test("does nothing when idle", async () => {
    const { editor, session } = at();
    const from = editor.lines.length;
    await session.cancel();
    await isUsable();
    expect(editor.lines.slice(from).filter(({ message }) => message.error !== undefined)).toEqual([]);
  });

  test("of an unknown session does nothing", async () => {
    const { editor } = at();
    const from = editor.lines.length;
    await editor.agent.notify("session/cancel", { sessionId: "nobody" });
    await isUsable();
    expect(editor.lines.slice(from).filter(({ message }) => message.error !== undefined)).toEqual([]);
  });

  test("also cancels waiting prompts", async () => {
    const { session } = at();
    const from = session.updates.length;
    const turns = [session.prompt("stream"), session.prompt("remember that")];
    await session.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", from);
    await session.cancel();
    expect((await Promise.all(turns)).map(({ response }) => response.stopReason)).toEqual(["cancelled", "cancelled"]);
    expect(textOf(session.updates.slice(from))).not.toContain("I heard");
    await isUsable();
  });

  test("the request itself can be cancelled", async () => {
    const { editor, session } = at();
    const from = session.updates.length;
    const giveUp = new AbortController();
    const prompt = [{ type: "text" as const, text: "stream" }];
    const turn = editor.agent.request(
      "session/prompt",
      { sessionId: session.id, prompt },
      { cancellationSignal: giveUp.signal },
    );
    await session.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", from);
    giveUp.abort();
    expect(await turn).toEqual({ stopReason: "cancelled" });
    await isUsable();
  });

  test("of one session leaves another running", async () => {
    const { editor, session } = at();
    const other = await editor.open();
    const [from, otherFrom] = [session.updates.length, other.updates.length];
    const turns = [session.prompt("stream"), other.prompt("stream")];
    await session.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", from);
    await other.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", otherFrom);
    await session.cancel();
    expect((await turns[0])?.response.stopReason).toBe("cancelled");
    const place = other.updates.length;
    await other.update(({ sessionUpdate }) => sessionUpdate === "agent_message_chunk", place);
    await other.cancel();
    expect((await turns[1])?.response.stopReason).toBe("cancelled");
  });
});
