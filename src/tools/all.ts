import type { Tool } from "../core/tool.ts";
import { askUserTool } from "./ask-user.ts";
import { createTool } from "./create.ts";
import { editTool } from "./edit.ts";
import { executeTool } from "./execute.ts";
import { exitSpecModeTool } from "./exit-spec-mode.ts";
import { globTool } from "./glob.ts";
import { grepTool } from "./grep.ts";
import { lsTool } from "./ls.ts";
import { readTool } from "./read.ts";
import { todoWriteTool } from "./todo-write.ts";

/** In the order in which they are offered and listed. */
export const builtinTools: readonly Tool[] = [
  readTool,
  lsTool,
  grepTool,
  globTool,
  createTool,
  editTool,
  executeTool,
  todoWriteTool,
  askUserTool,
  exitSpecModeTool,
];
