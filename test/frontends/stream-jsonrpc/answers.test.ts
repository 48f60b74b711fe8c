import { describe, expect, test } from "vitest";
import type { Interaction } from "../../../src/core/interaction.ts";
import type { Decision } from "../../../src/core/permission.ts";
import { answerOf, optionOf } from "../../../src/frontends/stream-jsonrpc/answers.ts";

const decision = (rule: string): Decision => ({
  verdict: "ask",
  class: "medium",
  impact: "medium",
  extractedCommands: [],
  rule,
  why: "",
});
const permission = (rule = "command"): Interaction => ({
  kind: "permission",
  calls: [{ call: { type: "tool_call", id: "c", name: "Execute", input: {} }, decision: decision(rule) }],
});
const plan: Interaction = { kind: "plan", callId: "c", plan: "p" };
const question = (index: number) => ({ index, topic: "t", question: `q${index}`, options: ["a"] });
const questions: Interaction = { kind: "question", callId: "c", questions: [question(1), question(2)] };

const cancel = (why: string) => ({ kind: "cancel", why });
const notOffered = (option: string) => cancel(`the client chose "${option}", which was not offered`);

describe("permissions", () => {
  test.each([
    ["proceed_once", { kind: "allow" }],
    ["proceed_always", { kind: "allow", always: true }],
    ["proceed_auto_run", { kind: "allow" }],
    ["proceed_auto_run_low", { kind: "allow" }],
    ["proceed_auto_run_high", { kind: "allow" }],
    ["cancel", { kind: "cancel" }],
    ["proceed_edit", notOffered("proceed_edit")],
    ["constructor", notOffered("constructor")],
  ])("%s", (selectedOption, answer) => {
    expect(answerOf(permission(), { result: { selectedOption } })).toEqual(answer);
  });

  test("always is once where it was not offered", () => {
    const response = { result: { selectedOption: "proceed_always" } };
    expect(answerOf(permission("protected-place"), response)).toEqual({ kind: "allow" });
  });

  test.each([
    [{ selectedOption: "cancel", comment: "use pnpm" }, cancel("use pnpm")],
    [{ selectedOption: "cancel", comment: "  " }, { kind: "cancel" }],
    [{ selectedOption: "cancel", comment: "x".repeat(20_000) }, cancel("x".repeat(10_000))],
    [{ selectedOption: "cancel", comment: 5 }, { kind: "cancel" }],
  ])("a comment goes to the model", (result, answer) => {
    expect(answerOf(permission(), { result })).toEqual(answer);
  });
});

test.each([
  ["proceed_once", { kind: "approve", autonomy: "off" }],
  ["proceed_auto_run_low", { kind: "approve", autonomy: "low" }],
  ["proceed_auto_run_medium", { kind: "approve", autonomy: "medium" }],
  ["proceed_auto_run_high", { kind: "approve", autonomy: "high" }],
  ["cancel", { kind: "cancel" }],
  ["proceed_always", notOffered("proceed_always")],
  ["proceed_auto_run", notOffered("proceed_auto_run")],
  ["proceed_new_session", notOffered("proceed_new_session")],
])("a plan: %s", (selectedOption, answer) => {
  expect(answerOf(plan, { result: { selectedOption } })).toEqual(answer);
});

describe("questions", () => {
  const answers = (first: string, second: string) => ({
    kind: "answers",
    answers: [
      { index: 1, answer: first },
      { index: 2, answer: second },
    ],
  });
  const wrong = cancel("the client's answers are neither texts nor objects with an answer");

  test.each([
    [{ cancelled: true, answers: [] }, { kind: "cancel" }],
    [
      {
        answers: [
          { index: 1, question: "q1", answer: "A" },
          { index: 2, answer: "B" },
        ],
      },
      answers("A", "B"),
    ],
    [{ cancelled: false, answers: ["A", "B"] }, answers("A", "B")],
    [{ answers: [{ answer: "A" }, "B"] }, answers("A", "B")],
    [
      {
        answers: [
          { index: 1, answer: ["A", "C"] },
          { index: 2, answer: "B" },
        ],
      },
      answers("A, C", "B"),
    ],
    [{ answers: ["A", "B", "C"] }, answers("A", "B")],
    [{ answers: [{ index: 2, answer: "B" }] }, { kind: "answers", answers: [{ index: 2, answer: "B" }] }],
    [{ answers: [] }, { kind: "answers", answers: [] }],
    [{}, cancel("the client's answer has no list of answers")],
    [{ answers: "A" }, cancel("the client's answer has no list of answers")],
    [{ answers: [1, 2] }, wrong],
    [{ answers: [{ index: 1 }, "B"] }, wrong],
    [{ answers: [null] }, wrong],
    [{ answers: [{ index: 1, answer: ["A", 2] }] }, wrong],
  ])("%j", (result, answer) => {
    expect(answerOf(questions, { result })).toEqual(answer);
  });

  test("answers that are numbered otherwise are taken in order", () => {
    const fromZero = [
      { index: 0, answer: "A" },
      { index: 1, answer: "B" },
    ];
    expect(answerOf(questions, { result: { answers: fromZero } })).toEqual(answers("A", "B"));
    const twice = fromZero.map(({ answer }) => ({ index: 1, answer }));
    expect(answerOf(questions, { result: { answers: twice } })).toEqual(answers("A", "B"));
    const swapped = [
      { index: 2, answer: "B" },
      { index: 1, answer: "A" },
    ];
    expect(answerOf(questions, { result: { answers: swapped } })).toEqual({
      kind: "answers",
      answers: [
        { index: 2, answer: "B" },
        { index: 1, answer: "A" },
      ],
    });
  });
});

test.each([permission(), plan, questions])("whatever cannot be understood is a no in words", (interaction) => {
  const notAnObject = cancel("the client's answer is not an object");
  for (const result of [undefined, null, 1, "proceed_once", [], true]) {
    expect(answerOf(interaction, { result })).toEqual(notAnObject);
  }
  const isQuestion = interaction.kind === "question";
  const missing = isQuestion
    ? "the client's answer has no list of answers"
    : "the client's answer has no selectedOption";
  expect(answerOf(interaction, { result: { selectedOption: 5 } })).toEqual(cancel(missing));
  const withWords = cancel("the client answered with an error: no");
  expect(answerOf(interaction, { error: { code: 1, message: "no" } })).toEqual(withWords);
  expect(answerOf(interaction, { error: null, result: {} })).toEqual(cancel("the client answered with an error"));
  const long = answerOf(interaction, { error: { message: "x".repeat(5_000) } });
  expect(long).toEqual(cancel(`the client answered with an error: ${"x".repeat(200)}`));
});

test("an answer has the option that says it", () => {
  expect(
    (
      [
        { kind: "allow" },
        { kind: "allow", always: true },
        { kind: "approve", autonomy: "off" },
        { kind: "approve", autonomy: "medium" },
        { kind: "cancel", why: "x" },
      ] as const
    ).map(optionOf),
  ).toEqual(["proceed_once", "proceed_always", "proceed_once", "proceed_auto_run_medium", "cancel"]);
});
