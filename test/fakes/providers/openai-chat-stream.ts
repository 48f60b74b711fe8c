import type { createIds, Rendered, Turn } from "./base.ts";
import { splitUnevenly, sse, stopOf, usageOf } from "./base.ts";
import type { ChatRequest } from "./openai-chat-schema.ts";
import { answerHeaders } from "./openai-errors.ts";

type Ids = ReturnType<typeof createIds>;
type Json = Readonly<Record<string, unknown>>;

/** How a server's answers differ from OpenAI's. */
export interface ChatStyle {
  readonly reasoningField?: "reasoning_content" | "reasoning";
  /**
   * "own-chunk": after the finish, without choices, if `include_usage` is set. "with-finish": in the chunk with the
   * finish reason. "never": none.
   */
  readonly usage?: "own-chunk" | "with-finish" | "never";
  /** "deepseek" adds cache hits and misses, "moonshot" its own count of cached tokens; "plain" has only totals. */
  readonly usageFields?: "openai" | "deepseek" | "moonshot" | "plain";
  /** Calls are sent in one piece each, without an index. */
  readonly wholeCalls?: boolean;
  /** False: arguments of parallel calls are sent one call after the other instead of interleaved. */
  readonly interleaved?: boolean;
  /** Other finish reasons, for example `{ calls: "stop" }`. */
  readonly finishReasons?: Readonly<Partial<Record<"end" | "length" | "refusal" | "calls", string>>>;
  /** Ids of calls in Mistral's style. */
  readonly mistralIds?: boolean;
  /** Comment lines between chunks, the provider's name and finish reason, and errors in whole chunks. */
  readonly openRouter?: boolean;
}

const createdAt = 1_760_000_000;
const finishReasons = { end: "stop", length: "length", refusal: "content_filter", calls: "tool_calls" };

interface Call {
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly pieces: readonly string[];
}

export function renderChat(
  turn: Turn,
  request: ChatRequest,
  style: ChatStyle,
  ids: Ids,
): Rendered & {
  /** Fields of every chunk of this answer. */
  readonly head: Json;
} {
  const head = {
    id: style.openRouter === true ? ids("gen-1760000000-", 20) : ids("chatcmpl-", 29),
    ...(style.openRouter === true ? { provider: "Fake" } : {}),
    object: "chat.completion.chunk",
    created: createdAt,
    model: request.model,
    ...(style.openRouter === true ? {} : { service_tier: "default", system_fingerprint: "fp_44709d6fcb" }),
  };
  const stop = turn.blocked === undefined ? stopOf(turn) : "refusal";
  const native = turn.nativeStop ?? style.finishReasons?.[stop] ?? finishReasons[stop];
  const calls = (turn.calls ?? []).map((call): Call => {
    const text = typeof call.input === "string" ? call.input : JSON.stringify(call.input);
    const id = call.id ?? (style.mistralIds === true ? ids("", 9) : ids("call_", 24));
    return { id, name: call.name, text, pieces: splitUnevenly(text, call.pieces ?? 3) };
  });
  const asked = request.stream_options?.include_usage === true && style.usage !== "never";
  const own = asked && style.usage !== "with-finish";
  const usage = usageObject(turn, style.usageFields ?? "openai");
  const chunk = (choices: readonly Json[], more: Json = {}) =>
    withComment({ ...head, choices, ...(own ? { usage: null } : {}), ...more }, style);
  const choice = (delta: Json, finish: string | null) => ({
    index: 0,
    delta,
    logprobs: null,
    finish_reason: finish,
    ...(style.openRouter === true ? { native_finish_reason: finish } : {}),
  });

  const deltas = turn.blocked === undefined ? deltasOf(turn, stop, calls, style) : [opening(turn, style)];
  const events = deltas.map((delta) => chunk([choice(delta, null)]));
  const body = events.length;
  events.push(chunk([choice({}, native)], style.usage === "with-finish" ? { usage } : {}));
  if (own) events.push(chunk([], { usage }));
  events.push(sse("[DONE]"));
  const whole = {
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message: wholeMessage(turn, stop, calls, style), logprobs: null, finish_reason: native }],
    usage,
  };
  return { headers: answerHeaders, events, finishEvents: events.length - body, whole, head };
}

function withComment(data: Json, style: ChatStyle): string {
  return style.openRouter === true ? `: OPENROUTER PROCESSING\n\n${sse(data)}` : sse(data);
}

function isSpokenRefusal(turn: Turn, stop: string): boolean {
  return stop === "refusal" && turn.nativeStop === "stop";
}

function opening(turn: Turn, style: ChatStyle): Json {
  const content = (turn.text ?? []).length > 0 || (turn.calls ?? []).length === 0 ? "" : null;
  return { role: "assistant", content, ...(style.reasoningField === undefined ? { refusal: null } : {}) };
}

function deltasOf(turn: Turn, stop: string, calls: readonly Call[], style: ChatStyle): Json[] {
  const thinking = turn.redacted === true || style.reasoningField === undefined ? [] : (turn.thinking ?? []);
  const refused = isSpokenRefusal(turn, stop);
  return [
    opening(turn, style),
    ...thinking.map((piece) => thoughtDelta(piece, style)),
    ...(turn.text ?? []).map((text) => {
      if (refused) return { refusal: text };
      return style.reasoningField === "reasoning_content"
        ? { content: text, reasoning_content: null }
        : { content: text };
    }),
    ...callDeltas(calls, style),
  ];
}

function thoughtDelta(piece: string, { reasoningField, openRouter }: ChatStyle): Json {
  if (reasoningField === "reasoning_content") return { content: null, reasoning_content: piece };
  const details = { reasoning_details: [{ type: "reasoning.text", text: piece, format: "unknown", index: 0 }] };
  return { role: "assistant", content: "", reasoning: piece, ...(openRouter === true ? details : {}) };
}

function callDeltas(calls: readonly Call[], style: ChatStyle): Json[] {
  if (style.wholeCalls === true) {
    return calls.map(({ id, name, text }) => {
      return { tool_calls: [{ id, type: "function", function: { name, arguments: text } }] };
    });
  }
  const begin = ({ id, name }: Call, index: number) => {
    return { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] };
  };
  const go = (piece: string, index: number) => ({ tool_calls: [{ index, function: { arguments: piece } }] });
  if (style.interleaved === false) {
    return calls.flatMap((call, index) => [begin(call, index), ...call.pieces.map((piece) => go(piece, index))]);
  }
  const rounds = Math.max(0, ...calls.map(({ pieces }) => pieces.length));
  const deltas: Json[] = calls.map(begin);
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, { pieces }] of calls.entries()) {
      const piece = pieces[round];
      if (piece !== undefined) deltas.push(go(piece, index));
    }
  }
  return deltas;
}

function wholeMessage(turn: Turn, stop: string, calls: readonly Call[], style: ChatStyle): Json {
  const text = (turn.text ?? []).join("");
  const refused = isSpokenRefusal(turn, stop);
  const shown = turn.redacted !== true && style.reasoningField !== undefined && turn.thinking !== undefined;
  return {
    role: "assistant",
    content: refused || (text === "" && calls.length > 0) ? null : text,
    ...(shown ? { [style.reasoningField ?? "reasoning"]: (turn.thinking ?? []).join("") } : {}),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map(({ id, name, text: args }) => {
            return { id, type: "function", function: { name, arguments: args } };
          }),
        }),
    refusal: refused ? text : null,
  };
}

function usageObject(turn: Turn, fields: NonNullable<ChatStyle["usageFields"]>): Json {
  const { input, cacheRead, cacheWrite, output, thinking } = usageOf(turn);
  const sent = input + cacheRead + cacheWrite;
  const sums = { prompt_tokens: sent, completion_tokens: output, total_tokens: sent + output };
  if (fields === "plain") return sums;
  if (fields === "moonshot") return { ...sums, cached_tokens: cacheRead };
  if (fields === "deepseek") {
    return {
      ...sums,
      prompt_tokens_details: { cached_tokens: cacheRead },
      completion_tokens_details: { reasoning_tokens: thinking },
      prompt_cache_hit_tokens: cacheRead,
      prompt_cache_miss_tokens: sent - cacheRead,
    };
  }
  return {
    ...sums,
    prompt_tokens_details: {
      cached_tokens: cacheRead,
      audio_tokens: 0,
      ...(cacheWrite > 0 ? { cache_write_tokens: cacheWrite } : {}),
    },
    completion_tokens_details: {
      reasoning_tokens: thinking,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
