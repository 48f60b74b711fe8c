import type { MessagesRequest } from "./anthropic-schema.ts";

type Effort = "low" | "medium" | "high" | "xhigh" | "max";
type ThinkingType = NonNullable<MessagesRequest["thinking"]>["type"];

/** The features that one model accepts and rejects, according to documentation and clients, untested with the real model. */
export interface ModelRules {
  readonly maxOutput: number;
  readonly thinking: readonly ThinkingType[];
  /** Thinks if the request does not mention thinking. */
  readonly thinksUnasked: boolean;
  /** Whether its thinking is shown if the request does not say. */
  readonly display: "summarized" | "omitted";
  readonly efforts: readonly Effort[];
  readonly sampling: boolean;
  readonly prefill: boolean;
  /** Thinking can only be disabled with an effort of "high" or less. */
  readonly disabledUpToHigh?: boolean;
}

const all: readonly Effort[] = ["low", "medium", "high", "xhigh", "max"];

const budgeted: ModelRules = {
  maxOutput: 64_000,
  thinking: ["enabled", "disabled"],
  thinksUnasked: false,
  display: "summarized",
  efforts: [],
  sampling: true,
  prefill: true,
};
const both: ModelRules = {
  ...budgeted,
  maxOutput: 128_000,
  thinking: ["enabled", "adaptive", "disabled"],
  efforts: ["low", "medium", "high", "max"],
  prefill: false,
};
const adaptive: ModelRules = {
  ...both,
  thinking: ["adaptive", "disabled"],
  display: "omitted",
  efforts: all,
  sampling: false,
};
const thinker: ModelRules = { ...adaptive, thinksUnasked: true };
const alwaysThinks: ModelRules = { ...thinker, thinking: ["adaptive"] };

export const anthropicModels: Readonly<Record<string, ModelRules>> = {
  "claude-haiku-4-5": budgeted,
  "claude-haiku-4-5-20251001": budgeted,
  "claude-sonnet-4-5": budgeted,
  "claude-sonnet-4-5-20250929": budgeted,
  "claude-opus-4-5": { ...budgeted, efforts: ["low", "medium", "high"] },
  "claude-opus-4-5-20251101": { ...budgeted, efforts: ["low", "medium", "high"] },
  "claude-sonnet-4-6": both,
  "claude-opus-4-6": both,
  "claude-opus-4-7": adaptive,
  "claude-opus-4-8": adaptive,
  "claude-sonnet-5": thinker,
  "claude-opus-5": { ...thinker, disabledUpToHigh: true },
  "claude-haiku-5-5": { ...thinker, disabledUpToHigh: true },
  "claude-opus-5-5": alwaysThinks,
  "claude-sonnet-5-5": { ...alwaysThinks, thinking: ["adaptive", "between_tools"] },
  "claude-fable-5": alwaysThinks,
  "claude-fable-5-1": alwaysThinks,
  "claude-fable-5-2": alwaysThinks,
};

/** For models that a test names itself: accepts everything. */
export const anyModel: ModelRules = {
  ...both,
  thinking: [...both.thinking, "between_tools"],
  efforts: all,
  prefill: true,
};

export function thinks(request: MessagesRequest, rules: ModelRules): boolean {
  return request.thinking === undefined ? rules.thinksUnasked : request.thinking.type !== "disabled";
}

/** Whether the thinking's text is shown. */
export function showsThinking(request: MessagesRequest, rules: ModelRules): boolean {
  const asked = request.thinking !== undefined && "display" in request.thinking ? request.thinking.display : undefined;
  return (asked ?? rules.display) === "summarized";
}

/** Requested features that the model does not support. */
export function modelFaults(request: MessagesRequest, rules: ModelRules): string[] {
  const faults: string[] = [];
  const { max_tokens, thinking, temperature, top_p, top_k, tool_choice } = request;
  if (max_tokens > rules.maxOutput) {
    const most = `the maximum allowed number of output tokens for ${request.model}`;
    faults.push(`max_tokens: ${max_tokens} > ${rules.maxOutput}, which is ${most}`);
  }
  if (thinking !== undefined && !rules.thinking.includes(thinking.type)) faults.push(refusedThinking(thinking.type));
  if (thinking?.type === "enabled" && max_tokens <= thinking.budget_tokens) {
    faults.push("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  const effort = request.output_config?.effort ?? undefined;
  if (effort !== undefined) {
    const levels = [...rules.efforts].sort().join(", ");
    if (rules.efforts.length === 0) faults.push("This model does not support the effort parameter.");
    else if (!rules.efforts.includes(effort)) {
      faults.push(`This model does not support effort level '${effort}'. Supported levels: ${levels}.`);
    } else if (rules.disabledUpToHigh && thinking?.type === "disabled" && (effort === "xhigh" || effort === "max")) {
      faults.push(
        `output_config.effort '${effort}' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.`,
      );
    }
  }
  const on = thinks(request, rules);
  if (rules.sampling) {
    if (on && temperature !== undefined && temperature !== 1) {
      faults.push("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.");
    }
    if (on && top_k !== undefined) faults.push("`top_k` must be unset when thinking is enabled or in adaptive mode.");
    if (on && top_p !== undefined && top_p < 0.95) {
      faults.push(
        "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled or in adaptive mode.",
      );
    }
    if (temperature !== undefined && top_p !== undefined) {
      faults.push("`temperature` and `top_p` cannot both be specified for this model. Please use only one.");
    }
  } else {
    if (temperature !== undefined && temperature !== 1) faults.push("`temperature` is deprecated for this model.");
    if (top_p !== undefined && top_p < 0.99) faults.push("`top_p` is deprecated for this model.");
    if (top_k !== undefined) faults.push("`top_k` is deprecated for this model.");
  }
  if (on && (tool_choice?.type === "any" || tool_choice?.type === "tool")) {
    faults.push("Thinking may not be enabled when tool_choice forces tool use.");
  }
  if (!rules.prefill && request.messages.at(-1)?.role === "assistant") {
    faults.push(
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
  }
  return faults;
}

function refusedThinking(type: ThinkingType): string {
  if (type === "adaptive") return "adaptive thinking is not supported on this model";
  const refused = `"thinking.type.${type}" is not supported for this model.`;
  if (type !== "enabled") return refused;
  return `${refused} Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`;
}
