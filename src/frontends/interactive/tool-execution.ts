import type { ToolExecution } from "../../protocol/interactive.ts";
import { refused, unusable } from "./failures.ts";
import type { InteractiveOptions } from "./options.ts";

type Options = Pick<InteractiveOptions, "toolExecution" | "toolExecutionChoices">;

/** Who runs the tools of a new session. Throws where the server leaves no choice. */
export function chosenExecution(wanted: ToolExecution | null | undefined, options: Options): ToolExecution {
  const { toolExecution: usual, toolExecutionChoices: choices } = options;
  if (wanted === undefined || wanted === null || wanted === usual) return usual;
  if (choices.includes(wanted)) return wanted;
  throw unusable("tool_execution", `This server does not let clients choose who runs the tools; it is ${usual}.`);
}

/** Sessions of other front ends, and of an earlier configuration, may need a server that runs tools. */
export function isExecutable(execution: ToolExecution, { toolExecution, toolExecutionChoices }: Options): boolean {
  return execution === "client" || execution === toolExecution || toolExecutionChoices.includes(execution);
}

export function checkExecutable(execution: ToolExecution, options: Options): void {
  if (isExecutable(execution, options)) return;
  throw refused("tool_execution", "This server runs no tools for its clients, and this session needs it.");
}
