import type { ModelInfo } from "./ports.ts";
import type { Tool } from "./tool.ts";

/**
 * The tools that a model is offered, of those that a run allows. A model that prefers patches gets the tool that replaces
 * others, every other model gets these others. Who has taken all of them away did not mean to leave the one behind.
 */
export function offeredTools(tools: readonly Tool[], model: ModelInfo): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  const replacing = tools.find(({ replaces }) => replaces !== undefined);
  const replaced = replacing?.replaces ?? [];
  const isUsed = model.prefersPatch === true && replaced.some((name) => names.has(name));
  return tools.filter((tool) => (isUsed ? !replaced.includes(tool.name) : tool !== replacing));
}
