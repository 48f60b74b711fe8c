import type { Tool } from "../engine/tool.ts";
import { keptPlan, keptTodos } from "./ask/kept-of-call.ts";
import applyPatchText from "./descriptions/apply-patch.md";
import askUserText from "./descriptions/ask-user.md";
import createText from "./descriptions/create.md";
import editText from "./descriptions/edit.md";
import executeText from "./descriptions/execute.md";
import exitSpecModeText from "./descriptions/exit-spec-mode.md";
import fetchUrlText from "./descriptions/fetch-url.md";
import globText from "./descriptions/glob.md";
import grepText from "./descriptions/grep.md";
import lsText from "./descriptions/ls.md";
import readText from "./descriptions/read.md";
import todoWriteText from "./descriptions/todo-write.md";

/** In the order in which they are offered and listed. */
export const builtinTools: readonly Tool[] = [
  {
    name: "Read",
    kind: "read",
    title: "Read a file",
    description: readText,
    concurrent: true,
    load: async () => (await import("./read/read.ts")).readTool,
  },
  {
    name: "LS",
    kind: "read",
    title: "List a directory",
    description: lsText,
    concurrent: true,
    load: async () => (await import("./search/ls.ts")).lsTool,
  },
  {
    name: "Grep",
    kind: "read",
    title: "Search in files",
    description: grepText,
    concurrent: true,
    load: async () => (await import("./search/grep.ts")).grepTool,
  },
  {
    name: "Glob",
    kind: "read",
    title: "Find files by name",
    description: globText,
    concurrent: true,
    load: async () => (await import("./search/glob.ts")).globTool,
  },
  {
    name: "Create",
    kind: "edit",
    title: "Create a file",
    description: createText,
    concurrent: false,
    load: async () => (await import("./edit/create.ts")).createTool,
  },
  {
    name: "Edit",
    kind: "edit",
    title: "Edit a file",
    description: editText,
    concurrent: false,
    load: async () => (await import("./edit/edit.ts")).editTool,
  },
  {
    name: "ApplyPatch",
    kind: "edit",
    title: "Apply a patch",
    description: applyPatchText,
    replaces: ["Create", "Edit"],
    concurrent: false,
    load: async () => (await import("./patch/apply-patch.ts")).applyPatchTool,
  },
  {
    name: "Execute",
    kind: "execute",
    title: "Run a shell command",
    description: executeText,
    concurrent: false,
    load: async () => (await import("./execute/execute.ts")).executeTool,
  },
  {
    name: "TodoWrite",
    kind: "plan",
    title: "Keep the task list",
    description: todoWriteText,
    concurrent: false,
    kept: keptTodos,
    load: async () => (await import("./ask/todo-write.ts")).todoWriteTool,
  },
  {
    name: "AskUser",
    kind: "ask",
    title: "Ask the user",
    description: askUserText,
    concurrent: false,
    load: async () => (await import("./ask/ask-user.ts")).askUserTool,
  },
  {
    name: "ExitSpecMode",
    kind: "plan",
    title: "Propose a plan",
    description: exitSpecModeText,
    onlyIn: "spec",
    concurrent: false,
    kept: keptPlan,
    load: async () => (await import("./ask/exit-spec-mode.ts")).exitSpecModeTool,
  },
  {
    name: "FetchUrl",
    kind: "fetch",
    title: "Read a web page",
    description: fetchUrlText,
    concurrent: true,
    load: async () => (await import("./web/fetch-url.ts")).fetchUrlTool,
  },
];
