import { defineTool, failed, succeeded } from "../../engine/tool.ts";
import { z } from "../zod.ts";

export const todoWriteTool = defineTool({
  input: z.strictObject({ todos: z.string("todos is required and must be a string: one task a line") }),

  async access() {
    return [];
  },

  /** The list is the call itself: it stays in the conversation, and front ends show it from there. */
  async run(input) {
    if (input.todos.trim() === "") return failed("todos is required: one task a line");
    return succeeded("TODO List Updated");
  },
});
