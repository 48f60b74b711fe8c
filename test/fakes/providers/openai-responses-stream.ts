import type { createIds, Rendered, Turn, TurnCall } from "./base.ts";
import { splitUnevenly, sse, stopOf, usageOf } from "./base.ts";
import { answerHeaders } from "./openai-errors.ts";
import type { Issued } from "./openai-responses-rules.ts";
import type { InputItem, ResponsesRequest } from "./openai-responses-schema.ts";
import type { Follower } from "./openai-thoughts.ts";

type Ids = ReturnType<typeof createIds>;
type Json = Readonly<Record<string, unknown>>;
type OutputItem = Json & { readonly id: string; readonly type: string };

const hexadecimal = "0123456789abcdef";
const base64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const createdAt = 1_760_000_000;

interface Writer {
  readonly events: string[];
  emit(type: string, fields: Json): void;
  /** The random padding of deltas, unless the request disabled it. */
  padding(): Json;
}

function createWriter(request: ResponsesRequest, ids: Ids): Writer {
  const events: string[] = [];
  return {
    events,
    emit: (type, fields) => {
      events.push(sse({ type, sequence_number: events.length, ...fields }, type));
    },
    padding: () => (request.stream_options?.include_obfuscation === false ? {} : { obfuscation: ids("", 12) }),
  };
}

/** The events of one answer, and what the server must remember of it. */
export function renderResponse(
  turn: Turn,
  request: ResponsesRequest,
  issued: Issued,
  ids: Ids,
): Rendered & {
  /** The response object as a mid-stream failure shows it. */
  readonly failed: (error: Json) => Json;
} {
  const writer = createWriter(request, ids);
  const base = responseObject(ids("resp_", 50, hexadecimal), request);
  const failed = (error: Json) => ({ ...base, status: "failed", error, output: [] });
  const shown = { headers: answerHeaders, events: writer.events, finishEvents: 1, failed };
  writer.emit("response.created", { response: base });
  writer.emit("response.in_progress", { response: base });
  if (turn.blocked !== undefined) {
    const message = "Invalid prompt: your prompt was flagged as potentially violating our usage policy.";
    const response = failed({ code: turn.blocked, message });
    writer.emit("response.failed", { response });
    return { ...shown, whole: response };
  }
  const reason = incompleteReason(turn);
  const output: OutputItem[] = [];
  const hasReasoning = turn.thinking !== undefined || turn.redacted === true;
  const hasMessage = (turn.text ?? []).length > 0 || isSpokenRefusal(turn);
  const messageId = hasMessage ? ids("msg_", 50, hexadecimal) : undefined;
  const calls = (turn.calls ?? []).map((call) => ({ ...call, id: call.id ?? ids("call_", 24) }));
  const parts = Number(hasReasoning) + Number(hasMessage) + calls.length;
  const statusOf = () => (reason !== undefined && output.length === parts - 1 ? "incomplete" : "completed");
  const follower = followerOf(messageId, calls[0]?.id);
  if (hasReasoning) output.push(emitReasoning(writer, turn, request, ids, issued, follower));
  if (messageId !== undefined) output.push(emitMessage(writer, turn, request, messageId, output.length, statusOf()));
  for (const call of calls) output.push(emitCall(writer, call, ids, output.length, statusOf()));
  remember(issued, base.id, request, output, follower);
  const response = {
    ...base,
    status: reason === undefined ? "completed" : "incomplete",
    completed_at: reason === undefined ? createdAt + 3 : null,
    incomplete_details: reason === undefined ? null : { reason },
    output: output.map((item) => shownItem(item, request)),
    service_tier: "default",
    usage: usageObject(turn),
  };
  writer.emit(reason === undefined ? "response.completed" : "response.incomplete", { response });
  return { ...shown, whole: response };
}

function isSpokenRefusal(turn: Turn): boolean {
  return stopOf(turn) === "refusal" && turn.nativeStop === undefined;
}

function followerOf(messageId: string | undefined, callId: string | undefined): Follower | undefined {
  if (messageId !== undefined) return { type: "message", id: messageId };
  return callId === undefined ? undefined : { type: "function_call", callId };
}

function incompleteReason(turn: Turn): string | undefined {
  if (turn.nativeStop !== undefined) return turn.nativeStop === "completed" ? undefined : turn.nativeStop;
  return stopOf(turn) === "length" ? "max_output_tokens" : undefined;
}

function emitReasoning(
  writer: Writer,
  turn: Turn,
  request: ResponsesRequest,
  ids: Ids,
  issued: Issued,
  follower: Follower | undefined,
): OutputItem {
  const id = ids("rs_", 50, hexadecimal);
  const index = 0;
  const where = { item_id: id, output_index: index };
  // The initial proof is incomplete and later invalid; only the final one counts.
  const encrypted = {
    early: ids("gAAAAAB", 60, base64Url),
    final: issued.box.close({ id, ...(follower === undefined ? {} : { follower }) }),
  };
  const wantsSummary = (request.reasoning?.summary ?? request.reasoning?.generate_summary ?? undefined) !== undefined;
  const started = { id, type: "reasoning", encrypted_content: encrypted.early, summary: [] };
  writer.emit("response.output_item.added", { output_index: index, item: shownItem(started, request) });
  const parts = turn.redacted === true || !wantsSummary ? [] : summaryParts(turn.thinking ?? []);
  for (const [summaryIndex, deltas] of parts.entries()) {
    const at = { ...where, summary_index: summaryIndex };
    const text = deltas.join("");
    writer.emit("response.reasoning_summary_part.added", { ...at, part: { type: "summary_text", text: "" } });
    for (const delta of deltas) {
      writer.emit("response.reasoning_summary_text.delta", { ...at, delta, ...writer.padding() });
    }
    writer.emit("response.reasoning_summary_text.done", { ...at, text });
    writer.emit("response.reasoning_summary_part.done", { ...at, part: { type: "summary_text", text } });
  }
  const summary = parts.map((deltas) => ({ type: "summary_text", text: deltas.join("") }));
  const item = { id, type: "reasoning", encrypted_content: encrypted.final, summary };
  writer.emit("response.output_item.done", { output_index: index, item: shownItem(item, request) });
  return item;
}

/** Every part of a real summary starts with a bold title, so that starts a new part. */
function summaryParts(deltas: readonly string[]): string[][] {
  const parts: string[][] = [];
  for (const delta of deltas) {
    const last = parts.at(-1);
    if (last === undefined || delta.startsWith("**")) parts.push([delta]);
    else last.push(delta);
  }
  return parts;
}

function emitMessage(
  writer: Writer,
  turn: Turn,
  request: ResponsesRequest,
  id: string,
  index: number,
  status: string,
): OutputItem {
  const at = { item_id: id, output_index: index, content_index: 0 };
  const refused = isSpokenRefusal(turn);
  const deltas = refused && (turn.text ?? []).length === 0 ? ["I'm sorry, ", "but I can't help with that."] : turn.text;
  const text = (deltas ?? []).join("");
  const phase = /^gpt-(5\.[3-9]|[6-9])/.test(request.model)
    ? { phase: (turn.calls ?? []).length > 0 ? "commentary" : "final_answer" }
    : {};
  const message = { id, type: "message", role: "assistant", ...phase };
  const part = (words: string) =>
    refused ? { type: "refusal", refusal: words } : { type: "output_text", annotations: [], logprobs: [], text: words };
  writer.emit("response.output_item.added", {
    output_index: index,
    item: { ...message, status: "in_progress", content: [] },
  });
  writer.emit("response.content_part.added", { ...at, part: part("") });
  for (const delta of deltas ?? []) {
    if (refused) writer.emit("response.refusal.delta", { ...at, delta, ...writer.padding() });
    else writer.emit("response.output_text.delta", { ...at, delta, logprobs: [], ...writer.padding() });
  }
  if (refused) writer.emit("response.refusal.done", { ...at, refusal: text });
  else writer.emit("response.output_text.done", { ...at, text, logprobs: [] });
  writer.emit("response.content_part.done", { ...at, part: part(text) });
  const item = { ...message, status, content: [part(text)] };
  writer.emit("response.output_item.done", { output_index: index, item });
  return item;
}

function emitCall(
  writer: Writer,
  call: TurnCall & { readonly id: string },
  ids: Ids,
  index: number,
  status: string,
): OutputItem {
  const id = ids("fc_", 50, hexadecimal);
  const at = { item_id: id, output_index: index };
  const text = typeof call.input === "string" ? call.input : JSON.stringify(call.input);
  const begun = { id, type: "function_call", call_id: call.id, name: call.name };
  writer.emit("response.output_item.added", {
    output_index: index,
    item: { ...begun, status: "in_progress", arguments: "" },
  });
  for (const delta of splitUnevenly(text, call.pieces ?? 3)) {
    writer.emit("response.function_call_arguments.delta", { ...at, delta, ...writer.padding() });
  }
  writer.emit("response.function_call_arguments.done", { ...at, arguments: text });
  const item = { ...begun, status, arguments: text };
  writer.emit("response.output_item.done", { output_index: index, item });
  return item;
}

/** Encrypted thoughts are sent on request. */
function shownItem(item: OutputItem, request: ResponsesRequest): Json {
  if (item.type !== "reasoning" || request.include?.includes("reasoning.encrypted_content")) return item;
  const { encrypted_content: _, ...rest } = item;
  return rest;
}

function remember(
  issued: Issued,
  responseId: string,
  request: ResponsesRequest,
  output: readonly OutputItem[],
  follower: Follower | undefined,
): void {
  if (request.store === false) return;
  const items = output.map((item) => item as unknown as InputItem);
  for (const [index, item] of items.entries()) {
    const before = output[index - 1];
    const reasoningId = before?.type === "reasoning" ? before.id : undefined;
    const isReasoning = item.type === "reasoning";
    issued.stored.set(output[index]?.id ?? "", { item, reasoningId, follower: isReasoning ? follower : undefined });
  }
  const previous = request.previous_response_id ?? undefined;
  const earlier = (previous === undefined ? undefined : issued.responses.get(previous)) ?? [];
  const given = typeof request.input === "string" ? [] : (request.input ?? []);
  issued.responses.set(responseId, [...earlier, ...given, ...items]);
}

function responseObject(id: string, request: ResponsesRequest): Json & { readonly id: string } {
  return {
    id,
    object: "response",
    access_programs: null,
    created_at: createdAt,
    status: "in_progress",
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    model: request.model,
    output: [],
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: request.previous_response_id ?? null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    prompt_cache_retention: request.prompt_cache_retention ?? null,
    reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
    safety_identifier: request.safety_identifier ?? null,
    service_tier: "auto",
    store: request.store ?? true,
    temperature: request.temperature ?? 1,
    text: { format: { type: "text" }, verbosity: "medium", ...request.text },
    tool_choice: request.tool_choice ?? "auto",
    tools: (request.tools ?? []).map((tool) => ({ description: null, strict: true, ...tool })),
    top_logprobs: 0,
    top_p: request.top_p ?? 1,
    truncation: request.truncation ?? "disabled",
    usage: null,
    user: request.user ?? null,
  };
}

function usageObject(turn: Turn): Json {
  const { input, cacheRead, cacheWrite, output, thinking } = usageOf(turn);
  const sent = input + cacheRead + cacheWrite;
  return {
    input_tokens: sent,
    input_tokens_details: { cache_write_tokens: cacheWrite, cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: thinking },
    total_tokens: sent + output,
  };
}
