import { estimateTokens, textTokens } from "../../engine/context/tokens.ts";
import { failureOf } from "../../engine/errors.ts";
import type { Message, Usage } from "../../engine/message.ts";
import type { Clock, ModelEvent, ModelPort, ModelRequest } from "../../engine/ports.ts";
import { textStart } from "../../text/text-cut.ts";
import { withoutContinuation } from "../retry.ts";
import { nextCallId } from "./call-ids.ts";
import { pause } from "./pause.ts";
import { lastEvent } from "./script-attempts.ts";
import { createChooser } from "./script-choice.ts";
import { parseScript, type ScriptReply } from "./script-format.ts";
import { scriptInfo } from "./script-info.ts";
import { latestToolResult, latestUserText, listOf, templateOf } from "./script-template.ts";

export interface ScriptedModelOptions {
  readonly id: string;
  /** The parsed content of the file. */
  readonly script: unknown;
  /** For error messages. */
  readonly path: string;
  readonly clock: Clock;
}

/** A model that replies from a file. Throws `script_invalid`. */
export function createScriptedModel(options: ScriptedModelOptions): ModelPort {
  const { id, path, clock } = options;
  const script = parseScript(options.script, path);
  let summaries = 0;
  const chooser = createChooser(script.replies);

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    try {
      // A continued reply still answers the same prompt or result.
      const messages = withoutContinuation(request.messages);
      const isSummary = request.purpose === "summary";
      const reply = isSummary ? script.summaries?.[summaries++] : chooser.choose({ ...request, messages });
      if (reply === undefined) yield exhausted(path, messages);
      else yield* perform(reply, request, request.past?.() ?? messages, clock, signal);
    } catch (error) {
      yield { type: "error", failure: failureOf(error), retryable: false };
    }
  }

  return { info: { ...scriptInfo(id), ...defined(script.model ?? {}) }, stream };
}

function defined<T extends object>(value: T): { [K in keyof T]-?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as {
    [K in keyof T]-?: Exclude<T[K], undefined>;
  };
}

function exhausted(path: string, messages: readonly Message[]): ModelEvent {
  const result = latestToolResult(messages);
  const asked =
    result === "" ? `the prompt "${short(latestUserText(messages))}"` : `the tool result "${short(result)}"`;
  const message = `The script ${path} has no reply left for ${asked}.`;
  return { type: "error", failure: { code: "script_exhausted", message }, retryable: false };
}

function short(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 120 ? line : `${textStart(line, 119)}…`;
}

async function* perform(
  reply: ScriptReply,
  request: ModelRequest,
  messages: readonly Message[],
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const fill = templateOf(messages);
  let output = 0;
  let thinking = 0;
  let first = true;
  await pause(clock, reply.delay_ms ?? 0, signal);

  for (const event of eventsOf(reply, messages, fill)) {
    if (!first) await pause(clock, reply.chunk_delay_ms ?? 0, signal);
    if (signal.aborted) return;
    first = false;
    if (event.type === "thinking") thinking += textTokens(event.text);
    else if (event.type === "text") output += textTokens(event.text);
    else if (event.type === "tool_call") output += textTokens(event.inputText);
    yield event;
  }
  if (signal.aborted) return;
  const estimate = { input: estimateTokens(request), output: output + thinking, cacheRead: 0, cacheWrite: 0, thinking };
  if (reply.error === undefined || reply.usage !== undefined) {
    yield { type: "usage", usage: usageOf(reply.usage, estimate) };
  }
  yield lastEvent(reply);
}

/** Approximate size of the pieces of a repeated text. */
const repeatChunk = 16_384;

function* eventsOf(
  reply: ScriptReply,
  messages: readonly Message[],
  fill: (text: string) => string,
): Generator<Extract<ModelEvent, { type: "text" | "thinking" | "tool_input" | "tool_call" }>> {
  for (const text of listOf(reply.reasoning)) yield { type: "thinking", text: fill(text) };
  for (const text of listOf(reply.text)) yield { type: "text", text: fill(text) };
  if (reply.repeat_text !== undefined) {
    const text = fill(reply.repeat_text.text);
    const atOnce = Math.max(1, Math.floor(repeatChunk / text.length));
    for (let left = reply.repeat_text.times; left > 0; left -= atOnce) {
      yield { type: "text", text: text.repeat(Math.min(left, atOnce)) };
    }
  }
  for (const [index, call] of (reply.tool_calls ?? []).entries()) {
    const id = call.id ?? nextCallId(messages, index);
    const inputText = call.raw === undefined ? JSON.stringify(filled(call.input ?? {}, fill)) : fill(call.raw);
    if (call.chunks !== undefined) {
      // At least two, so that a surrogate pair fits.
      const size = Math.max(2, Math.ceil(inputText.length / call.chunks));
      for (let rest = inputText; rest !== ""; ) {
        const text = textStart(rest, size);
        rest = rest.slice(text.length);
        yield { type: "tool_input", id, name: call.name, text };
      }
    }
    yield { type: "tool_call", id, name: call.name, inputText };
  }
}

function filled(value: unknown, fill: (text: string) => string): unknown {
  if (typeof value === "string") return fill(value);
  if (Array.isArray(value)) return value.map((part) => filled(part, fill));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, filled(part, fill)]));
}

function usageOf(given: ScriptReply["usage"], estimate: Usage): Usage {
  if (given === undefined) return estimate;
  return {
    input: given.input ?? 0,
    output: given.output ?? 0,
    cacheRead: given.cache_read ?? 0,
    cacheWrite: given.cache_write ?? 0,
    thinking: given.thinking ?? 0,
  };
}
