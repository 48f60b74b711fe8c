import type { AccessClass } from "../../engine/permission.ts";
import type { Tool } from "../../engine/tool.ts";
import { shownLine } from "../server-problem.ts";
import type { CalledTool, ToolOwner } from "./called-tool.ts";
import type { ToolDefinition } from "./definitions.ts";

/** A server's tool as the model sees it. The server's own words are only in `description` and the schema. */
export function serverTool(name: string, owner: ToolOwner, definition: ToolDefinition): Tool {
  const own: AccessClass = definition.isReadOnly ? "low" : "high";
  const called: CalledTool = {
    owner,
    call: { server: owner.name, tool: definition.name, marks: { server: owner.mark, tool: definition.mark } },
    class: owner.classOf(definition.name) ?? own,
  };
  return {
    name,
    kind: definition.isReadOnly ? "read" : "execute",
    title: `${shownLine(definition.name, 80)} (${owner.name})`,
    description: definition.description,
    concurrent: definition.isReadOnly,
    inputSchema: definition.inputSchema,
    load: async () => (await import("./server-tool-body.ts")).serverToolBody(called),
  };
}
