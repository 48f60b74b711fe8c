import type { Tool } from "../tool.ts";

/** Tools that can come and go while sessions are open. */
export interface ToolSource {
  /** Grows whenever `list` would give other tools. */
  readonly version: number;
  /**
   * Those that are there now. Never throws and waits for nothing: a source that has to ask a server keeps its last answer.
   * A tool is known by its name; one that went away does not come back as something else.
   */
  list(): readonly Tool[];
}

/** Tools that stay. */
export function fixedTools(tools: readonly Tool[]): ToolSource {
  return { version: 0, list: () => tools };
}
