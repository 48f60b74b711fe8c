import { existsSync } from "node:fs";
import { join } from "node:path";
import { RequestError } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { choosing, only, type Permit, refusal, sources, textOf } from "./fakes/acp-client.ts";
import { calls, on, otherwise, useEditor } from "./fakes/acp-suite.ts";

const longCommand = `touch long.txt # ${"x".repeat(500)}\necho 'second line' && echo \`three\``;

const plan = "# The plan\n\n1. Look\n2. Leap";
const questions = [
  "1. [question] Which color?",
  "[topic] Color",
  "[option] Red",
  "[option] Blue",
  "2. [question] Which size?",
  "[topic] Size",
  "[option] Small",
  "[option] Large",
].join("\n");
const oneQuestion = "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue";

describe.each(sources)("%s: permissions, plans and questions", (source) => {
  const at = useEditor(source, async (bench) => {
    const touch = (name: string) => ["Execute", { command: `touch ${name}`, riskLevel: "medium" }] as const;
    const replies = [
      ...["once", "no", "cancelled", "strange", "error", "after"].map((name) => calls(name, touch(name))),
      calls("always", ["Create", { file_path: "always", content: "{{user}}" }]),
      calls("pair", touch("pair-1"), touch("pair-2")),
      calls("mixed", touch("mixed-1"), touch("mixed-2")),
      calls("long", ["Execute", { command: longCommand }]),
      calls("look", ["Read", { file_path: "seen.txt" }]),
      calls("plan", ["ExitSpecMode", { plan, title: "Look and leap" }]),
      calls("ask", ["AskUser", { questionnaire: questions }]),
      ...otherwise,
    ];
    await bench.file("seen.txt", "seen");
    return { args: ["-m", await bench.script(replies)], capabilities: { elicitation: { form: {} } } };
  });
  async function ask(prompt: string, permit: Permit) {
    const { bench, editor, session } = at();
    editor.permit = permit;
    const before = editor.permissions.length;
    const { response, updates } = await session.prompt(prompt);
    return {
      stopReason: response.stopReason,
      updates,
      asked: editor.permissions.slice(before),
      isDone: existsSync(join(bench.cwd, prompt)),
      status: only(updates, "tool_call_update").at(-1)?.status,
    };
  }

  test("reading is not asked about", async () => {
    expect((await ask("look", choosing("reject_once"))).asked).toEqual([]);
  });

  test("a request names its session and its call", async () => {
    const { asked, updates } = await ask("no", choosing("reject_once"));
    const [{ toolCallId, rawInput, title, kind } = { toolCallId: "" }] = only(updates, "tool_call");
    expect(asked).toHaveLength(1);
    expect(asked[0]?.sessionId).toBe(at().session.id);
    expect(asked[0]?.toolCall).toMatchObject({ toolCallId, rawInput, title, kind, status: "pending" });
  });

  test("its call was announced before", async () => {
    const { session } = at();
    const from = session.updates.length;
    let announced: readonly string[] = [];
    const { asked } = await ask("no", (request, signal) => {
      announced = only(session.updates.slice(from), "tool_call").map(({ toolCallId }) => toolCallId);
      return choosing("reject_once")(request, signal);
    });
    expect(announced).toEqual(asked.map(({ toolCall }) => toolCall.toolCallId));
  });

  test("offers to allow once, to allow longer, and to decline", async () => {
    const { asked } = await ask("no", choosing("reject_once"));
    const kinds = asked[0]?.options.map(({ kind }) => kind) ?? [];
    expect(new Set(kinds)).toEqual(new Set(["allow_once", "allow_always", "reject_once"]));
    expect(asked[0]?.options.every(({ name, optionId }) => name !== "" && optionId !== "")).toBe(true);
  });

  test("once allowed, it runs", async () => {
    const { isDone, status, stopReason } = await ask("once", choosing("allow_once"));
    expect([isDone, status, stopReason]).toEqual([true, "completed", "end_turn"]);
  });

  test("and is asked about again", async () => {
    expect((await ask("once", choosing("allow_once"))).asked).toHaveLength(1);
  });

  test.each<[string, string, Permit]>([
    ["a no", "no", choosing("reject_once")],
    ["no answer", "cancelled", () => ({ outcome: { outcome: "cancelled" } })],
    ["an option that was not offered", "strange", choosing("proceed_with_everything")],
    [
      "an error",
      "error",
      () => {
        throw new RequestError(-32603, "The editor has a headache.");
      },
    ],
  ])("after %s nothing runs, the call has failed, and the turn has ended", async (_, prompt, permit) => {
    const { isDone, status, stopReason } = await ask(prompt, permit);
    expect([isDone, status, stopReason]).toEqual([false, "failed", "end_turn"]);
  });

  test("the session continues after a no", async () => {
    expect((await ask("after", choosing("allow_once"))).isDone).toBe(true);
  });

  test("asks about each of a reply's calls", async () => {
    const { asked, updates } = await ask("pair", choosing("allow_once"));
    expect(asked.map(({ toolCall }) => toolCall.title)).toEqual(["touch pair-1", "touch pair-2"]);
    expect(asked.map(({ toolCall }) => toolCall.toolCallId)).toEqual(
      only(updates, "tool_call").map(({ toolCallId }) => toolCallId),
    );
    expect(["pair-1", "pair-2"].map((name) => existsSync(join(at().bench.cwd, name)))).toEqual([true, true]);
  });

  test("runs none of several calls if one is declined", async () => {
    const { updates } = await ask("mixed", (request, signal) =>
      choosing(request.toolCall.title === "touch mixed-1" ? "allow_once" : "reject_once")(request, signal),
    );
    expect(["mixed-1", "mixed-2"].map((name) => existsSync(join(at().bench.cwd, name)))).toEqual([false, false]);
    const ends = only(updates, "tool_call_update").filter(({ status }) => status !== "in_progress");
    expect(ends.map(({ status }) => status)).toEqual(["failed", "failed"]);
  });

  test("shows a whole command, however long, and the reason", async () => {
    const { asked } = await ask("long", choosing("reject_once"));
    const shown = JSON.stringify(asked[0]?.toolCall.content);
    expect(shown).toContain(JSON.stringify(longCommand).slice(1, -1));
    expect(asked[0]?.toolCall.content?.at(-1)).toMatchObject({
      content: { text: expect.stringMatching(/^`?Execute runs /) },
    });
  });

  test("once always allowed, it is not asked about again", async () => {
    const first = await ask("always", choosing("allow_always"));
    const second = await ask("always", choosing("reject_once"));
    expect([first.asked.length, first.isDone, second.asked.length, second.status]).toEqual([1, true, 0, "completed"]);
  });

  test("a plan is a mode switch that needs approval", async () => {
    const { editor, session } = at();
    await session.request("session/set_mode", { modeId: "spec" });
    editor.permit = choosing("reject_once");
    await session.prompt("plan");
    const asked = editor.permissions.at(-1);
    expect(asked?.toolCall).toMatchObject({
      kind: "switch_mode",
      title: "Look and leap",
      content: [{ type: "content", content: { type: "text", text: plan } }],
    });
    const kinds = asked?.options.map(({ kind }) => kind) ?? [];
    expect([kinds.filter((kind) => kind === "reject_once").length, kinds.includes("allow_once")]).toEqual([1, true]);
  });

  test("its call has the same id", async () => {
    const { editor, session } = at();
    editor.permit = choosing("reject_once");
    const { updates } = await session.prompt("plan");
    expect(only(updates, "tool_call").map(({ toolCallId }) => toolCallId)).toEqual([
      editor.permissions.at(-1)?.toolCall.toolCallId,
    ]);
  });

  test.each<[string, Permit]>([
    ["a no", choosing("reject_once")],
    ["no answer", () => ({ outcome: { outcome: "cancelled" } })],
    ["an unknown option", choosing("proceed_as_you_like")],
  ])("after %s it stays in spec mode", async (_, permit) => {
    const { editor, session } = at();
    editor.permit = permit;
    const { response, updates } = await session.prompt("plan");
    expect(response.stopReason).toBe("end_turn");
    expect([only(updates, "current_mode_update"), only(updates, "config_option_update")]).toEqual([[], []]);
  });

  test("approved at a level, the mode is that level, reported in both forms", async () => {
    const { editor, session } = at();
    await session.request("session/set_mode", { modeId: "spec" });
    editor.permit = choosing("proceed_auto_run_low");
    const { response, updates } = await session.prompt("plan");
    expect(response.stopReason).toBe("end_turn");
    expect(only(updates, "current_mode_update").map(({ currentModeId }) => currentModeId)).toEqual(["low"]);
    const options = only(updates, "config_option_update").at(-1)?.configOptions ?? [];
    expect(options.find(({ id }) => id === "mode")?.currentValue).toBe("low");
    const ends = only(updates, "tool_call_update").map(({ status }) => status);
    expect(ends.at(-1)).toBe("completed");
  });

  test("the form has a field per question, with its options and a field for free text", async () => {
    const { editor, session } = at();
    const { updates } = await session.prompt("ask");
    const [toolCallId] = only(updates, "tool_call").map((call) => call.toolCallId);
    expect(editor.elicitations.at(-1)).toEqual({
      mode: "form",
      sessionId: session.id,
      toolCallId,
      message: "Which color?\nWhich size?",
      requestedSchema: {
        type: "object",
        required: [],
        properties: {
          q1: {
            type: "string",
            title: "Color",
            description: "Which color?",
            oneOf: [
              { const: "Red", title: "Red" },
              { const: "Blue", title: "Blue" },
            ],
          },
          q1_other: { type: "string", title: "Color: something else", description: "In your own words." },
          q2: {
            type: "string",
            title: "Size",
            description: "Which size?",
            oneOf: [
              { const: "Small", title: "Small" },
              { const: "Large", title: "Large" },
            ],
          },
          q2_other: { type: "string", title: "Size: something else", description: "In your own words." },
        },
      },
    });
  });

  test("answers reach the model", async () => {
    const { editor, session } = at();
    editor.elicit = () => ({ action: "accept", content: { q1: "Blue", q2: "Large" } });
    const { updates } = await session.prompt("ask");
    expect(textOf(updates)).toMatch(/Which color\?.*Blue.*Which size\?.*Large/s);
    expect(only(updates, "tool_call_update").at(-1)?.status).toBe("completed");
  });

  test("free text takes precedence over a choice", async () => {
    const { editor, session } = at();
    editor.elicit = () => ({ action: "accept", content: { q1: "Blue", q1_other: "Beige", q2: "Small" } });
    const answer = textOf((await session.prompt("ask")).updates);
    expect([answer.includes("Beige"), answer.includes("Blue")]).toEqual([true, false]);
  });

  test.each<[string, object]>([
    ["declined", { action: "decline" }],
    ["cancelled", { action: "cancel" }],
    ["accepted without content", { action: "accept" }],
  ])("a form that is %s counts as no answer, and the turn ends", async (_, answer) => {
    const { editor, session } = at();
    editor.elicit = () => answer as never;
    const { response, updates } = await session.prompt("ask");
    expect(response.stopReason).toBe("end_turn");
    expect(textOf(updates)).not.toContain("Blue");
  });

  test("an accepted form with a gap answers the rest", async () => {
    const { editor, session } = at();
    editor.elicit = () => ({ action: "accept", content: { q1: "Blue" } });
    const { updates } = await session.prompt("ask");
    expect(textOf(updates)).toMatch(/\[answer\] Blue[\s\S]*\[answer\] No answer\./);
  });

  test("an editor's error counts as no answer, and the turn ends", async () => {
    const { editor, session } = at();
    editor.elicit = () => {
      throw new RequestError(-32601, "No forms today.");
    };
    expect((await session.prompt("ask")).response.stopReason).toBe("end_turn");
  });
});

describe.each(sources)("%s: a client without forms and notices", (source) => {
  const at = useEditor(source, async (bench) => {
    const replies = [
      calls("ask", ["AskUser", { questionnaire: oneQuestion }]),
      on("often", { error: { status: 503, message: "Busy.", retry_after_ms: 1 }, times: 1 }),
      on("often", { text: "At last." }),
      ...otherwise,
    ];
    return { args: ["-m", await bench.script(replies), "--log-level", "warn"] };
  });

  test("each question is a choice among its options", async () => {
    const { editor, session } = at();
    editor.permit = choosing("answer-2");
    const { updates } = await session.prompt("ask");
    const asked = editor.permissions.at(-1);
    expect([asked?.toolCall.title, asked?.options.map(({ name, kind }) => [name, kind])]).toEqual([
      "Which color?",
      [
        ["Red", "allow_once"],
        ["Blue", "allow_once"],
        ["No answer", "reject_once"],
      ],
    ]);
    expect(textOf(updates)).toContain("Blue");
    expect(editor.elicitations).toEqual([]);
  });

  test.each<[string, Permit]>([
    ["no answer", choosing("no-answer")],
    ["a cancelled choice", () => ({ outcome: { outcome: "cancelled" } })],
    ["an option that was not offered", choosing("answer-9")],
  ])("%s ends the question, and the turn", async (_, permit) => {
    const { editor, session } = at();
    editor.permit = permit;
    const { response, updates } = await session.prompt("ask");
    expect(response.stopReason).toBe("end_turn");
    expect(textOf(updates)).not.toMatch(/Blue|Red/);
  });

  test("it gets no notices", async () => {
    const { updates } = await at().session.prompt("often");
    expect([only(updates, "notice"), textOf(updates)]).toEqual([[], "At last."]);
  });

  test("nothing else was requested from the editor", async () => {
    const asked = at().editor.lines.filter(
      ({ from, message }) => from === "agent" && "id" in message && message.method,
    );
    expect(new Set(asked.map(({ message }) => message.method))).toEqual(new Set(["session/request_permission"]));
    expect(await refusal(at().editor.agent.request("authenticate", { methodId: "" }))).toMatchObject({ code: -32602 });
  });
});
