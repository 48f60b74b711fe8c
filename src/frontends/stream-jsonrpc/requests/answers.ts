import type { Answer, Interaction, PersonalInteraction, Question } from "../../../engine/interaction.ts";
import type { Autonomy } from "../../../engine/settings.ts";
import type { OfferedOutcome } from "../../../protocol/droid/words.ts";
import { textStart } from "../../../text/text-cut.ts";
import { recordOf } from "../../../text/values.ts";
import type { Vocabulary } from "../dialect.ts";
import { offersAlways } from "./permission-options.ts";

/** Limit for a client's text, which goes to the model. */
const maxComment = 10_000;
const maxQuoted = 200;

/** Interprets a client's response. Never throws: anything unclear is a no with a reason. */
export function answerOf(
  interaction: PersonalInteraction,
  response: { readonly result?: unknown; readonly error?: unknown },
): Answer {
  // Some clients write both keys, with `null` for the unused one.
  const error = response.error ?? undefined;
  if (error !== undefined) return no(`the client answered with an error${messageIn(error)}`);
  const result = recordOf(response.result);
  if (result === undefined) return no("the client's answer is not an object");
  if (interaction.kind === "question") return questionAnswer(interaction.questions, result);
  const { selectedOption, comment } = result;
  if (typeof selectedOption !== "string") return no("the client's answer has no selectedOption");
  if (selectedOption === "cancel") {
    return typeof comment === "string" && comment.trim() !== ""
      ? no(textStart(comment, maxComment))
      : { kind: "cancel" };
  }
  const answer = interaction.kind === "plan" ? planAnswer(selectedOption) : callAnswer(interaction, selectedOption);
  return answer ?? no(`the client chose ${quoted(selectedOption)}, which was not offered`);
}

/** The choice that is announced to clients. */
export function optionOf(answer: Answer, { serverChoices }: Pick<Vocabulary, "serverChoices">): OfferedOutcome {
  if (answer.kind === "allow") {
    const { always = false } = answer;
    if (always === false) return "proceed_once";
    return always === true || !serverChoices ? "proceed_always" : `proceed_always_${always}`;
  }
  if (answer.kind !== "approve") return "cancel";
  return answer.autonomy === "off" ? "proceed_once" : `proceed_auto_run_${answer.autonomy}`;
}

const allowingOptions = ["once", "always", "auto_run", "auto_run_low", "auto_run_medium", "auto_run_high"];

function callAnswer({ calls }: Interaction & { kind: "permission" }, option: string): Answer | undefined {
  if (calls.some(({ decision }) => decision.server !== undefined)) {
    if (option === "proceed_always_server") return { kind: "allow", always: "server" };
    // Older clients have one word for both.
    if (option === "proceed_always_tools" || option === "proceed_always") return { kind: "allow", always: "tools" };
  }
  if (!allowingOptions.some((word) => option === `proceed_${word}`)) return undefined;
  return option === "proceed_always" && offersAlways(calls) ? { kind: "allow", always: true } : { kind: "allow" };
}

const planOptions: ReadonlyMap<string, Autonomy> = new Map([
  ["proceed_once", "off"],
  ["proceed_auto_run_low", "low"],
  ["proceed_auto_run_medium", "medium"],
  ["proceed_auto_run_high", "high"],
]);

function planAnswer(option: string): Answer | undefined {
  const autonomy = planOptions.get(option);
  return autonomy && { kind: "approve", autonomy };
}

/**
 * Matches answers to questions by `index`, then by text; objects that name neither match by position, and plain strings
 * fill the rest in order. Answers that match nothing are never reassigned.
 */
function questionAnswer(questions: readonly Question[], result: Readonly<Record<string, unknown>>): Answer {
  if (result.cancelled === true) return { kind: "cancel" };
  if (!Array.isArray(result.answers)) return no("the client's answer has no list of answers");
  const given = result.answers.flatMap((entry) => givenAnswer(entry) ?? []);
  const count = result.answers.length;
  if (given.length < count) return no("the client's answers must be strings or objects with an answer");
  if (count > questions.length) return unfit(`${count} answers for ${questions.length} questions`);

  const free = new Map(questions.map((question) => [question.index, question]));
  const chosen = new Map<GivenAnswer, number>();
  for (const kind of ["index", "question", "place", "text"] as const) {
    for (const [place, entry] of given.entries()) {
      if (entry.by !== kind) continue;
      const index = indexFor(entry, place, questions, [...free.values()]);
      if (index === undefined) return unfit(`unknown question ${nameIn(entry)}`);
      if (!free.delete(index)) return unfit(`question ${index} is answered twice`);
      chosen.set(entry, index);
    }
  }
  const answers = given.flatMap((entry) => {
    const index = chosen.get(entry);
    return index === undefined ? [] : [{ index, answer: entry.answer }];
  });
  return { kind: "answers", answers };
}

type GivenAnswer = { readonly answer: string } & (
  | { readonly by: "index" | "question"; readonly name: unknown }
  | { readonly by: "place" | "text" }
);

function givenAnswer(entry: unknown): GivenAnswer | undefined {
  if (typeof entry === "string") return { answer: entry, by: "text" };
  const { index, question, answer: said } = recordOf(entry) ?? {};
  const isList = Array.isArray(said) && said.every((part) => typeof part === "string");
  const answer = isList ? said.join(", ") : said;
  if (typeof answer !== "string") return undefined;
  if (isThere(index)) return { answer, by: "index", name: index };
  return isThere(question) ? { answer, by: "question", name: question } : { answer, by: "place" };
}

/** Some clients write every key, with `null` for unset ones. */
function isThere(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** Questions can have the same text, so the first free one matches. */
function indexFor(
  entry: GivenAnswer,
  place: number,
  questions: readonly Question[],
  free: readonly Question[],
): number | undefined {
  switch (entry.by) {
    case "index":
      return questions.find(({ index }) => index === entry.name)?.index;
    case "question": {
      const isMeant = ({ question }: Question): boolean => question === entry.name;
      return (free.find(isMeant) ?? questions.find(isMeant))?.index;
    }
    case "place":
      return questions[place]?.index;
    case "text":
      return free[0]?.index;
  }
}

/** As the client wrote it, if it can name a question. */
function nameIn(entry: GivenAnswer): string {
  const name = "name" in entry ? entry.name : undefined;
  if (typeof name === "number") return String(name);
  return typeof name === "string" ? quoted(name) : "of that name";
}

function unfit(why: string): Answer {
  return no(`the client's answers do not fit the questions: ${why}`);
}

function no(why: string): Answer {
  return { kind: "cancel", why: why.toWellFormed() };
}

function messageIn(error: unknown): string {
  const message = recordOf(error)?.message;
  return typeof message === "string" && message !== "" ? `: ${textStart(message, maxQuoted)}` : "";
}

function quoted(text: string): string {
  return JSON.stringify(text.length > maxQuoted ? `${textStart(text, maxQuoted)}…` : text);
}
