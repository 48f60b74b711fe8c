import type { ModelInfo } from "../ports.ts";
import type { Mode } from "../settings.ts";
import type { Tool } from "../tool.ts";

/** The tools that a model is offered in a mode, of those that a run allows. */
export function offeredTools(tools: readonly Tool[], model: ModelInfo, mode: Mode): readonly Tool[] {
  return toolsOf(tools, model).filter((tool) => isOffered(tool, mode));
}

export function isOffered({ onlyIn }: Tool, mode: Mode): boolean {
  return onlyIn === undefined || onlyIn === mode;
}

/**
 * The tools of a model, whatever the mode. One that prefers patches gets the tool that replaces others, every other model
 * gets these others. A run without any of the others does not get the tool that replaces them.
 */
export function toolsOf(tools: readonly Tool[], model: ModelInfo): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  const replacing = tools.find(({ replaces }) => replaces !== undefined);
  const replaced = replacing?.replaces ?? [];
  const isUsed = model.prefersPatch === true && replaced.some((name) => names.has(name));
  return tools.filter((tool) => (isUsed ? !replaced.includes(tool.name) : tool !== replacing));
}
