import type { Tool } from "../tool.ts";

/** Tools that can come and go while sessions are open. */
export interface ToolSource {
  /** Grows whenever `list` would return other tools. */
  readonly version: number;
  /**
   * The current tools. Never throws or waits: a source that must query a server returns its last answer. A tool's name
   * keeps its meaning, even after the tool was removed.
   */
  list(): readonly Tool[];
}

/** A source whose tools never change. */
export function fixedTools(tools: readonly Tool[]): ToolSource {
  return { version: 0, list: () => tools };
}
