import type { ToolOutput } from "../core/tool.ts";

/** A call that was stopped; `partial` is what it had come to. */
export function interrupted(partial = ""): ToolOutput {
  const rest = partial === "" ? "" : `\n\nOutput before it was stopped:\n${partial}`;
  return { text: `Error: Tool execution cancelled by user${rest}`, status: "interrupted" };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
