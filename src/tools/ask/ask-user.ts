import type { Answer, Question } from "../../engine/interaction.ts";
import { defineTool, failed, succeeded, type ToolOutput } from "../../engine/tool.ts";
import { interrupted } from "../outcome.ts";
import { z } from "../zod.ts";
import { parseQuestionnaire } from "./questionnaire.ts";

const nobody =
  "Error: This run has no user to ask. Decide yourself where that is safe; otherwise stop and say what you need to know.";

export const askUserTool = defineTool({
  input: z.strictObject({ questionnaire: z.string("questionnaire is required and must be a string") }),

  async access() {
    return [];
  },

  async run(input, context) {
    const parsed = parseQuestionnaire(input.questionnaire);
    if (!parsed.ok) return failed(parsed.message);
    const { questions } = parsed;
    const answer = await context.ask({ kind: "question", callId: context.callId, questions });
    if (context.signal.aborted) return interrupted();
    return answer === undefined ? { text: nobody, status: "refused" } : report(questions, answer);
  },
});

function report(questions: readonly Question[], answer: Answer): ToolOutput {
  if (answer.kind === "cancel")
    return failed(answer.why === undefined ? "User cancelled AskUser" : `AskUser was cancelled: ${answer.why}`);
  if (answer.kind !== "answers") return failed("AskUser failed: the reply has no answers.");
  const sections = questions.flatMap(({ index, question }) => {
    const given = answer.answers.find((candidate) => candidate.index === index);
    return given === undefined ? [] : [`${index}. [question] ${question}\n[answer] ${given.answer}`];
  });
  if (sections.length < questions.length)
    return failed(`AskUser collected ${sections.length} answers for ${questions.length} questions.`);
  return succeeded(sections.join("\n\n"));
}
