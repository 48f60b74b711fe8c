import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { Proof, Usage } from "../core/message.ts";
import type { ModelEvent, ModelRequest, ToolSpec } from "../core/ports.ts";
import type { ReasoningEffort } from "../core/settings.ts";
import { thinkingBudget } from "./effort.ts";
import type { ModelSpec, Wire } from "./model-spec.ts";
import { promptOf, proofNames } from "./prompt.ts";

/** The one file that knows the AI SDK: a request becomes a call of `doStream`, and its parts become our events. */

export type LanguageModel = LanguageModelV3;
export type Prompt = LanguageModelV3CallOptions["prompt"];
export type PromptMessage = Prompt[number];
type PartOf<Role> = Extract<PromptMessage, { role: Role }>["content"][number];
export type UserPart = PartOf<"user">;
export type AssistantPart = PartOf<"assistant">;
export type ToolPart = PartOf<"tool">;
type ProviderOptions = NonNullable<LanguageModelV3CallOptions["providerOptions"]>;
type Json = ProviderOptions[string];

/** Thrown for what a provider said in the middle of its stream. */
export class StreamFault extends Error {
  readonly detail: unknown;

  constructor(detail: unknown) {
    super("The stream brought an error.");
    this.detail = detail;
  }
}

/** Thrown when a stream is over and the answer is not. */
export class CutStream extends Error {}

/** Only the provider that is used is loaded. */
export async function openModel(spec: ModelSpec, fetch: typeof globalThis.fetch): Promise<LanguageModelV3> {
  const { model, baseUrl: baseURL, headers } = spec;
  const apiKey = spec.apiKey ?? "";
  switch (spec.wire) {
    case "anthropic": {
      const { createAnthropic } = await import("@ai-sdk/anthropic");
      return createAnthropic({ apiKey, baseURL, headers, fetch }).languageModel(model);
    }
    case "openai-responses": {
      const { createOpenAI } = await import("@ai-sdk/openai");
      return createOpenAI({ apiKey, baseURL, headers, fetch }).responses(model);
    }
    case "google": {
      const { createGoogleGenerativeAI } = await import("@ai-sdk/google");
      return createGoogleGenerativeAI({ apiKey, baseURL, headers, fetch }).languageModel(model);
    }
    case "openai-chat": {
      const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
      const key = spec.apiKey === undefined ? {} : { apiKey: spec.apiKey };
      const name = proofNames[spec.wire];
      return createOpenAICompatible({ name, baseURL, headers, fetch, includeUsage: true, ...key }).chatModel(model);
    }
  }
}

/** One attempt. Throws what the SDK throws, `StreamFault` and `CutStream`; returns early when `signal` is aborted. */
export async function* streamOnce(
  model: LanguageModelV3,
  spec: ModelSpec,
  request: ModelRequest,
  effort: ReasoningEffort,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { stream } = await model.doStream({
    prompt: promptOf(request, spec),
    tools: await functionTools(request.tools, spec.wire),
    ...(spec.outputLimit === undefined ? {} : { maxOutputTokens: spec.outputLimit }),
    providerOptions: optionsOf(spec, request, effort),
    abortSignal: signal,
  });
  const reader = stream.getReader();
  const translate = translator(spec);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) throw new CutStream();
      for (const event of translate(value)) {
        yield event;
        if (event.type === "end") return;
      }
    }
  } finally {
    // Closes the socket when the answer is left in the middle.
    void reader.cancel().catch(() => undefined);
  }
}

async function functionTools(
  tools: readonly ToolSpec[],
  wire: Wire,
): Promise<NonNullable<LanguageModelV3CallOptions["tools"]>> {
  const schemas = await Promise.all(tools.map((tool) => tool.inputSchema()));
  return tools.map(({ name, description }, index) => {
    const schema = wire === "google" ? withoutFormats(schemas[index]) : schemas[index];
    return { type: "function", name, description, inputSchema: schema as Record<string, never> };
  });
}

/** Google refuses formats that it does not know; they are hints, and our own check knows them all. */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => key !== "format" || typeof value !== "string");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutFormats(value)]));
}

/* ---------------------------------------------------------------- options */

function optionsOf(spec: ModelSpec, request: ModelRequest, effort: ReasoningEffort): ProviderOptions {
  switch (spec.wire) {
    case "anthropic":
      return { anthropic: anthropicOptions(spec, request, effort) };
    case "openai-responses":
      return { openai: openaiOptions(effort, spec) };
    case "google":
      return { google: googleOptions(effort, spec) };
    case "openai-chat":
      return { [proofNames[spec.wire]]: chatOptions(effort, spec) };
  }
}

const isWord = (effort: ReasoningEffort): boolean => effort !== "none" && effort !== "dynamic";

function anthropicOptions(spec: ModelSpec, request: ModelRequest, effort: ReasoningEffort): Json {
  if (effort === "none" || spec.effortStyle === "none") return {};
  if (effort === "off") return { thinking: { type: "disabled" } };
  // A tool loop that began without thoughts cannot go on with them.
  if (spec.effortStyle === "budget") {
    if (loopBeganWithoutThoughts(request)) return {};
    const budgetTokens = thinkingBudget(effort === "dynamic" ? "medium" : effort, spec.info.maxOutputTokens) ?? 1_024;
    return { thinking: { type: "enabled", budgetTokens } };
  }
  const thinking = { type: "adaptive", display: "summarized" };
  return effort === "dynamic" ? { thinking } : { thinking, effort: effort === "minimal" ? "low" : effort };
}

function loopBeganWithoutThoughts({ messages }: ModelRequest): boolean {
  // Words behind the results of calls belong to the loop for the provider.
  const start = messages.findLastIndex(({ role }, index) => role === "user" && messages[index - 1]?.role !== "tool");
  const first = messages.slice(start + 1).find((message) => message.role === "assistant");
  if (first === undefined) return false;
  const [block] = first.content;
  return block?.type !== "thinking" || block.proof?.anthropic === undefined;
}

function openaiOptions(effort: ReasoningEffort, spec: ModelSpec): Json {
  // Nothing of a conversation is kept by the provider; what it thought comes back to it encrypted.
  const options: Json = { store: false };
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

/* ----------------------------------------------------------------- events */

type Part = LanguageModelV3StreamPart;

/** Parts of one answer, in order, as events. Remembers the names of calls whose arguments are coming in. */
function translator(spec: ModelSpec): (part: Part) => readonly ModelEvent[] {
  const names = new Map<string, string>();
  const proofName = proofNames[spec.wire];
  const proofOf = (part: { readonly providerMetadata?: Proof | undefined }): { readonly proof?: Proof } => {
    const own = part.providerMetadata?.[proofName];
    return own === undefined || Object.keys(own).length === 0 ? {} : { proof: { [proofName]: own } };
  };
  /** There nothing proves a thought; that it came from this wire is what must be known. */
  const thought = spec.wire === "openai-chat" ? { proof: { [proofName]: {} } } : {};

  return (part) => {
    switch (part.type) {
      case "text-delta":
        return [{ type: "text", text: part.delta, block: part.id, ...proofOf(part) }];
      case "text-start":
      case "text-end": {
        const proof = proofOf(part);
        return proof.proof === undefined ? [] : [{ type: "text", text: "", block: part.id, ...proof }];
      }
      case "reasoning-delta":
        return [{ type: "thinking", text: part.delta, block: part.id, ...thought, ...proofOf(part) }];
      case "reasoning-start":
      case "reasoning-end": {
        const proof = proofOf(part);
        return proof.proof === undefined ? [] : [{ type: "thinking", text: "", block: part.id, ...proof }];
      }
      case "tool-input-start":
        names.set(part.id, part.toolName);
        return [];
      case "tool-input-delta":
        return [{ type: "tool_input", id: part.id, name: names.get(part.id) ?? "", text: part.delta }];
      case "tool-call": {
        const { toolCallId: id, toolName: name, input: inputText } = part;
        return [{ type: "tool_call", id, name, inputText, ...proofOf(part as { providerMetadata?: Proof }) }];
      }
      case "error":
        throw new StreamFault(part.error);
      case "finish":
        return lastEvents(part);
      default:
        return [];
    }
  };
}

function lastEvents(part: Part & { type: "finish" }): readonly ModelEvent[] {
  const { unified, raw } = part.finishReason;
  const usage: ModelEvent = { type: "usage", usage: usageOf(part.usage) };
  switch (unified) {
    case "stop":
      return [usage, { type: "end", stop: "end" }];
    case "tool-calls":
      return [usage, { type: "end", stop: "tool_calls" }];
    case "length":
      return [usage, { type: "end", stop: "length" }];
    case "content-filter":
      return [usage, { type: "end", stop: "refusal" }];
    default:
      // The SDK's word for an answer whose end was never told.
      if (raw === undefined) throw new CutStream();
      if (unified === "error") throw new StreamFault({ message: `The answer ended with "${raw}".`, type: raw });
      return [usage, { type: "end", stop: "end" }];
  }
}

function usageOf({ inputTokens, outputTokens, raw }: (Part & { type: "finish" })["usage"]): Usage {
  // DeepSeek and Moonshot tell it in their own words.
  const { prompt_cache_hit_tokens: hit, cached_tokens: cached } = raw ?? {};
  const own = [hit, cached].find((count) => typeof count === "number") as number | undefined;
  const cacheRead = inputTokens.cacheRead || (own ?? 0);
  const cacheWrite = inputTokens.cacheWrite ?? 0;
  const uncached = (inputTokens.total ?? inputTokens.noCache ?? 0) - cacheRead - cacheWrite;
  return {
    input: inputTokens.total === undefined ? (inputTokens.noCache ?? 0) : Math.max(0, uncached),
    output: outputTokens.total ?? (outputTokens.text ?? 0) + (outputTokens.reasoning ?? 0),
    cacheRead,
    cacheWrite,
    thinking: outputTokens.reasoning ?? 0,
  };
}
