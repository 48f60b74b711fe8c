import type { Tool } from "../engine/tool.ts";
import { z } from "./zod.ts";

export async function derivedSchema(tool: Tool): Promise<unknown> {
  const { input } = await tool.load();
  return z.toJSONSchema(input, { target: "draft-7", io: "input" });
}
