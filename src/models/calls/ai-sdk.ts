import type { LanguageModelV3, LanguageModelV3CallOptions, LanguageModelV3StreamPart } from "@ai-sdk/provider";
import type { Proof, Usage } from "../../engine/message.ts";
import type { ModelEvent, ModelRequest, ToolSpec } from "../../engine/ports.ts";
import type { ReasoningEffort } from "../../engine/settings.ts";
import { maxCalls } from "../../engine/turn/reply.ts";
import type { ModelSpec, Wire } from "../providers/model-spec.ts";
import { withChatCacheMarks } from "../traffic/chat-cache-marks.ts";
import type { ChatExtras } from "../traffic/chat-extras.ts";
import { ChatExtrasReader } from "../traffic/chat-extras.ts";
import { WrongAnswer } from "../traffic/watched-fetch.ts";
import type { ProviderOptions } from "./ai-sdk-types.ts";
import { promptOf, proofNames } from "./prompt.ts";
import { optionsOf } from "./provider-options.ts";
import { StreamedUnquoting, unquoteReminders } from "./reminders.ts";

/** The only file that calls the AI SDK: translates a request to `doStream`, and the stream's parts to our events. */

type Json = ProviderOptions[string];

/** An error event within a provider's stream. */
export class StreamFault extends Error {
  readonly detail: unknown;

  constructor(detail: unknown) {
    super("The stream brought an error.");
    this.detail = detail;
  }
}

/** The stream ended before the reply did. */
export class CutStream extends Error {}

type Fetch = typeof globalThis.fetch;

/** One per spec: the SDK's models are stateless, and creating one takes half a millisecond. */
const models = new WeakMap<ModelSpec, Promise<LanguageModelV3>>();

/** Each attempt's `fetch`, by its abort signal, which the SDK passes through to the request. */
const fetches = new WeakMap<AbortSignal, Fetch>();

function modelOf(spec: ModelSpec): Promise<LanguageModelV3> {
  const known = models.get(spec);
  if (known !== undefined) return known;
  const model = openModel(spec, (url, init) => {
    const fetch = init?.signal ? fetches.get(init.signal) : undefined;
    return fetch === undefined ? Promise.reject(new Error("a request of no attempt")) : fetch(url, init);
  });
  models.set(spec, model);
  model.catch(() => models.delete(spec));
  return model;
}

/** Loads only the provider in use. */
async function openModel(spec: ModelSpec, fetch: Fetch): Promise<LanguageModelV3> {
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
      const metadataExtractor = extrasExtractor(name);
      const marks = spec.marksCache === true ? { transformRequestBody: withChatCacheMarks } : {};
      const settings = { name, baseURL, headers, fetch, metadataExtractor, includeUsage: true, ...key, ...marks };
      return createOpenAICompatible(settings).chatModel(model);
    }
  }
}

function extrasExtractor(name: string) {
  return {
    extractMetadata: () => Promise.resolve(undefined),
    createStreamExtractor: () => {
      const reader = new ChatExtrasReader();
      return {
        processChunk: (chunk: unknown) => reader.read(chunk),
        buildMetadata: () => ({ [name]: reader.extras() as Json }),
      };
    },
  };
}

/** A reply being streamed. */
export interface OpenAnswer {
  /** The next part's events, possibly none. Rejects with the SDK's errors, `StreamFault` or `CutStream`. */
  next(): Promise<readonly ModelEvent[]>;
  /** Closes the socket if the reply hasn't ended. */
  close(): void;
}

/** Starts one attempt. `signal` must be unique to it. Rejects with the SDK's errors. */
export async function openAnswer(
  spec: ModelSpec,
  fetch: Fetch,
  request: ModelRequest,
  effort: ReasoningEffort,
  signal: AbortSignal,
  watch: { readonly saysDone: boolean },
): Promise<OpenAnswer> {
  fetches.set(signal, fetch);
  const model = await modelOf(spec);
  const { stream } = await model.doStream({
    prompt: promptOf(request, spec),
    tools: await functionTools(request.tools, spec.wire),
    ...(spec.outputLimit === undefined ? {} : { maxOutputTokens: spec.outputLimit }),
    providerOptions: optionsOf(spec, request, effort),
    abortSignal: signal,
  });
  const reader = stream.getReader();
  const translate = translator(spec, watch);
  return {
    async next() {
      const { done, value } = await reader.read();
      if (done) throw new CutStream();
      return translate(value);
    },
    close: () => void reader.cancel().catch(() => undefined),
  };
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

/** Google rejects unknown formats. They are only hints; we validate arguments ourselves. */
function withoutFormats(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutFormats);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(([key, value]) => key !== "format" || typeof value !== "string");
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutFormats(value)]));
}

/* ----------------------------------------------------------------- events */

type Part = LanguageModelV3StreamPart;

/** Translates the parts of one reply, in order. Remembers calls while their arguments stream. */
function translator(spec: ModelSpec, watch: { readonly saysDone: boolean }): (part: Part) => readonly ModelEvent[] {
  const streamed = new Map<string, { readonly name: string; readonly text: StreamedUnquoting }>();
  const toolInput = (id: string, text: string): readonly ModelEvent[] =>
    text === "" ? [] : [{ type: "tool_input", id, name: streamed.get(id)?.name ?? "", text }];
  const proofName = proofNames[spec.wire];
  const proofOf = (part: { readonly providerMetadata?: Proof | undefined }): Proof | undefined => {
    const own = part.providerMetadata?.[proofName];
    return own === undefined || Object.keys(own).length === 0 ? undefined : { [proofName]: own };
  };
  /** Chat completions have no proofs, so an empty one marks which wire the thinking came from. */
  const thought = spec.wire === "openai-chat" ? { [proofName]: {} } : undefined;

  return (part) => {
    switch (part.type) {
      case "text-delta":
        return [said("text", part.delta, part.id, proofOf(part))];
      case "text-start":
      case "text-end": {
        const proof = proofOf(part);
        return proof === undefined ? [] : [said("text", "", part.id, proof)];
      }
      case "reasoning-delta":
        return [said("thinking", part.delta, part.id, proofOf(part) ?? thought)];
      case "reasoning-start":
      case "reasoning-end": {
        const proof = proofOf(part);
        return proof === undefined ? [] : [said("thinking", "", part.id, proof)];
      }
      case "tool-input-start":
        streamed.set(part.id, { name: part.toolName, text: new StreamedUnquoting() });
        // An endless stream of calls must not fill memory.
        if (streamed.size > maxCalls) throw new WrongAnswer(`It made more than ${maxCalls} calls in one reply.`);
        return [];
      case "tool-input-delta":
        return toolInput(part.id, streamed.get(part.id)?.text.next(part.delta) ?? part.delta);
      case "tool-input-end":
        return toolInput(part.id, streamed.get(part.id)?.text.rest() ?? "");
      case "tool-call": {
        const { toolCallId: id, toolName: name } = part;
        const inputText = unquoteReminders(part.input);
        const proof = proofOf(part as { providerMetadata?: Proof });
        return [{ type: "tool_call", id, name, inputText, ...(proof === undefined ? {} : { proof }) }];
      }
      case "error":
        if (isUnknownEvent(part.error, spec.wire) || (watch.saysDone && lacksReason(part.error))) return [];
        throw new StreamFault(part.error);
      case "finish":
        return [...extraEvents(part, proofName), ...lastEvents(part, proofName, watch.saysDone)];
      default:
        return [];
    }
  };
}

/** Runs for each delta, so it avoids the cost of a spread. */
function said(type: "text" | "thinking", text: string, block: string, proof: Proof | undefined): ModelEvent {
  return proof === undefined ? { type, text, block } : { type, text, block, proof };
}

/** Anthropic adds new kinds of events, blocks and deltas, and tells clients to skip unknown ones. */
const anthropicKinds: Readonly<Record<string, readonly string[]>> = {
  type: [
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
  ],
  content_block: ["text", "thinking", "redacted_thinking", "tool_use"],
  delta: ["text_delta", "thinking_delta", "signature_delta", "input_json_delta"],
};

function isUnknownEvent(error: unknown, wire: Wire): boolean {
  const { name, value } = (error ?? {}) as { name?: unknown; value?: unknown };
  if (wire !== "anthropic" || name !== "AI_TypeValidationError" || typeof value !== "object") return false;
  const event = (value ?? {}) as Readonly<Record<string, { readonly type?: unknown } | string | undefined>>;
  return Object.entries(anthropicKinds).some(([key, known]) => {
    const found = event[key];
    const kind = typeof found === "object" ? found.type : found;
    return typeof kind === "string" && !known.includes(kind);
  });
}

/** Matched by text: the AI SDK's error for a stream that ends without a finish reason. */
function lacksReason(error: unknown): boolean {
  return error instanceof Error && /ended without a finish reason/.test(error.message);
}

type Finish = Part & { type: "finish" };

/** Extra fields of chat completions servers, as events. */
function extraEvents({ providerMetadata }: Finish, proofName: string): readonly ModelEvent[] {
  const { refusal, reasoning_details } = (providerMetadata?.[proofName] ?? {}) as ChatExtras;
  const events: ModelEvent[] = [];
  if (reasoning_details !== undefined) {
    events.push({ type: "thinking", text: "", block: "details", proof: { [proofName]: { reasoning_details } } });
  }
  if (refusal !== undefined) events.push({ type: "text", text: refusal, block: "refusal" });
  return events;
}

function lastEvents(
  { finishReason, usage, providerMetadata }: Finish,
  proofName: string,
  saysDone: boolean,
): readonly ModelEvent[] {
  const { unified, raw } = finishReason;
  const told = usageOf(usage);
  const end = (stop: (ModelEvent & { type: "end" })["stop"]): readonly ModelEvent[] => {
    const last = { type: "end", stop } as const;
    return told === undefined ? [last] : [{ type: "usage", usage: told }, last];
  };
  if (raw === "model_context_window_exceeded") throw new StreamFault({ type: "context_length_exceeded", message: raw });
  if (providerMetadata?.[proofName]?.refusal !== undefined) return end("refusal");
  switch (unified) {
    case "stop":
      return end("end");
    case "tool-calls":
      return end("tool_calls");
    case "length":
      return end("length");
    case "content-filter":
      return end("refusal");
    default:
      // The SDK's finish reason for a reply that has none.
      if (raw === undefined && !saysDone) throw new CutStream();
      if (unified === "error" && !saysDone)
        throw new StreamFault({ message: `The reply ended with "${raw}".`, type: raw });
      return end("end");
  }
}

/** `undefined` if the server reports no usage. */
function usageOf({ inputTokens, outputTokens, raw }: Finish["usage"]): Usage | undefined {
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined;
  // DeepSeek and Moonshot use their own keys.
  const { prompt_cache_hit_tokens: hit, cached_tokens: cached } = raw ?? {};
  const own = [hit, cached].find((count) => typeof count === "number") as number | undefined;
  const cacheRead = inputTokens.cacheRead || (own ?? 0);
  const details = raw?.prompt_tokens_details as { readonly cache_write_tokens?: unknown } | null | undefined;
  const written = details?.cache_write_tokens;
  const cacheWrite = inputTokens.cacheWrite ?? (typeof written === "number" ? written : 0);
  const uncached = (inputTokens.total ?? inputTokens.noCache ?? 0) - cacheRead - cacheWrite;
  return {
    input: inputTokens.total === undefined ? (inputTokens.noCache ?? 0) : Math.max(0, uncached),
    output: outputTokens.total ?? (outputTokens.text ?? 0) + (outputTokens.reasoning ?? 0),
    cacheRead,
    cacheWrite,
    thinking: outputTokens.reasoning ?? 0,
  };
}
