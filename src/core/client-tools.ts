import { z } from "zod";
import type { ToolCallBlock } from "./message.ts";
import type { ClientTool, RunOptions, SessionSettings } from "./settings.ts";
import type { Tool, ToolBody, ToolOutput } from "./tool.ts";
import { defineTool, failed, succeeded } from "./tool.ts";

/** The tools of a session: its own, or those that its client brings or runs in their place. */
export function sessionTools(
  own: readonly Tool[],
  { clientTools = [], clientRunsTools = false }: Pick<SessionSettings, "clientTools" | "clientRunsTools">,
  { toolResultMs, disabledTools = [] }: RunOptions,
): readonly Tool[] {
  const brought = new Set(clientTools.map(({ name }) => name));
  const kept = own.filter(({ name }) => !disabledTools.includes(name) && !brought.has(name));
  return [
    ...(clientRunsTools ? kept.map((tool) => handedOver(tool, toolResultMs)) : kept),
    ...clientTools.map((tool) => declared(tool, clientRun(tool.name, toolResultMs))),
  ];
}

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
    tools.set(name, declared({ name, description: "", inputSchema: {} }, clientRun(name, toolResultMs)));
  }
  return tools;
}

/** A server may have thousands of sessions, and each would have its own copy of every tool. */
const alreadyHandedOver = new WeakMap<Tool, { readonly tool: Tool; readonly withinMs: number | undefined }>();

function handedOver(own: Tool, withinMs: number | undefined): Tool {
  const known = alreadyHandedOver.get(own);
  if (known !== undefined && known.withinMs === withinMs) return known.tool;
  const body = clientRun(own.name, withinMs);
  const tool: Tool = { ...own, concurrent: true, runBy: "client", load: async () => body };
  alreadyHandedOver.set(own, { tool, withinMs });
  return tool;
}

function declared({ name, description, inputSchema }: ClientTool, body: ToolBody): Tool {
  return {
    name,
    kind: "execute",
    title: name,
    description,
    concurrent: true,
    runBy: "client",
    inputSchema,
    load: async () => body,
  };
}

/** Whatever the model wrote goes to the client, which knows what it means; nothing is decided here, because nothing is done here. */
function clientRun(name: string, withinMs: number | undefined): ToolBody {
  return defineTool({
    input: z.unknown(),
    access: async () => [],
    async run(input, { callId, signal, ask }): Promise<ToolOutput> {
      const answer = await ask({ kind: "tool", call: { type: "tool_call", id: callId, name, input } }, withinMs);
      if (answer?.kind === "result") return answer.isError === true ? failed(answer.text) : succeeded(answer.text);
      if (signal.aborted) return { text: "Error: Tool execution cancelled by user", status: "interrupted" };
      const why = answer?.kind === "cancel" ? answer.why : undefined;
      return failed(`The client has not run ${name}: ${why ?? "nobody is there who could"}.`);
    },
  });
}
