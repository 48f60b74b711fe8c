import type { Tool } from "../engine/tool.ts";
import type { ResourceParts } from "./resource-parts.ts";

const description = `Reads a resource of a connected MCP server, or lists the resources of a server.

- \`server\`: the server's name.
- \`uri\`: the address of the resource, as the server lists it. Without it, the resources are listed.`;

const inputSchema = JSON.stringify({
  type: "object",
  properties: { server: { type: "string" }, uri: { type: "string" } },
  required: ["server"],
  additionalProperties: false,
});

/** Offered while a connected server has resources. */
export function resourceTool(parts: ResourceParts): Tool {
  return {
    name: "ReadMcpResource",
    kind: "read",
    title: "Read a resource of an MCP server",
    description,
    concurrent: true,
    inputSchema,
    load: async () => (await import("./resource-body.ts")).resourceBody(parts),
  };
}
