import type { Tool } from "../core/tool.ts";
import { z } from "./zod.ts";

/** The arguments of a tool as providers and clients want them described. */
export async function toolJsonSchema(tool: Tool): Promise<unknown> {
  const { input } = await tool.load();
  return z.toJSONSchema(input, { target: "draft-7", io: "input" });
}
