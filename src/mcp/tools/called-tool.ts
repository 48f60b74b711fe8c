import type { AccessClass, ServerCall } from "../../engine/permission.ts";
import type { ToolContext, ToolOutput } from "../../engine/tool.ts";
import type { Fields } from "../../text/values.ts";

/** A tool's server. */
export interface ToolOwner {
  readonly name: string;
  /** Changes with the server's entry. */
  readonly mark: string;
  /** The class that the user configured for a tool. */
  classOf(tool: string): AccessClass | undefined;
  /** The mark of a tool as it is defined now. */
  markOf(tool: string): string | undefined;
  /** Never rejects for faults of the server. */
  call(tool: string, input: Fields, context: ToolContext): Promise<ToolOutput>;
}

/** What calls of a tool are decided and run by. */
export interface CalledTool {
  readonly owner: ToolOwner;
  readonly call: ServerCall;
  readonly class: AccessClass;
}
