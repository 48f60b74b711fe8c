import type { Failure } from "./errors.ts";
import type { EventBody } from "./event.ts";
import type { AssistantMessage, ReplyBlock, StopReason, Usage } from "./message.ts";
import type { Clock, ModelEvent } from "./ports.ts";

export interface Reply {
  readonly message: AssistantMessage;
  readonly usage: Usage | undefined;
  /** Set when `message.stop` is `failed`. */
  readonly failure: Failure | undefined;
}

interface ReplyParts {
  readonly messageId: string;
  readonly model: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  emit(body: EventBody): Promise<void>;
  /** Resolves when the attached clients have room for more. */
  room(): Promise<void> | undefined;
}

/** Streamed text reaches the log at least this often, so that a crash loses no more than that. */
const checkpointCharacters = 4_096;
const checkpointMs = 1_000;

/** An answer that grows past this is a model that has lost its way; it would not fit a record of the log either. */
const maxReplyCharacters = 5_500_000;

/** The arguments of one call may have this many characters; more is taken as malformed. */
const maxInputCharacters = 5_000_000;
const maxInputDepth = 500;
const maxIdCharacters = 200;

/** Reads one model stream to its end, telling everybody as it comes. The stream never throws; a model that does is a bug that `turn` reports. */
export async function readReply(stream: AsyncIterable<ModelEvent>, parts: ReplyParts): Promise<Reply> {
  const { messageId, clock, signal } = parts;
  const createdAt = clock.now();
  let blocks: ReplyBlock[] = [];
  let stop: StopReason | undefined;
  let usage: Usage | undefined;
  let failure: Failure | undefined;
  let started = false;
  let characters = 0;
  /** What the model calls the last of `blocks`. */
  let openBlock: string | undefined;
  let savedLength = 0;
  let savedAt = clock.monotonic();

  const begin = async (): Promise<void> => {
    if (started) return;
    started = true;
    await parts.emit({ type: "message.started", messageId });
  };

  /** Writes what the open block has gained since the last time. */
  const checkpoint = async (): Promise<void> => {
    const block = blocks.at(-1);
    if (block === undefined || block.type === "tool_call" || block.text.length === savedLength) return;
    const from = savedLength;
    savedLength = block.text.length;
    savedAt = clock.monotonic();
    await parts.emit({
      type: "message.checkpoint",
      messageId,
      block: blocks.length - 1,
      kind: block.type,
      from,
      text: block.text.slice(from),
    });
  };

  const addText = async (event: ModelEvent & { type: "text" | "thinking" }): Promise<void> => {
    await begin();
    const last = blocks.at(-1);
    const isMore = last?.type === event.type && openBlock === event.block;
    const offset = isMore ? last.text.length : 0;
    const proof = event.proof === undefined ? {} : { proof: event.proof };
    if (isMore) blocks[blocks.length - 1] = { ...last, text: last.text + event.text, ...proof };
    else {
      if (event.text === "" && event.type === "text") return;
      await checkpoint();
      savedLength = 0;
      savedAt = clock.monotonic();
      openBlock = event.block;
      blocks.push({ type: event.type, text: event.text, ...proof });
    }
    if (event.text !== "") {
      const delta = { messageId, block: blocks.length - 1, kind: event.type, offset, text: event.text };
      await parts.emit({ type: "message.delta", ...delta });
    }
    const length = offset + event.text.length;
    if (length - savedLength >= checkpointCharacters || clock.monotonic() - savedAt >= checkpointMs) await checkpoint();
  };

  for await (const event of stream) {
    switch (event.type) {
      case "text":
      case "thinking":
        await addText(event);
        break;
      case "tool_input":
        await begin();
        await parts.emit({ type: "tool.input", messageId, callId: event.id, name: event.name, text: event.text });
        break;
      case "tool_call":
        await begin();
        await checkpoint();
        blocks.push(toolCall(event, blocks));
        break;
      case "usage":
        usage = event.usage;
        break;
      case "notice":
        await parts.emit(event);
        break;
      case "retry":
        // What vouches for a block holds for the answer that it was part of, and that one is not to be.
        blocks = blocks.map(({ proof: _, ...block }) => block);
        await parts.emit({
          type: "retry.scheduled",
          attempt: event.attempt,
          delayMs: event.delayMs,
          failure: event.failure,
        });
        break;
      case "end":
        stop = event.stop;
        break;
      case "error":
        stop = "failed";
        failure = event.failure;
        break;
    }
    if ("text" in event && event.type !== "notice") characters += event.text.length;
    if (characters > maxReplyCharacters) {
      stop = "failed";
      failure = {
        code: "model_failed",
        message: `The answer grew past ${maxReplyCharacters} characters and was stopped.`,
      };
    }
    if (signal.aborted || stop !== undefined) break;
    const room = parts.room();
    if (room !== undefined) await Promise.race([room, aborted(signal)]);
  }
  if (signal.aborted) stop = "interrupted";
  if (stop === undefined) {
    stop = "failed";
    failure = { code: "model_failed", message: "The model's answer ended without an end." };
  }
  // A call that was cut off must never run.
  const content = stop === "interrupted" || stop === "failed" ? blocks.filter((b) => b.type !== "tool_call") : blocks;
  const message: AssistantMessage = { id: messageId, role: "assistant", content, createdAt, stop, model: parts.model };
  return { message, usage, failure };
}

function toolCall(event: ModelEvent & { type: "tool_call" }, blocks: readonly ReplyBlock[]): ReplyBlock {
  const taken = new Set(blocks.map((block) => (block.type === "tool_call" ? block.id : "")));
  const base = event.id === "" ? "call" : event.id.slice(0, maxIdCharacters);
  let id = base;
  for (let n = 2; taken.has(id); n += 1) id = `${base}-${n}`;
  const proof = event.proof === undefined ? {} : { proof: event.proof };
  const call = { type: "tool_call", id, name: event.name, ...proof } as const;
  const text = event.inputText.trim() === "" ? "{}" : event.inputText;
  if (text.length <= maxInputCharacters && !isTooDeep(text)) {
    try {
      return { ...call, input: JSON.parse(text) as unknown };
    } catch {
      // Told to the model below, as the result of the call.
    }
  }
  return { ...call, input: undefined, malformedInput: text.slice(0, 10_000) };
}

/** Deep nesting is no use to a tool, and would exhaust the stack of whoever walks through it. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let inText = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (character === "\\") index += 1;
    else if (character === '"') inText = !inText;
    else if (!inText && (character === "[" || character === "{")) depth += 1;
    else if (!inText && (character === "]" || character === "}")) depth -= 1;
    if (depth > maxInputDepth) return true;
  }
  return false;
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
