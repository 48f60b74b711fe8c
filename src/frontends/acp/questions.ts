import type { ElicitationPropertySchema, PermissionOption, ToolCallUpdate } from "@agentclientprotocol/sdk";
import type { QuestionAnswer, QuestionRequest } from "../../sdk/api.ts";
import type { Question } from "../../sdk/types.ts";
import type { Asking } from "./permissions.ts";
import { shownTitle, textContent } from "./shown-text.ts";

type Answers = Exclude<QuestionAnswer, undefined>;

/** By a form where the client has forms, else by one choice after the other. `undefined` when there are no answers. */
export async function askQuestions({ questions, signal }: QuestionRequest, asking: Asking): Promise<QuestionAnswer> {
  if (asking.client.capabilities.elicitation?.form) return byForm(questions, signal, asking);
  return byChoices(questions, signal, asking);
}

const keyOf = ({ index }: Question): string => `q${index}`;
/** For an answer that is none of the options. */
const ownKeyOf = ({ index }: Question): string => `q${index}_other`;

async function byForm(questions: readonly Question[], signal: AbortSignal, asking: Asking): Promise<QuestionAnswer> {
  const toolCallId = asking.translator.openCallOf("AskUser");
  const answer = await asking.client.elicit(
    {
      mode: "form",
      sessionId: asking.sessionId,
      ...(toolCallId === undefined ? {} : { toolCallId }),
      message: questions.map(({ question }) => question).join("\n"),
      requestedSchema: { type: "object", properties: Object.fromEntries(questions.flatMap(fieldsOf)), required: [] },
    },
    signal,
  );
  if (answer.action !== "accept") return undefined;
  const content = (answer.content ?? {}) as Readonly<Record<string, unknown>>;
  const answers = questions.map((question) => answerIn(content, question));
  return answers.every((each) => each !== undefined) ? (answers as Answers) : undefined;
}

function fieldsOf(question: Question): readonly (readonly [string, ElicitationPropertySchema])[] {
  const { topic: title, question: description, options, multiSelect } = question;
  if (options.length === 0) return [[keyOf(question), { type: "string", title, description }]];
  const choices = options.map((option) => ({ const: option, title: option }));
  const own = { type: "string", title: `${title}: something else`, description: "In your own words." } as const;
  return [
    [
      keyOf(question),
      multiSelect === true
        ? { type: "array", title, description, items: { anyOf: choices } }
        : { type: "string", title, description, oneOf: choices },
    ],
    [ownKeyOf(question), own],
  ];
}

function answerIn(content: Readonly<Record<string, unknown>>, question: Question): Answers[number] | undefined {
  const own = content[ownKeyOf(question)];
  if (typeof own === "string" && own.trim() !== "") return own;
  const chosen = content[keyOf(question)];
  if (Array.isArray(chosen)) return chosen.length > 0 ? chosen.map(String) : undefined;
  return typeof chosen === "string" && chosen.trim() !== "" ? chosen : undefined;
}

/** A question without options cannot be asked this way. */
async function byChoices(questions: readonly Question[], signal: AbortSignal, asking: Asking): Promise<QuestionAnswer> {
  const { client, translator, sessionId } = asking;
  if (questions.some(({ options }) => options.length === 0)) return undefined;
  const toolCallId = translator.openCallOf("AskUser");
  const answers: string[] = [];
  for (const question of questions) {
    const options: PermissionOption[] = question.options.map((name, at) => {
      return { optionId: `answer-${at + 1}`, name, kind: "allow_once" };
    });
    const toolCall: ToolCallUpdate = {
      toolCallId: toolCallId ?? `question-${question.index}`,
      title: shownTitle(question.question),
      kind: "other",
      status: "pending",
      content: [textContent(question.question)],
    };
    const none = { optionId: "no-answer", name: "No answer", kind: "reject_once" } as const;
    signal.throwIfAborted();
    const chosen = await client.choose(sessionId, toolCall, [...options, none], signal);
    const answer = options.find(({ optionId }) => optionId === chosen)?.name;
    if (answer === undefined) return undefined;
    answers.push(answer);
  }
  return answers;
}
