import { createHash } from "node:crypto";
import type { ModelRequest } from "../../engine/ports.ts";
import type { ReasoningEffort } from "../../engine/settings.ts";
import type { ModelSpec } from "../providers/model-spec.ts";
import type { ProviderOptions } from "./ai-sdk-types.ts";
import { thinkingBudget } from "./effort.ts";
import { proofNames } from "./prompt.ts";

/** Lets a model with a thinking budget also think between tool calls. Models with adaptive thinking do so anyway. */
const interleavedThinking = "interleaved-thinking-2025-05-14";

type Json = ProviderOptions[string];

/** Provider options besides the conversation: effort, and storage at the provider. */
export function optionsOf(spec: ModelSpec, request: ModelRequest, effort: ReasoningEffort): ProviderOptions {
  switch (spec.wire) {
    case "anthropic":
      return { anthropic: anthropicOptions(spec, request, effort) };
    case "openai-responses":
      return { openai: openaiOptions(effort, spec, request) };
    case "google":
      return { google: googleOptions(effort, spec) };
    case "openai-chat":
      return { [proofNames[spec.wire]]: chatOptions(effort, spec) };
  }
}

/** Hashed, because clients choose session ids, and may put a name into them. */
function cacheKeyOf(sessionId: string): string {
  return `tinman-${createHash("sha256").update(sessionId).digest("hex").slice(0, 32)}`;
}

const isWord = (effort: ReasoningEffort): boolean => effort !== "none" && effort !== "dynamic";

function anthropicOptions(spec: ModelSpec, request: ModelRequest, effort: ReasoningEffort): Json {
  if (effort === "none" || spec.effortStyle === "none") return {};
  if (effort === "off") return { thinking: { type: "disabled" } };
  // A tool loop that began without thinking can't turn it on.
  if (spec.effortStyle === "budget") {
    if (loopBeganWithoutThoughts(request)) return {};
    const budgetTokens = thinkingBudget(effort === "dynamic" ? "medium" : effort, spec.info.maxOutputTokens) ?? 1_024;
    const beta = spec.interleavesThinking === true ? { anthropicBeta: [interleavedThinking] } : {};
    return { thinking: { type: "enabled", budgetTokens }, ...beta };
  }
  const thinking = { type: "adaptive", display: "summarized" };
  return effort === "dynamic" ? { thinking } : { thinking, effort: effort === "minimal" ? "low" : effort };
}

function loopBeganWithoutThoughts({ messages }: ModelRequest): boolean {
  // To the provider, user text after tool results is part of the loop.
  const start = messages.findLastIndex(({ role }, index) => role === "user" && messages[index - 1]?.role !== "tool");
  const first = messages.slice(start + 1).find((message) => message.role === "assistant");
  if (first === undefined) return false;
  const [block] = first.content;
  return block?.type !== "thinking" || block.proof?.anthropic === undefined;
}

function openaiOptions(effort: ReasoningEffort, spec: ModelSpec, { sessionId }: ModelRequest): Json {
  // The provider stores nothing. Its thinking comes back to it encrypted.
  const options: Json = { store: false };
  if (sessionId !== undefined) options.promptCacheKey = cacheKeyOf(sessionId);
  if (spec.effortStyle !== "word") return options;
  options.include = ["reasoning.encrypted_content"];
  if (isWord(effort)) options.reasoningEffort = effort === "off" ? "none" : effort;
  if (effort !== "none" && effort !== "off") options.reasoningSummary = "auto";
  return options;
}

function googleOptions(effort: ReasoningEffort, spec: ModelSpec): Json {
  if (effort === "none" || spec.effortStyle === "none") return {};
  if (effort === "dynamic") return { thinkingConfig: { includeThoughts: true } };
  if (spec.effortStyle === "level") return { thinkingConfig: { thinkingLevel: effort, includeThoughts: true } };
  if (effort === "off") return { thinkingConfig: { thinkingBudget: 0 } };
  const budget = Math.min(thinkingBudget(effort, spec.info.maxOutputTokens) ?? 1_024, 24_576);
  return { thinkingConfig: { thinkingBudget: budget, includeThoughts: true } };
}

function chatOptions(effort: ReasoningEffort, spec: ModelSpec): Json {
  if (!isWord(effort)) return {};
  const word = effort === "off" ? "none" : effort;
  if (spec.effortStyle === "nested-word") return { reasoning: { effort: word } };
  return spec.effortStyle === "word" ? { reasoningEffort: word } : {};
}
