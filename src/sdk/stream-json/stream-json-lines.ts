import type { StreamJsonLine } from "../../protocol/stream-json.ts";
import { type Fields, fieldsOf, isRecord, listOf, numberOf, textOf, textsOf } from "../../text/values.ts";
import { forgetOldest, markOf } from "../turns/repeats.ts";
import type { Message, StreamJsonEvent, TokenUsage, TurnError } from "../types.ts";
import { given, messageOf, noticeOf, textOfBlocks, usageOf } from "../wire.ts";
import { createStreamJsonCalls } from "./stream-json-calls.ts";

/** Lines of other programs, and the object of `-o json`. */
type OtherLine = "tool_use" | "tool_return" | "result";

type Session = Extract<StreamJsonEvent, { type: "session" }>;
type End = Extract<StreamJsonEvent, { type: "end" }>;

const callTypes: readonly unknown[] = ["tool_call", "tool_use"];
const resultTypes: readonly unknown[] = ["tool_result", "tool_return"];
const thinkingTypes: readonly unknown[] = ["thinking", "reasoning"];
const partTypes = [...callTypes, ...resultTypes, ...thinkingTypes];
/** Errors from these sources concern the run; others may concern a part of it. */
const runErrorSources: readonly unknown[] = ["cli", "agent_loop"];
/** Messages remembered to recognise copies, which arrive close together. */
const mostMessages = 1_000;

/** Translates a run's lines to events in any vocabulary, each thing once. */
export function createStreamJsonTranslator() {
  const calls = createStreamJsonCalls();
  /** The reported items, by kind and message. */
  const told = new Map<string, string>();
  let sessionId = "";
  /** Text of the last reply that has any. */
  let lastText = "";
  /** The run's error, unless something follows it. */
  let failure: { readonly source: unknown; readonly error: TurnError } | undefined;

  function isCopy(kind: string, messageId: string, text: string): boolean {
    if (messageId === "") return false;
    const key = `${kind} ${messageId}`;
    const mark = markOf(text);
    if (told.get(key) === mark) return true;
    told.set(key, mark);
    forgetOldest(told, mostMessages);
    return false;
  }

  function* thinking(messageId: string, text: string): Generator<StreamJsonEvent> {
    if (!isCopy("thinking", messageId, text)) yield { type: "thinking", messageId, text };
  }

  function* call(line: Fields, value: unknown, messageId: string | undefined): Generator<StreamJsonEvent> {
    const event = calls.call(value, messageId);
    if (event === undefined) yield other(line);
    else if (event !== "copy") yield event;
  }

  function* result(value: unknown): Generator<StreamJsonEvent> {
    const event = calls.result(value);
    if (event !== "copy") yield event;
  }

  /** Thoughts, calls and results within a message become separate events. */
  function* message(line: Fields): Generator<StreamJsonEvent> {
    const whole = isRecord(line.message) ? { ...line, ...line.message } : line;
    const id = textOf(whole.id) ?? "";
    const blocks = blocksOf(whole);
    const toolUses = [...oneOrMore(whole.toolUse), ...blocks.filter(({ type }) => callTypes.includes(type))];
    const toolResults = [...oneOrMore(whole.toolResult), ...blocks.filter(({ type }) => resultTypes.includes(type))];
    const thoughts = blocks.filter(({ type }) => thinkingTypes.includes(type)).flatMap(thoughtOf);
    const hasParts = toolUses.length + toolResults.length + thoughts.length > 0;
    const content = blocks.filter(({ type, text }) => !partTypes.includes(type) && !(hasParts && text === ""));
    if (thoughts.length > 0) yield* thinking(id, thoughts.join("\n"));
    if (content.length > 0) yield* said(line, { ...whole, id, content });
    else if (!hasParts) yield other(line);
    for (const each of toolUses) yield* call(line, each, id === "" ? undefined : id);
    for (const each of toolResults) yield* result(each);
  }

  function* said(line: Fields, { id, role = "assistant", content, timestamp }: Fields): Generator<StreamJsonEvent> {
    const read: Message | undefined = messageOf({ id, role, content, createdAt: timestamp });
    if (read === undefined) {
      yield other(line);
      return;
    }
    const text = textOfBlocks(read.content);
    if (read.role === "assistant" && text !== "") lastText = text;
    const mark = read.content.every(({ type }) => type === "text") ? text : JSON.stringify(read.content);
    if (!isCopy("message", read.id, mark)) yield { type: "message", message: read, text };
  }

  function* session(line: Fields): Generator<StreamJsonEvent> {
    if (line.subtype !== undefined && line.subtype !== "init") {
      yield other(line);
      return;
    }
    yield given<Session>({
      type: "session",
      sessionId,
      cwd: textOf(line.cwd),
      model: textOf(line.model),
      tools: textsOf(line.tools),
    });
  }

  function* error(line: Fields): Generator<StreamJsonEvent> {
    const read = errorOf(line) ?? errorOf(line.error) ?? { message: "The program reported an error." };
    // After the loop's error, which has the reason, the command line only repeats that the run failed.
    const isEcho = line.source === "cli" && failure?.source === "agent_loop";
    if (runErrorSources.includes(line.source) && !isEcho) failure = { source: line.source, error: read };
    yield { type: "error", error: read };
  }

  /** For a `completion`, and for the object of `-o json`. */
  function* end(line: Fields): Generator<StreamJsonEvent> {
    const isFailed = line.isError === true || line.is_error === true || line.subtype === "failure";
    const status = isFailed ? "failed" : "completed";
    const reason = textOf(line.stopReason) ?? textOf(line.stop_reason) ?? status;
    const answer = textOf(line.finalText) ?? (isFailed ? answerOfFailure(line) : textOf(line.result));
    const unnamed = { message: textOf(line.result) ?? `The run ended with ${reason}.` };
    yield given<End>({
      type: "end",
      status,
      reason,
      text: answer ?? lastText,
      sessionId,
      model: textOf(line.model),
      durationMs: numberOf(line.durationMs) ?? numberOf(line.duration_ms),
      usage: runUsageOf(line.usage),
      error: isFailed ? (errorOf(line.error) ?? failure?.error ?? unnamed) : undefined,
    });
    lastText = "";
  }

  const readers: {
    readonly [Type in StreamJsonLine["type"] | OtherLine]: (line: Fields) => Iterable<StreamJsonEvent>;
  } = {
    system: session,
    message,
    reasoning: (line) =>
      typeof line.text === "string" ? thinking(messageIdOf(line) ?? textOf(line.id) ?? "", line.text) : [other(line)],
    tool_call: callsOf,
    tool_use: callsOf,
    tool_result: result,
    tool_return: result,
    notice: (line) => [noticeOf(line) ?? other(line)],
    error,
    completion: end,
    result: end,
  };

  function* callsOf(line: Fields): Generator<StreamJsonEvent> {
    const parts = oneOrMore(line.toolUse);
    for (const each of parts.length > 0 ? parts : [line]) yield* call(line, each, messageIdOf(line));
  }

  function read(line: string): readonly StreamJsonEvent[] {
    const value: unknown = JSON.parse(line);
    if (!isRecord(value)) return [stray(line)];
    const name = textOf(value.type) ?? "";
    if (!Object.hasOwn(readers, name)) return [other(value)];
    sessionId = textOf(value.session_id) ?? textOf(value.sessionId) ?? sessionId;
    const events = [...readers[name as keyof typeof readers](value)];
    if (name !== "error" && events.some(({ type }) => type !== "other")) failure = undefined;
    return events;
  }

  return {
    /** Never throws: unreadable lines become `other`. */
    take(line: string): readonly StreamJsonEvent[] {
      try {
        return read(line);
      } catch {
        // Invalid JSON, or nested too deeply to be written again.
        return [stray(line)];
      }
    },
    finish(): readonly StreamJsonEvent[] {
      if (failure === undefined) return [];
      const { error: why } = failure;
      return [{ type: "end", status: "failed", reason: "failed", text: lastText, sessionId, error: why }];
    },
  };
}

function other(line: Fields): StreamJsonEvent {
  return { type: "other", name: textOf(line.type) ?? "", given: line };
}

function stray(line: string): StreamJsonEvent {
  return { type: "other", name: "text", given: line };
}

function messageIdOf(line: Fields): string | undefined {
  return textOf(line.messageId) ?? textOf(line.message_id);
}

function oneOrMore(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : isRecord(value) ? [value] : [];
}

/** Text may be in `content`, as a string or as blocks, or in `text`, or in one of them only. */
function blocksOf({ content, text }: Fields): readonly Fields[] {
  const said = textOf(content) ?? textOf(text);
  const blocks = listOf(content).map((block) => (isRecord(block) ? block : { type: "text", text: block }));
  if (said === undefined || blocks.some(({ type }) => type === "text")) return blocks;
  return [{ type: "text", text: said }, ...blocks];
}

function thoughtOf({ thinking, text }: Fields): readonly string[] {
  const thought = textOf(thinking) ?? textOf(text) ?? "";
  return thought === "" ? [] : [thought];
}

function errorOf(value: unknown): TurnError | undefined {
  if (typeof value === "string" && value !== "") return { message: value };
  const { message, code, errorType, type } = fieldsOf(value);
  if (typeof message !== "string") return undefined;
  const kind = textOf(code) ?? textOf(errorType) ?? (type === "error" ? undefined : textOf(type));
  return kind === undefined ? { message } : { message, type: kind };
}

/** A failed run's result is the model's answer, unless it repeats the error. Without `error` it is the error. */
function answerOfFailure({ result, error }: Fields): string | undefined {
  const message = errorOf(error)?.message;
  const text = textOf(result);
  return message === undefined || text === message ? undefined : text;
}

function runUsageOf(value: unknown): TokenUsage | undefined {
  const usage = usageOf(value);
  if (usage === undefined) return undefined;
  const by = fieldsOf(value);
  return {
    inputTokens: numberOf(by.input_tokens) ?? usage.inputTokens,
    outputTokens: numberOf(by.output_tokens) ?? usage.outputTokens,
    cacheCreationTokens: numberOf(by.cache_creation_input_tokens) ?? usage.cacheCreationTokens,
    cacheReadTokens: numberOf(by.cache_read_input_tokens) ?? usage.cacheReadTokens,
    thinkingTokens: numberOf(by.thinking_tokens) ?? usage.thinkingTokens,
  };
}
