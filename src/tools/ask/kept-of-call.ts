import type { Tool } from "../../engine/tool.ts";
import { isText, recordOf } from "../../text/values.ts";

/** The list as last written by the model. */
export const keptTodos: NonNullable<Tool["kept"]> = (input) => {
  const todos = recordOf(input)?.todos;
  return isText(todos) ? `Your list of tasks, as you wrote it last:\n\n${todos}` : undefined;
};

/** A plan that the user has approved. */
export const keptPlan: NonNullable<Tool["kept"]> = (input, { text }) => {
  const plan = recordOf(input)?.plan;
  return isText(plan) && text.startsWith('{"approved":true')
    ? `The plan that the user approved:\n\n${plan}`
    : undefined;
};
