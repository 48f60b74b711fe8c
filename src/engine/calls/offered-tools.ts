import type { ModelInfo } from "../ports.ts";
import type { Mode } from "../settings.ts";
import type { Tool } from "../tool.ts";

/** The tools offered to a model in a mode, out of those that a run allows. */
export function offeredTools(tools: readonly Tool[], model: ModelInfo, mode: Mode): readonly Tool[] {
  return toolsOf(tools, model).filter((tool) => isOffered(tool, mode));
}

export function isOffered({ onlyIn }: Tool, mode: Mode): boolean {
  return onlyIn === undefined || onlyIn === mode;
}

/**
 * A model's tools in any mode. Models that prefer patches get the replacing tool (ApplyPatch), other models the replaced
 * ones. A run that disables all replaced tools doesn't get the replacing one.
 */
export function toolsOf(tools: readonly Tool[], model: ModelInfo): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  const replacing = tools.find(({ replaces }) => replaces !== undefined);
  const replaced = replacing?.replaces ?? [];
  const isUsed = model.prefersPatch === true && replaced.some((name) => names.has(name));
  return tools.filter((tool) => (isUsed ? !replaced.includes(tool.name) : tool !== replacing));
}
