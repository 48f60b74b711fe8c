import { describe, expect, it } from "vitest";
import type { Answer } from "../../src/engine/interaction.ts";
import type { Host } from "../../src/engine/ports.ts";
import { askUserTool } from "../../src/tools/ask/ask-user.ts";
import { exitSpecModeTool } from "../../src/tools/ask/exit-spec-mode.ts";
import { todoWriteTool } from "../../src/tools/ask/todo-write.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { call, createContext } from "./call.ts";

const host = createMemoryHost();

describe("TodoWrite", () => {
  it("accepts a list and rejects an empty one", async () => {
    const context = createContext(host);
    expect([
      await call(todoWriteTool, { todos: "1. [pending] a" }, context),
      await call(todoWriteTool, { todos: " \n" }, context),
    ]).toEqual([
      { status: "ok", text: "TODO List Updated" },
      { status: "failed", text: "Error: todos is required: one task a line" },
    ]);
  });
});

describe("AskUser", () => {
  const questionnaire = "1. [question] Which color?\n[topic] Color\n[option] Red\n[option] Blue\n\n2. [question] Sure?";
  const ask = (answer?: Answer) =>
    call(askUserTool, { questionnaire }, createContext(host, answer === undefined ? {} : { answer }));

  it("asks the user and returns each question with its answer", async () => {
    const answers = [
      { index: 2, answer: "Yes" },
      { index: 1, answer: "Red" },
    ];
    const context = createContext(host, { answer: { kind: "answers", answers } });
    expect(await call(askUserTool, { questionnaire }, context)).toEqual({
      status: "ok",
      text: "1. [question] Which color?\n[answer] Red\n\n2. [question] Sure?\n[answer] Yes",
    });
    expect(context.asked).toEqual([
      {
        kind: "question",
        callId: "c1",
        questions: [
          { index: 1, topic: "Color", question: "Which color?", options: ["Red", "Blue"] },
          { index: 2, topic: "Q2", question: "Sure?", options: ["Yes", "No"] },
        ],
      },
    ]);
  });

  it("tells the model what to do without a user", async () => {
    expect(await ask()).toEqual({
      status: "refused",
      text: "Error: This run has no user to ask. Decide yourself where that is safe; otherwise stop and say what you need to know.",
    });
  });

  it("fails if the user cancels or leaves questions open", async () => {
    expect([
      await ask({ kind: "cancel" }),
      await ask({ kind: "cancel", why: "the client left" }),
      await ask({ kind: "answers", answers: [{ index: 1, answer: "Red" }] }),
      await ask({
        kind: "answers",
        answers: [
          { index: 1, answer: "Red" },
          { index: 1, answer: "Blue" },
        ],
      }),
      await ask({ kind: "allow" }),
    ]).toEqual(
      [
        "Error: User cancelled AskUser",
        "Error: AskUser was cancelled: the client left",
        "Error: AskUser collected 1 answers for 2 questions.",
        "Error: AskUser collected 1 answers for 2 questions.",
        "Error: AskUser failed: the reply has no answers.",
      ].map((text) => ({ status: "failed", text })),
    );
  });

  it("asks nothing if the questionnaire is malformed", async () => {
    const context = createContext(host);
    expect(await call(askUserTool, { questionnaire: "what?" }, context)).toEqual({
      status: "failed",
      text: "Error: Invalid AskUser questionnaire format at line 1: At least 1 [question] is required",
    });
    expect(context.asked).toEqual([]);
  });

  it("is interrupted, not cancelled, if the turn is", async () => {
    const context = createContext(host, { answer: { kind: "cancel" }, signal: AbortSignal.abort() });
    expect(await call(askUserTool, { questionnaire }, context)).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
  });
});

describe("ExitSpecMode", () => {
  const hand = (input: object, answer?: Answer) =>
    call(exitSpecModeTool, input, createContext(host, answer === undefined ? {} : { answer }));

  it("asks for approval and returns the plan to the model", async () => {
    const context = createContext(host, { answer: { kind: "approve", autonomy: "low" } });
    const input = { plan: "1. do it", title: "Do it", optionNames: ["A", "B"] };
    const { text, ...rest } = await call(exitSpecModeTool, input, context);
    expect(rest).toEqual({ status: "ok" });
    const filePath = expect.stringMatching(/^\/specs\/plan-\d+\.md$/);
    const result = JSON.parse(text) as { readonly filePath: string };
    expect(result).toEqual({
      approved: true,
      message: `The plan is approved. Carry it out now. It is saved in ${result.filePath}.`,
      filePath,
      handoff: { plan: "1. do it", title: "Do it", isNewSession: false },
      isEdited: false,
    });
    expect(Object.keys(result)).toEqual(["approved", "message", "filePath", "handoff", "isEdited"]);
    expect(host.text(result.filePath)).toBe("# Do it\n\n1. do it");
    expect(context.asked).toEqual([{ kind: "plan", callId: "c1", ...input }]);
    const untitled = await hand({ plan: "x", title: " " }, { kind: "approve", autonomy: "off" });
    expect(JSON.parse(untitled.text).handoff).toEqual({ plan: "x", isNewSession: false });
  });

  it("keeps the approval if the plan cannot be saved, and says why", async () => {
    const full: Host = {
      ...host,
      savePlan: () => Promise.reject(new Error("ENOSPC: no space left on device, write")),
    };
    const context = createContext(full, { answer: { kind: "approve", autonomy: "off" } });
    const { text, status } = await call(exitSpecModeTool, { plan: "1. do it" }, context);
    expect(status).toBe("ok");
    expect(JSON.parse(text)).toEqual({
      approved: true,
      message: "The plan is approved. Carry it out now. It could not be saved: ENOSPC: no space left on device, write",
      handoff: { plan: "1. do it", isNewSession: false },
      isEdited: false,
    });
  });

  it("saves only what was approved", async () => {
    const saved: unknown[] = [];
    const watching: Host = { ...host, savePlan: async (plan) => `/specs/${saved.push(plan)}.md` };
    const hands = (answer?: Answer, signal = new AbortController().signal) =>
      call(
        exitSpecModeTool,
        { plan: "## Fix\nx", title: "fix" },
        createContext(watching, answer === undefined ? { signal } : { answer, signal }),
      );
    await hands();
    await hands({ kind: "cancel" });
    await hands({ kind: "approve", autonomy: "off" }, AbortSignal.abort());
    expect(saved).toEqual([]);
    await hands({ kind: "approve", autonomy: "off" });
    expect(saved).toEqual([{ title: "fix", text: "## Fix\nx" }]);
  });

  it("ends the turn if the plan is rejected", async () => {
    const text = "Error: Plan not approved - remaining in Spec Mode. Provide feedback to refine the spec.";
    const endTurn = { reason: "cancelled" };
    expect([
      await hand({ plan: "x" }, { kind: "cancel" }),
      await hand({ plan: "x" }, { kind: "cancel", why: "the client left" }),
      await hand({ plan: "x" }, { kind: "allow" }),
    ]).toEqual([
      { status: "refused", text, endTurn },
      { status: "refused", text: `${text} (the client left)`, endTurn },
      { status: "refused", text, endTurn },
    ]);
  });

  it("makes the plan the run's answer if no user can approve it", async () => {
    const text = "This run has no user to approve the plan, so the plan is its answer.";
    const finalTexts = [
      [{ plan: "1. do it" }, "1. do it"],
      [{ plan: "1. do it", title: "Fix" }, "# Fix\n\n1. do it"],
      [{ plan: "\n## fix \n1. do it", title: "Fix" }, "\n## fix \n1. do it"],
    ] as const;
    for (const [input, finalText] of finalTexts)
      expect(await hand(input)).toEqual({ status: "ok", text, endTurn: { reason: "planned", finalText } });
  });

  it("rejects an empty plan, and is interrupted if the turn is", async () => {
    expect(await hand({ plan: " \n" })).toEqual({
      status: "failed",
      text: "Error: plan is required: the whole plan, as Markdown",
    });
    const context = createContext(host, { answer: { kind: "cancel" }, signal: AbortSignal.abort() });
    expect(await call(exitSpecModeTool, { plan: "x" }, context)).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
  });
});
