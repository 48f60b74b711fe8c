import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuestionnaire } from "../../../src/tools/ask/questionnaire.ts";

const wrong = (line: number, what: string) => ({
  ok: false,
  message: `Invalid AskUser questionnaire format at line ${line}: ${what}`,
});

describe("parseQuestionnaire", () => {
  it("reads questions with topics and options", () => {
    const text =
      "1. [question] Which database?\n[topic] Database\n[option] SQLite\n[option] PostgreSQL\n\n2. [question] Migrate?\n[topic] Data\n[option] Later";
    expect(parseQuestionnaire(text)).toEqual({
      ok: true,
      questions: [
        { index: 1, topic: "Database", question: "Which database?", options: ["SQLite", "PostgreSQL"] },
        { index: 2, topic: "Data", question: "Migrate?", options: ["Later"] },
      ],
    });
  });

  it("is lenient: numbers, topics and options are optional, and tags can be unknown or upper case", () => {
    const text =
      "Some words first\r\n[topic] lost\r\n  7) [QUESTION] Go on\r\nwith this?\r\n[hint] ignored\r\nignored too\r\n[option]\r\n\r\n[Question]\r\nSure?\r\n[option] Yes\r\n[option] Yes";
    expect(parseQuestionnaire(text)).toEqual({
      ok: true,
      questions: [
        { index: 1, topic: "Q1", question: "Go on\nwith this?", options: ["Yes", "No"] },
        { index: 2, topic: "Q2", question: "Sure?", options: ["Yes"] },
      ],
    });
  });

  it("reports the line of a fault", () => {
    const questions = (count: number) => "[question] q\n".repeat(count);
    const options = (count: number) => Array.from({ length: count }, (_, index) => `[option] ${index}\n`).join("");
    expect([
      parseQuestionnaire(""),
      parseQuestionnaire("[option] Red"),
      parseQuestionnaire("[question] a\n\n[question]\n[option] b"),
      parseQuestionnaire(questions(21)),
      parseQuestionnaire(`[question] q\n${options(21)}`),
      parseQuestionnaire(`[question] ${"x".repeat(50_000)}`),
    ]).toEqual([
      wrong(1, "At least 1 [question] is required"),
      wrong(1, "At least 1 [question] is required"),
      wrong(3, "The [question] has no text"),
      wrong(21, "At most 20 questions are allowed"),
      wrong(22, "At most 20 options are allowed for a question"),
      wrong(1, "At most 50000 characters are allowed"),
    ]);
    expect(parseQuestionnaire(questions(20)).ok).toBe(true);
    expect(parseQuestionnaire(`[question] q\n${options(20)}`).ok).toBe(true);
  });

  it("never throws, and returns only questions that can be asked", () => {
    const piece = fc.constantFrom("[question]", "[option]", "[topic]", "1. ", "\n", "\r", " ", "[", "]", "x", "\u2028");
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.array(piece, { maxLength: 60 }).map((all) => all.join("")),
    );
    fc.assert(
      fc.property(text, (given) => {
        const result = parseQuestionnaire(given);
        if (!result.ok) {
          expect(result.message).toMatch(/^Invalid AskUser questionnaire format at line \d+: /);
          return;
        }
        expect(result.questions.map((question) => question.index)).toEqual(
          result.questions.map((_, index) => index + 1),
        );
        for (const question of result.questions) {
          expect([question.question, question.topic, ...question.options]).not.toContain("");
          expect(question.options.length).toBeGreaterThan(0);
          expect(question.options.length).toBeLessThanOrEqual(20);
        }
      }),
      { numRuns: 200 },
    );
  });
});
