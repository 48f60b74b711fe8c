import type { Tool } from "../engine/tool.ts";
import { builtinTools } from "./all.ts";
import parameters from "./parameters.json" with { type: "json" };

const known: Readonly<Record<string, unknown>> = parameters;

/**
 * Tools' arguments, as described to providers and clients. `npm run schema` writes those of built-in tools to a file:
 * every model request needs all of them, and deriving them would load every tool.
 */
export async function toolJsonSchema(tool: Tool): Promise<unknown> {
  if (tool.inputSchema !== undefined) return JSON.parse(tool.inputSchema) as unknown;
  if (builtinTools.includes(tool) || tool.runBy === "client") return known[tool.name];
  return (await import("./derived-schema.ts")).derivedSchema(tool);
}
