import type { ReasoningEffort } from "../../engine/settings.ts";

/** Ascending, without the unordered `none` (no preference) and `dynamic` (the model decides). */
const order: readonly ReasoningEffort[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

export interface ChosenEffort {
  readonly effort: ReasoningEffort;
  /** Present if the effort differs from the requested one. */
  readonly notice?: string;
}

/** The nearest effort that the model offers: the next lower one, or its lowest. It never falls back to `off`. */
export function chooseEffort(
  wanted: ReasoningEffort,
  offered: readonly ReasoningEffort[],
  model: string,
): ChosenEffort {
  if (wanted === "none" || offered.includes(wanted)) return { effort: wanted };
  const known = order.filter((effort) => offered.includes(effort));
  if (wanted === "dynamic") return { effort: "none" };
  const place = order.indexOf(wanted);
  const thinking = known.filter((name) => name !== "off");
  const effort = thinking.findLast((name) => order.indexOf(name) < place) ?? thinking[0] ?? "none";
  const instead =
    effort === "none"
      ? "so none is sent"
      : `using "${effort}". Available: ${known.map((name) => `"${name}"`).join(", ")}`;
  return { effort, notice: `${model} does not support reasoning effort "${wanted}", ${instead}.` };
}

/** The thinking budget in tokens, for providers that take one. */
export function thinkingBudget(effort: ReasoningEffort, outputLimit: number): number | undefined {
  const wanted = budgets[effort];
  // Leave room for the answer.
  return wanted === undefined ? undefined : Math.max(1_024, Math.min(wanted, outputLimit - 4_096));
}

const budgets: Partial<Record<ReasoningEffort, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 10_240,
  high: 24_576,
  xhigh: 32_768,
  max: 63_488,
};
