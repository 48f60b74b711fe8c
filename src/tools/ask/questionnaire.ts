import type { Question } from "../../engine/interaction.ts";

type Questionnaire =
  | { readonly ok: true; readonly questions: readonly Question[] }
  | { readonly ok: false; readonly message: string };

const mostQuestions = 20;
const mostOptions = 20;
const mostCharacters = 50_000;

interface Draft {
  readonly line: number;
  question: string;
  topic: string;
  readonly options: string[];
}

/**
 * Reads `1. [question] …`, `[topic] …`, `[option] …` lines. The number is optional, other tags are skipped, and a line
 * without a tag continues the question above. Never throws.
 */
export function parseQuestionnaire(text: string): Questionnaire {
  if (text.length > mostCharacters) return wrong(1, `At most ${mostCharacters} characters are allowed`);
  const drafts: Draft[] = [];
  let inQuestion = false;
  for (const [index, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const line = raw.trim();
    const tagged = /^(?:\d{1,9}\s*[.)]\s*)?\[([A-Za-z]+)\]\s*(.*)$/s.exec(line);
    const tag = tagged?.[1]?.toLowerCase();
    const value = tagged?.[2] ?? "";
    const draft = drafts.at(-1);
    if (tag === "question") {
      if (drafts.length === mostQuestions) return wrong(index + 1, `At most ${mostQuestions} questions are allowed`);
      drafts.push({ line: index + 1, question: value, topic: "", options: [] });
    } else if (draft !== undefined && tag === undefined) {
      if (inQuestion && line !== "") draft.question = draft.question === "" ? line : `${draft.question}\n${line}`;
    } else if (draft !== undefined && tag === "topic") {
      draft.topic = value;
    } else if (draft !== undefined && tag === "option" && value !== "" && !draft.options.includes(value)) {
      if (draft.options.length === mostOptions)
        return wrong(index + 1, `At most ${mostOptions} options are allowed for a question`);
      draft.options.push(value);
    }
    if (tag !== undefined) inQuestion = tag === "question";
  }
  if (drafts.length === 0) return wrong(1, "At least 1 [question] is required");
  const empty = drafts.find((draft) => draft.question === "");
  if (empty !== undefined) return wrong(empty.line, "The [question] has no text");
  return { ok: true, questions: drafts.map(finish) };
}

function finish(draft: Draft, position: number): Question {
  const index = position + 1;
  const topic = draft.topic === "" ? `Q${index}` : draft.topic;
  return {
    index,
    topic,
    question: draft.question,
    options: draft.options.length === 0 ? ["Yes", "No"] : draft.options,
  };
}

function wrong(line: number, what: string): Questionnaire {
  return { ok: false, message: `Invalid AskUser questionnaire format at line ${line}: ${what}` };
}
