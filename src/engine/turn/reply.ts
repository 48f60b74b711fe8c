import { isNestedDeeper } from "../../text/json-size.ts";
import { compact, endsInHalf, textStart } from "../../text/text-cut.ts";
import type { Failure } from "../errors.ts";
import type { EventBody } from "../event.ts";
import type { AssistantMessage, ReplyBlock, StopReason, Usage } from "../message.ts";
import type { Clock, ModelEvent, ModelInfo } from "../ports.ts";

/** Only this reader sees a block before the reply is complete, so text is appended in place. */
type Growing<Block> = Block extends unknown ? { -readonly [Key in keyof Block]: Block[Key] } : never;

export interface Reply {
  readonly message: AssistantMessage;
  /** The model that answered, which can be a fallback. */
  readonly model: ModelInfo;
  readonly usage: Usage | undefined;
  /** Set if `message.stop` is `failed`. */
  readonly failure: Failure | undefined;
  /** False if a rule-based model did not understand the request. */
  readonly understood: boolean;
}

type TextEvent = ModelEvent & { type: "text" | "thinking" };

interface ReplyParts {
  readonly messageId: string;
  readonly model: ModelInfo;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  emit(body: EventBody): Promise<void>;
  /** Resolves when the attached clients have room for more. */
  room(): Promise<void> | undefined;
  /** Whether calls by this name are shown only once complete. */
  isHidden?(tool: string): boolean;
}

/** Maximum interval between checkpoints of streamed text; a crash loses no more than that. */
const checkpointCharacters = 4_096;
const checkpointMs = 1_000;

/** Limit for a reply. A longer one is a runaway model, and would not fit into a log record. */
const maxReplyCharacters = 5_500_000;

/** Limit for one call's arguments in characters; longer ones are malformed. */
const maxInputCharacters = 5_000_000;
/** Deeper nesting is useless to tools. */
const maxInputDepth = 500;
const maxIdCharacters = 200;
/** Events after which the previous block gets no more text. */
const endsBlock: ReadonlySet<ModelEvent["type"]> = new Set(["text", "thinking", "tool_input", "tool_call", "end"]);

function isSameBlock(before: TextEvent, event: ModelEvent): boolean {
  return event.type === before.type && event.block === before.block;
}

/** Calls of a reply that was cut off or refused never run. */
const withoutCalls: ReadonlySet<StopReason> = new Set(["interrupted", "failed", "refusal"]);

/** Limit for calls in one reply. */
export const maxCalls = 256;

/**
 * Reads one model stream to its end and publishes it as it arrives. The stream never throws; a model that does has a
 * bug, which `turn` reports.
 */
export async function readReply(stream: AsyncIterable<ModelEvent>, parts: ReplyParts): Promise<Reply> {
  const { messageId, clock, signal } = parts;
  const createdAt = clock.now();
  let answering = parts.model;
  let blocks: Growing<ReplyBlock>[] = [];
  let stop: StopReason | undefined;
  let usage: Usage | undefined;
  let failure: Failure | undefined;
  let understood = true;
  let started = false;
  const callIds = new Set<string>();
  let characters = 0;
  /** The model's name for the last of `blocks`. */
  let openBlock: string | undefined;
  /** A call began to stream, so the block before it was reported as complete. */
  let isBlockOver = false;
  /**
   * Text of the last block since its checkpoint. Kept apart, because cutting it from the whole would copy all of that.
   */
  let unsaved = "";
  let savedAt = clock.monotonic();
  /** The first half of a surrogate pair that a model split. */
  let half: TextEvent | undefined;

  const begin = async (): Promise<void> => {
    if (started) return;
    started = true;
    await parts.emit({ type: "message.started", messageId });
  };

  /** Writes what the open block has gained since its checkpoint. */
  const checkpoint = async (): Promise<void> => {
    const block = blocks.at(-1);
    if (block === undefined || block.type === "tool_call" || unsaved === "") return;
    const text = unsaved;
    compact(block.text);
    unsaved = "";
    savedAt = clock.monotonic();
    await parts.emit({
      type: "message.checkpoint",
      messageId,
      block: blocks.length - 1,
      kind: block.type,
      from: block.text.length - text.length,
      text,
    });
  };

  const tell = (event: TextEvent, offset: number): Promise<void> | undefined => {
    if (event.text === "") return undefined;
    const [block, kind] = [blocks.length - 1, event.type];
    return parts.emit({ type: "message.delta", messageId, block, kind, offset, text: event.text });
  };

  const beginBlock = async (event: TextEvent): Promise<void> => {
    await begin();
    if (event.text === "" && event.type === "text") return;
    await checkpoint();
    savedAt = clock.monotonic();
    openBlock = event.block;
    isBlockOver = false;
    const { type, text, proof } = event;
    unsaved = text;
    blocks.push(proof === undefined ? { type, text } : { type, text, proof });
    await tell(event, 0);
    if (text.length >= checkpointCharacters) await checkpoint();
  };

  /** Hot path for nearly all of a reply: avoids needless awaits. */
  const addText = (event: TextEvent): Promise<void> | undefined => {
    const last = blocks.at(-1);
    if (last?.type !== event.type || openBlock !== event.block || isBlockOver) return beginBlock(event);
    const offset = last.text.length;
    last.text += event.text;
    unsaved += event.text;
    if (event.proof !== undefined) last.proof = event.proof;
    const told = tell(event, offset);
    const isDue = unsaved.length >= checkpointCharacters || clock.monotonic() - savedAt >= checkpointMs;
    return isDue ? Promise.resolve(told).then(checkpoint) : told;
  };

  /**
   * Holds back the first half of a surrogate pair until the second arrives, so that no piece ends in half a character.
   */
  const addWhole = async (event: TextEvent): Promise<void> => {
    const text = half === undefined ? event.text : half.text + event.text;
    const isHalf = endsInHalf(text);
    half = isHalf ? { ...event, text: text.slice(-1) } : undefined;
    await addText({ ...event, text: (isHalf ? text.slice(0, -1) : text).toWellFormed() });
  };

  const addLone = async (event: TextEvent): Promise<void> => {
    half = undefined;
    await addText({ ...event, text: event.text.toWellFormed() });
  };

  for await (const event of stream) {
    // Not followed by its second half, so it is not a character.
    if (half !== undefined && endsBlock.has(event.type) && !isSameBlock(half, event)) await addLone(half);
    switch (event.type) {
      case "text":
      case "thinking":
        if (half === undefined && event.text.isWellFormed()) await addText(event);
        else await addWhole(event);
        break;
      case "tool_input":
        await begin();
        isBlockOver = true;
        if (parts.isHidden?.(event.name) === true) break;
        await parts.emit({
          type: "tool.input",
          messageId,
          callId: callIdOf(event.id),
          name: event.name,
          text: event.text,
        });
        break;
      case "tool_call":
        await begin();
        await checkpoint();
        blocks.push(toolCall(event, callIds));
        characters += event.inputText.length;
        break;
      case "usage":
        usage = event.usage;
        break;
      case "notice":
        await parts.emit(event);
        break;
      case "retry":
        half = undefined;
        // A block's proof is valid only within the reply it came with.
        blocks = blocks.map(({ proof: _, ...block }) => block);
        if (event.model !== undefined) answering = event.model;
        await parts.emit({
          type: "retry.scheduled",
          attempt: event.attempt,
          delayMs: event.delayMs,
          failure: event.failure,
          ...(event.model === undefined ? {} : { model: event.model.id }),
        });
        break;
      case "end":
        stop = event.stop;
        understood = event.understood ?? true;
        break;
      case "error":
        stop = "failed";
        failure = event.failure;
        break;
    }
    if ("text" in event && event.type !== "notice") characters += event.text.length;
    if (characters > maxReplyCharacters || callIds.size > maxCalls) {
      const what = callIds.size > maxCalls ? `${maxCalls} calls` : `${maxReplyCharacters} characters`;
      stop = "failed";
      failure = { code: "model_failed", message: `The reply exceeded ${what} and was stopped.` };
    }
    if (signal.aborted || stop !== undefined) break;
    const room = parts.room();
    if (room !== undefined) await unlessAborted(room, signal);
  }
  if (signal.aborted) stop = "interrupted";
  if (stop === undefined) {
    stop = "failed";
    failure = { code: "model_failed", message: "The model's stream ended without an end event." };
  }
  const content = withoutCalls.has(stop) ? blocks.filter(({ type }) => type !== "tool_call") : blocks;
  const message: AssistantMessage = { id: messageId, role: "assistant", content, createdAt, stop, model: answering.id };
  return { message, model: answering, usage, failure, understood };
}

function callIdOf(given: string): string {
  return given === "" ? "call" : textStart(given, maxIdCharacters);
}

/** `taken`: ids of the reply's calls so far. Adds this one's. */
function toolCall(event: ModelEvent & { type: "tool_call" }, taken: Set<string>): ReplyBlock {
  const base = callIdOf(event.id);
  let id = base;
  for (let n = 2; taken.has(id); n += 1) id = `${base}-${n}`;
  taken.add(id);
  const proof = event.proof === undefined ? {} : { proof: event.proof };
  const call = { type: "tool_call", id, name: event.name, ...proof } as const;
  const text = event.inputText.trim() === "" ? "{}" : event.inputText;
  if (text.length <= maxInputCharacters && !isNestedDeeper(text, maxInputDepth)) {
    try {
      return { ...call, input: JSON.parse(text) as unknown };
    } catch {
      // The model reads this below, as the call's result.
    }
  }
  return { ...call, input: undefined, malformedInput: textStart(text, 10_000) };
}

/** Leaves no listener, because a turn can wait thousands of times for a slow reader. */
function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      signal.removeEventListener("abort", done);
      resolve();
    };
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", done);
    work.then(done, done);
  });
}
