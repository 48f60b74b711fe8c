import { isNestedDeeper } from "../../text/json-size.ts";
import { compact, endsInHalf, textStart } from "../../text/text-cut.ts";
import type { Failure } from "../errors.ts";
import type { EventBody } from "../event.ts";
import type { AssistantMessage, ReplyBlock, StopReason, Usage } from "../message.ts";
import type { Clock, ModelEvent, ModelInfo } from "../ports.ts";

/** Nobody else sees a block before the reply is whole, so text is added in place. */
type Growing<Block> = Block extends unknown ? { -readonly [Key in keyof Block]: Block[Key] } : never;

export interface Reply {
  readonly message: AssistantMessage;
  /** The one that answered, which can be a fallback. */
  readonly model: ModelInfo;
  readonly usage: Usage | undefined;
  /** Set when `message.stop` is `failed`. */
  readonly failure: Failure | undefined;
  /** False when a model of rules had none for the request. */
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
  /** Calls by this name are not shown before they are whole. */
  isHidden?(tool: string): boolean;
}

/** Streamed text reaches the log at least this often, so that a crash loses no more than that. */
const checkpointCharacters = 4_096;
const checkpointMs = 1_000;

/** An answer that grows past this is a model that has lost its way; it would not fit a record of the log either. */
const maxReplyCharacters = 5_500_000;

/** The arguments of one call may have this many characters; more is taken as malformed. */
const maxInputCharacters = 5_000_000;
/** Deep nesting is no use to a tool. */
const maxInputDepth = 500;
const maxIdCharacters = 200;
/** Behind these, no more text of the block before comes. */
const endsBlock: ReadonlySet<ModelEvent["type"]> = new Set(["text", "thinking", "tool_input", "tool_call", "end"]);

function isSameBlock(before: TextEvent, event: ModelEvent): boolean {
  return event.type === before.type && event.block === before.block;
}

/** Calls of a reply that was cut off or refused never run. */
const withoutCalls: ReadonlySet<StopReason> = new Set(["interrupted", "failed", "refusal"]);

/** Calls of one reply. */
export const maxCalls = 256;

/** Reads one model stream to its end, telling everybody as it comes. The stream never throws; a model that does is a bug that `turn` reports. */
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
  /** What the model calls the last of `blocks`. */
  let openBlock: string | undefined;
  /** A call began to come in: whoever reads along was told that the block before it is whole. */
  let isBlockOver = false;
  /** What the last block has gained since it was saved. By itself: to cut it from the whole text would copy all of that. */
  let unsaved = "";
  let savedAt = clock.monotonic();
  /** The first unit of a pair that a model sends in two pieces. */
  let half: TextEvent | undefined;

  const begin = async (): Promise<void> => {
    if (started) return;
    started = true;
    await parts.emit({ type: "message.started", messageId });
  };

  /** Writes what the open block has gained since the last time. */
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

  /** Nearly all of an answer goes this way: nothing is waited for that need not be. */
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

  /** The first unit of a pair waits for the second, so that no piece ends in half a character. */
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
    // What follows something else than its other half is no character.
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
        // What vouches for a block holds for the answer that it was part of, and that one is not to be.
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
      failure = { code: "model_failed", message: `The answer grew past ${what} and was stopped.` };
    }
    if (signal.aborted || stop !== undefined) break;
    const room = parts.room();
    if (room !== undefined) await unlessAborted(room, signal);
  }
  if (signal.aborted) stop = "interrupted";
  if (stop === undefined) {
    stop = "failed";
    failure = { code: "model_failed", message: "The model's answer ended without an end." };
  }
  const content = withoutCalls.has(stop) ? blocks.filter(({ type }) => type !== "tool_call") : blocks;
  const message: AssistantMessage = { id: messageId, role: "assistant", content, createdAt, stop, model: answering.id };
  return { message, model: answering, usage, failure, understood };
}

function callIdOf(given: string): string {
  return given === "" ? "call" : textStart(given, maxIdCharacters);
}

/** `taken` are the ids of the reply's calls so far; this one's is added. */
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
      // Told to the model below, as the result of the call.
    }
  }
  return { ...call, input: undefined, malformedInput: textStart(text, 10_000) };
}

/** Leaves no listener: a slow reader is waited for thousands of times in one turn. */
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
