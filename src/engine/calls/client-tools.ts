import type { ToolCallBlock } from "../message.ts";
import type { ClientTool, RunOptions, SessionSettings } from "../settings.ts";
import type { Tool, ToolBody } from "../tool.ts";

/**
 * Those that the calls of a reply may name. Where the client runs all tools, it may also have some that it has not told of:
 * it is the one to say that there is no such tool.
 */
export function callableTools(
  offered: readonly Tool[],
  calls: readonly ToolCallBlock[],
  { clientRunsTools = false }: Pick<SessionSettings, "clientRunsTools">,
  { toolResultMs }: RunOptions,
): ReadonlyMap<string, Tool> {
  const tools = new Map(offered.map((tool) => [tool.name, tool]));
  for (const { name } of clientRunsTools ? calls : []) {
    if (tools.has(name)) continue;
    tools.set(name, declared({ name, description: "", inputSchema: "{}" }, toolResultMs));
  }
  return tools;
}

/** A server may have thousands of sessions, and each would have its own copy of every tool. */
const alreadyHandedOver = new WeakMap<Tool, { readonly tool: Tool; readonly withinMs: number | undefined }>();

export function handedOver(own: Tool, withinMs: number | undefined): Tool {
  const known = alreadyHandedOver.get(own);
  if (known !== undefined && known.withinMs === withinMs) return known.tool;
  const tool: Tool = { ...own, concurrent: true, runBy: "client", load: () => loadRun(own.name, withinMs) };
  alreadyHandedOver.set(own, { tool, withinMs });
  return tool;
}

export function declared({ name, description, inputSchema }: ClientTool, withinMs: number | undefined): Tool {
  return {
    name,
    kind: "execute",
    title: name,
    description,
    concurrent: true,
    runBy: "client",
    inputSchema,
    load: () => loadRun(name, withinMs),
  };
}

/** With the first call, as the body of every tool is: most runs have no such tools. */
async function loadRun(name: string, withinMs: number | undefined): Promise<ToolBody> {
  return (await import("./client-run.ts")).clientRun(name, withinMs);
}
