import { defineTool, failed, succeeded } from "../../engine/tool.ts";
import { z } from "../zod.ts";

export const todoWriteTool = defineTool({
  input: z.strictObject({ todos: z.string("todos is required and must be a string: one task a line") }),

  async access() {
    return [];
  },

  /** The call itself is the list: it stays in the conversation, where front ends find it. */
  async run(input) {
    if (input.todos.trim() === "") return failed("todos is required: one task a line");
    return succeeded("TODO List Updated");
  },
});
