import type { ReasoningEffort } from "../core/settings.ts";

/** From least to most. `none` is no wish, `dynamic` leaves it to the model; neither has a place in the order. */
const order: readonly ReasoningEffort[] = ["off", "minimal", "low", "medium", "high", "xhigh", "max"];

export interface ChosenEffort {
  readonly effort: ReasoningEffort;
  /** Why it is not the one that was asked for. */
  readonly notice?: string;
}

/** The nearest effort that a model has: the next lower one, or its lowest. Who wants it to think does not get "off". */
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
      ? "nothing about it is sent"
      : `"${effort}" is used, of ${known.map((name) => `"${name}"`).join(", ")}`;
  return { effort, notice: `${model} has no reasoning effort "${wanted}": ${instead}.` };
}

/** Tokens to think with, where a provider counts them. */
export function thinkingBudget(effort: ReasoningEffort, outputLimit: number): number | undefined {
  const wanted = budgets[effort];
  // The answer needs room, too.
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
