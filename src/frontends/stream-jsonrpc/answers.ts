import type { Answer, Interaction, Question } from "../../core/interaction.ts";
import type { OfferedOutcome } from "../../protocol/droid/words.ts";
import { offersAlways } from "./permission-request.ts";
import { recordOf } from "./record-of.ts";

/** A client's words go to the model; this many of its characters are enough. */
const maxComment = 10_000;
const maxQuoted = 200;

/** What a client's response means. Never throws: whatever cannot be understood is a no, in words. */
export function answerOf(
  interaction: Interaction,
  response: { readonly result?: unknown; readonly error?: unknown },
): Answer {
  if (response.error !== undefined) return no(`the client answered with an error${messageIn(response.error)}`);
  const result = recordOf(response.result);
  if (result === undefined) return no("the client's answer is not an object");
  if (interaction.kind === "question") return questionAnswer(interaction.questions, result);
  const { selectedOption, comment } = result;
  if (typeof selectedOption !== "string") return no("the client's answer has no selectedOption");
  if (selectedOption === "cancel") {
    return typeof comment === "string" && comment.trim() !== "" ? no(comment.slice(0, maxComment)) : { kind: "cancel" };
  }
  const answer = interaction.kind === "plan" ? planAnswer(selectedOption) : callAnswer(interaction, selectedOption);
  return answer ?? no(`the client chose ${quoted(selectedOption)}, which was not offered`);
}

/** What a client was told that it, or another one, had chosen. */
export function optionOf(answer: Answer): OfferedOutcome {
  if (answer.kind === "allow") return answer.always === true ? "proceed_always" : "proceed_once";
  if (answer.kind !== "approve") return "cancel";
  return answer.autonomy === "off" ? "proceed_once" : `proceed_auto_run_${answer.autonomy}`;
}

function callAnswer({ calls }: Interaction & { kind: "permission" }, option: string): Answer | undefined {
  switch (option) {
    case "proceed_always":
      return offersAlways(calls) ? { kind: "allow", always: true } : { kind: "allow" };
    case "proceed_once":
    case "proceed_auto_run":
    case "proceed_auto_run_low":
    case "proceed_auto_run_medium":
    case "proceed_auto_run_high":
      return { kind: "allow" };
    default:
      return undefined;
  }
}

function planAnswer(option: string): Answer | undefined {
  switch (option) {
    case "proceed_once":
      return { kind: "approve", autonomy: "off" };
    case "proceed_auto_run_low":
      return { kind: "approve", autonomy: "low" };
    case "proceed_auto_run_medium":
      return { kind: "approve", autonomy: "medium" };
    case "proceed_auto_run_high":
      return { kind: "approve", autonomy: "high" };
    default:
      return undefined;
  }
}

function questionAnswer(questions: readonly Question[], result: Readonly<Record<string, unknown>>): Answer {
  if (result.cancelled === true) return { kind: "cancel" };
  if (!Array.isArray(result.answers)) return no("the client's answer has no list of answers");
  const given = result.answers.map(givenAnswer);
  const texts = given.flatMap((entry) => (entry === undefined ? [] : [entry.answer]));
  if (texts.length < given.length) return no("the client's answers are neither texts nor objects with an answer");
  // A client that counts otherwise than it was told has answered in order all the same.
  const known = new Set(questions.map(({ index }) => index));
  const isNumbered = given.every((entry) => entry?.index !== undefined && known.delete(entry.index));
  const answers = texts.flatMap((answer, position) => {
    const index = isNumbered ? given[position]?.index : questions[position]?.index;
    return index === undefined ? [] : [{ index, answer }];
  });
  return { kind: "answers", answers };
}

function givenAnswer(entry: unknown): { readonly index?: number; readonly answer: string } | undefined {
  if (typeof entry === "string") return { answer: entry };
  const { index, answer } = recordOf(entry) ?? {};
  const isList = Array.isArray(answer) && answer.every((part) => typeof part === "string");
  const text = isList ? answer.join(", ") : answer;
  if (typeof text !== "string") return undefined;
  return typeof index === "number" ? { index, answer: text } : { answer: text };
}

function no(why: string): Answer {
  return { kind: "cancel", why: why.toWellFormed() };
}

function messageIn(error: unknown): string {
  const message = recordOf(error)?.message;
  return typeof message === "string" && message !== "" ? `: ${message.slice(0, maxQuoted)}` : "";
}

function quoted(text: string): string {
  return JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text);
}
