/** Messages of the user, the model, and the tools. */

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

/** The engine's text to the model (environment, instructions). Wires show it as `<system-reminder>`. */
export interface ReminderBlock {
  readonly type: "reminder";
  readonly text: string;
}

/**
 * Data that a provider needs back with a block it made (a signature, an item's id, encrypted thoughts), by the name of its
 * wire. Opaque, and never sent to other wires.
 */
export type Proof = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The model's text. */
interface ReplyTextBlock extends TextBlock {
  readonly proof?: Proof;
}

/** `text` is empty if the provider returns only proof of its thoughts. */
interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  readonly proof?: Proof;
}

export interface ImageBlock {
  readonly type: "image";
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

export interface DocumentBlock {
  readonly type: "document";
  readonly mediaType: string;
  readonly encoding: "base64" | "text";
  readonly data: string;
  readonly name?: string;
}

export interface RawCall {
  readonly name: string;
  readonly input: unknown;
  /** Arguments unknown to the tool. */
  readonly ignored?: readonly string[];
}

export interface ToolCallBlock {
  readonly type: "tool_call";
  readonly id: string;
  /** With this program's names for the tool and its arguments, whatever the model wrote. */
  readonly name: string;
  /** The parsed arguments; `undefined` if the model's text was not JSON. */
  readonly input: unknown;
  /** The model's original call if it differs; the provider gets it back. */
  readonly raw?: RawCall;
  /** The model's text, kept only if it was not JSON. */
  readonly malformedInput?: string;
  readonly proof?: Proof;
}

/**
 * `failed`: it could not do its job, or its command exited non-zero. `refused`: it was not allowed to run.
 * `interrupted`: it was stopped, or never started.
 */
export type ToolStatus = "ok" | "failed" | "refused" | "interrupted";

/** A result's meaning for programs, beyond its status. Models read the text instead. */
export type ToolCause = "is_directory" | "not_directory" | "not_read" | "no_match";

export interface ToolResultBlock {
  readonly type: "tool_result";
  readonly callId: string;
  readonly name: string;
  readonly status: ToolStatus;
  /** For clients, hooks and history. */
  readonly text: string;
  /** For the model, if it needs a shorter or different text than `text`. */
  readonly forModel?: string;
  /** Set if a command completed and exited non-zero. */
  readonly exitCode?: number;
  readonly media?: readonly ImageBlock[];
  /** A file with the whole text, if `text` or `forModel` has only its head and tail. */
  readonly fullTextPath?: string;
  readonly cause?: ToolCause;
  /** Instructions triggered by the call, such as the AGENTS.md of a folder it touched first; changed permissions. */
  readonly reminders?: readonly string[];
}

/** The text of a result for the model. */
export function modelText({ text, forModel = text }: ToolResultBlock): string {
  return forModel;
}

/** A block of a client's prompt. */
export type PromptBlock = TextBlock | ImageBlock | DocumentBlock;
export type ReplyBlock = ReplyTextBlock | ThinkingBlock | ToolCallBlock;

/** Why the model stopped. `interrupted` and `failed` replies are kept as far as they got. */
export type StopReason = "end" | "tool_calls" | "length" | "refusal" | "interrupted" | "failed";

interface MessageBase {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
}

export interface UserMessage extends MessageBase {
  readonly role: "user";
  /** Reminders first, the user's own blocks last. */
  readonly content: readonly (ReminderBlock | PromptBlock)[];
}

export interface AssistantMessage extends MessageBase {
  readonly role: "assistant";
  readonly content: readonly ReplyBlock[];
  readonly stop: StopReason;
  readonly model: string;
}

/** All results of one reply, in the order of its calls. */
export interface ToolMessage extends MessageBase {
  readonly role: "tool";
  readonly content: readonly ToolResultBlock[];
}

export type Message = UserMessage | AssistantMessage | ToolMessage;

/** `input` excludes tokens read from a cache; `thinking` is part of `output`. */
export interface Usage {
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly thinking: number;
}

export const noUsage: Usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 };

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
    thinking: a.thinking + b.thinking,
  };
}

/** All tokens sent and received, each counted once. */
export function totalTokens(u: Usage): number {
  return u.input + u.output + u.cacheRead + u.cacheWrite;
}

/** The text blocks of a message, joined. */
export function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  let text = "";
  for (const block of content) if (block.type === "text") text += block.text ?? "";
  return text;
}

export function callsOf(message: AssistantMessage): readonly ToolCallBlock[] {
  return message.content.filter((block) => block.type === "tool_call");
}

/** The engine's reminders in a message. */
export function remindersOf(message: Message): readonly string[] {
  if (message.role === "tool") return message.content.flatMap(({ reminders = [] }) => reminders);
  if (message.role !== "user") return [];
  return message.content.flatMap((block) => (block.type === "reminder" ? [block.text] : []));
}
