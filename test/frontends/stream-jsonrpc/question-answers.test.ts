import { describe, expect, test } from "vitest";
import type { Answer, PersonalInteraction } from "../../../src/engine/interaction.ts";
import { answerOf } from "../../../src/frontends/stream-jsonrpc/requests/answers.ts";

const asking = (...texts: readonly string[]): PersonalInteraction => ({
  kind: "question",
  callId: "c",
  questions: texts.map((question, at) => ({ index: at + 1, topic: "t", question, options: ["a"] })),
});
const three = asking("q1", "q2", "q3");
const answersTo = (asked: PersonalInteraction, answers: unknown): Answer => answerOf(asked, { result: { answers } });

/** Written as `1: A`. */
const given = (...lines: readonly string[]): Answer => ({
  kind: "answers",
  answers: lines.map((line) => ({ index: Number(line[0]), answer: line.slice(3) })),
});
const cancel = (why: string): Answer => ({ kind: "cancel", why });
const unfit = (why: string): Answer => cancel(`the client's answers do not fit the questions: ${why}`);

test.each<[answers: unknown, means: Answer]>([
  // By number, whatever the order and other fields.
  [
    [
      { index: 3, answer: "C" },
      { index: 1, question: "q1", answer: "A" },
      { index: 2, question: "another wording", answer: "B" },
    ],
    given("3: C", "1: A", "2: B"),
  ],
  [[{ index: 2, answer: "B" }], given("2: B")],
  // By the question's text.
  [
    [
      { question: "q3", answer: "C" },
      { question: "q1", answer: "A" },
    ],
    given("3: C", "1: A"),
  ],
  [[{ index: null, question: "q2", answer: "B" }], given("2: B")],
  // By position.
  [[{ answer: "A" }, { question: null, answer: "B" }], given("1: A", "2: B")],
  // Some of each.
  [[{ question: "q3", answer: "C" }, { answer: "B" }, { index: 1, answer: "A" }], given("3: C", "2: B", "1: A")],
  // Strings, in order.
  [["A", "B", "C"], given("1: A", "2: B", "3: C")],
  [["A"], given("1: A")],
  [[""], given("1: ")],
  [[], given()],
  // Strings fill what no object names.
  [["B", { index: 1, answer: "A" }, "C"], given("2: B", "1: A", "3: C")],
  [["A", { question: "q2", answer: "B" }, "C"], given("1: A", "2: B", "3: C")],
  [[{ answer: "A" }, "B"], given("1: A", "2: B")],
  [["A", { answer: "B" }], given("1: A", "2: B")],
  // Several for one.
  [[{ index: 1, answer: ["A", "C"] }, { answer: [] }], given("1: A, C", "2: ")],
])("%j", (answers, means) => {
  expect(answersTo(three, answers)).toEqual(means);
});

describe("an answer that matches no question is dropped", () => {
  test.each<[answers: unknown, means: Answer]>([
    [[{ index: 0, answer: "A" }], unfit("unknown question 0")],
    [
      [
        { index: 1, answer: "B" },
        { index: 4, answer: "A" },
      ],
      unfit("unknown question 4"),
    ],
    [[{ index: 1.5, answer: "A" }], unfit("unknown question 1.5")],
    [[{ index: "1", answer: "A" }], unfit('unknown question "1"')],
    [[{ index: { is: 1 }, answer: "A" }], unfit("unknown question of that name")],
    [[{ question: "Q1", answer: "A" }], unfit('unknown question "Q1"')],
    [[{ question: "", answer: "A" }], unfit('unknown question ""')],
    [[{ question: "x".repeat(500), answer: "A" }], unfit(`unknown question "${"x".repeat(200)}…"`)],
    [[{ question: ["q1"], answer: "A" }], unfit("unknown question of that name")],
    [
      [
        { index: 1, answer: "A" },
        { index: 1, answer: "B" },
      ],
      unfit("question 1 is answered twice"),
    ],
    [
      [
        { question: "q2", answer: "A" },
        { index: 2, answer: "B" },
      ],
      unfit("question 2 is answered twice"),
    ],
    [[{ index: 2, answer: "B" }, { answer: "A" }], unfit("question 2 is answered twice")],
    [["A", "B", "C", "D"], unfit("4 answers for 3 questions")],
    [
      [{ answer: "A" }, { answer: "B" }, { answer: "C" }, { index: 1, answer: "D" }],
      unfit("4 answers for 3 questions"),
    ],
  ])("%j", (answers, means) => {
    expect(answersTo(three, answers)).toEqual(means);
  });

  const wrong = cancel("the client's answers must be strings or objects with an answer");
  test.each<[answers: unknown, means: Answer]>([
    [undefined, cancel("the client's answer has no list of answers")],
    ["A", cancel("the client's answer has no list of answers")],
    [{ 1: "A" }, cancel("the client's answer has no list of answers")],
    [[1, 2], wrong],
    [[null], wrong],
    [[["A"]], wrong],
    [[{ index: 1 }, "B"], wrong],
    [[{ index: 1, answer: ["A", 2] }], wrong],
    [[{ index: 1, answer: 5 }], wrong],
  ])("%j", (answers, means) => {
    expect(answersTo(three, answers)).toEqual(means);
  });
});

test("questions with the same text are answered in order", () => {
  const asked = asking("same", "other", "same");
  const same = (answer: string) => ({ question: "same", answer });
  expect(answersTo(asked, [same("A"), same("C")])).toEqual(given("1: A", "3: C"));
  expect(answersTo(asked, [same("C"), { index: 1, answer: "A" }])).toEqual(given("3: C", "1: A"));
  expect(answersTo(asked, [same("A"), same("C"), same("D")])).toEqual(unfit("question 1 is answered twice"));
});

test("a client can decline to answer", () => {
  expect(answerOf(three, { result: { cancelled: true, answers: ["A"] } })).toEqual({ kind: "cancel" });
  expect(answerOf(three, { result: { cancelled: false, answers: ["A"] } })).toEqual(given("1: A"));
});
