import type { ToolCallBlock } from "../message.ts";
import type { ClientTool, RunOptions, SessionSettings } from "../settings.ts";
import type { Tool, ToolBody } from "../tool.ts";

/**
 * The tools that a reply's calls can name. If the client runs all tools, it may have undeclared ones, so any name is passed on.
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

/** Shared, because a server can have thousands of sessions. */
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

/** Loaded with the first call, like every tool's body. */
async function loadRun(name: string, withinMs: number | undefined): Promise<ToolBody> {
  return (await import("./client-run.ts")).clientRun(name, withinMs);
}
