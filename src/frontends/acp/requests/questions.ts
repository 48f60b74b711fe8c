import { randomUUID } from "node:crypto";
import type { ElicitationPropertySchema, PermissionOption, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { QuestionAnswer, QuestionRequest } from "../../../sdk/api.ts";
import type { Question } from "../../../sdk/types.ts";
import { terminalLine, terminalText } from "../../../text/terminal-text.ts";
import { shownTitle, textContent } from "../view/shown-text.ts";
import type { Asking } from "./permissions.ts";

type Answers = Exclude<QuestionAnswer, undefined>;

/** Asks with a form if the client supports forms, otherwise one question at a time. Undefined if there are no answers. */
export async function askQuestions({ questions, signal }: QuestionRequest, asking: Asking): Promise<QuestionAnswer> {
  if (asking.client.capabilities.elicitation?.form) return byForm(questions, signal, asking);
  return byChoices(questions, signal, asking);
}

/** By position, because the backend's numbers may repeat. */
const keyOf = (at: number): string => `q${at + 1}`;
/** For an answer in the user's own words. */
const ownKeyOf = (at: number): string => `q${at + 1}_other`;

async function byForm(questions: readonly Question[], signal: AbortSignal, asking: Asking): Promise<QuestionAnswer> {
  const toolCallId = asking.translator.openCallOf("AskUser");
  const answer = await asking.client.elicit(
    {
      mode: "form",
      sessionId: asking.sessionId,
      ...(toolCallId === undefined ? {} : { toolCallId }),
      message: questions.map(({ question }) => terminalText(question)).join("\n"),
      requestedSchema: { type: "object", properties: Object.fromEntries(questions.flatMap(fieldsOf)), required: [] },
    },
    signal,
  );
  if (answer.action !== "accept") return undefined;
  const content = (answer.content ?? {}) as Readonly<Record<string, unknown>>;
  const answers = questions.map((_, at) => answerIn(content, at));
  // The backend wants an answer to each question; a missing one must not discard the others.
  return answers.some((each) => each !== undefined) ? answers.map((each) => each ?? "No answer.") : undefined;
}

function fieldsOf(asked: Question, at: number): readonly (readonly [string, ElicitationPropertySchema])[] {
  const { options, multiSelect } = asked;
  const title = terminalLine(asked.topic);
  const description = terminalText(asked.question);
  if (options.length === 0) return [[keyOf(at), { type: "string", title, description }]];
  const choices = options.map((option) => ({ const: option, title: terminalLine(option) }));
  const own = { type: "string", title: `${title}: something else`, description: "In your own words." } as const;
  return [
    [
      keyOf(at),
      multiSelect === true
        ? { type: "array", title, description, items: { anyOf: choices } }
        : { type: "string", title, description, oneOf: choices },
    ],
    [ownKeyOf(at), own],
  ];
}

/** Empty text is not an answer. */
function answerIn(content: Readonly<Record<string, unknown>>, at: number): Answers[number] | undefined {
  const own = content[ownKeyOf(at)];
  if (isAnswer(own)) return own;
  const chosen = content[keyOf(at)];
  if (!Array.isArray(chosen)) return isAnswer(chosen) ? chosen : undefined;
  const texts = chosen.filter(isAnswer);
  return texts.length > 0 ? texts : undefined;
}

function isAnswer(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Questions without options cannot be asked this way. */
async function byChoices(questions: readonly Question[], signal: AbortSignal, asking: Asking): Promise<QuestionAnswer> {
  if (questions.some(({ options }) => options.length === 0)) return undefined;
  const call = asking.translator.openCallOf("AskUser");
  const answers: string[] = [];
  for (const question of questions) {
    signal.throwIfAborted();
    const answer =
      call === undefined ? await askApart(question, signal, asking) : await ask(call, question, signal, asking);
    if (answer === undefined) return undefined;
    answers.push(answer);
  }
  return answers;
}

async function ask(
  toolCallId: string,
  { question, options }: Question,
  signal: AbortSignal,
  { client, sessionId }: Asking,
): Promise<string | undefined> {
  const offered = options.map((option, at) => {
    return { optionId: `answer-${at + 1}`, name: terminalLine(option), kind: "allow_once" } as const;
  });
  const toolCall: ToolCallUpdate = {
    toolCallId,
    title: shownTitle(question),
    kind: "other",
    status: "pending",
    content: [textContent(terminalText(question))],
  };
  const none: PermissionOption = { optionId: "no-answer", name: "No answer", kind: "reject_once" };
  const chosen = await client.choose(sessionId, toolCall, [...offered, none], signal);
  return options[offered.findIndex(({ optionId }) => optionId === chosen)];
}

/** A question without a tool call gets its own call, which ends with the answer. */
async function askApart(question: Question, signal: AbortSignal, asking: Asking): Promise<string | undefined> {
  const toolCallId = `question-${randomUUID()}`;
  let answer: string | undefined;
  try {
    answer = await ask(toolCallId, question, signal, asking);
    return answer;
  } finally {
    const status = answer === undefined ? "failed" : "completed";
    void asking.client.update(asking.sessionId, { sessionUpdate: "tool_call_update", toolCallId, status });
  }
}
