/** What the user typed or attached, what the model said, and what the tools answered. */

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

/** Words of the engine to the model (environment, instructions). Wires show them as `<system-reminder>` text. */
export interface ReminderBlock {
  readonly type: "reminder";
  readonly text: string;
}

/**
 * What a provider wants back with a block that it made (a signature, an item's id, encrypted thoughts), under the name of its
 * wire. Opaque to everybody else, and not sent to other wires.
 */
export type Proof = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Text of the model. */
export interface ReplyTextBlock extends TextBlock {
  readonly proof?: Proof;
}

/** `text` is empty when the provider keeps the thoughts to itself and gives only their proof. */
export interface ThinkingBlock {
  readonly type: "thinking";
  readonly text: string;
  readonly proof?: Proof;
}

export interface ImageBlock {
  readonly type: "image";
  readonly mediaType: string;
  /** base64 */
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
  /** Arguments that the tool does not have. */
  readonly ignored?: readonly string[];
}

export interface ToolCallBlock {
  readonly type: "tool_call";
  readonly id: string;
  /** As this program names its tools and their arguments, whatever the model wrote. */
  readonly name: string;
  /** The parsed arguments; `undefined` when the model's text was not JSON. */
  readonly input: unknown;
  /** What the model wrote, where that is different: its provider gets this back. */
  readonly raw?: RawCall;
  /** The model's own text, kept only when it was not JSON. */
  readonly malformedInput?: string;
  readonly proof?: Proof;
}

/** `failed`: it could not do its job, or its command exited non-zero. `refused`: it was not allowed to run. `interrupted`: it was stopped, or never came to run. */
export type ToolStatus = "ok" | "failed" | "refused" | "interrupted";

/** What a result means to programs, beyond its status; models read the text. Absent where nobody needs to know. */
export type ToolCause = "is_directory" | "not_directory" | "not_read" | "no_match";

export interface ToolResultBlock {
  readonly type: "tool_result";
  readonly callId: string;
  readonly name: string;
  readonly status: ToolStatus;
  /** For clients, hooks and history. */
  readonly text: string;
  /** For the model, where a shorter or different text serves it better than `text`. */
  readonly forModel?: string;
  /** Set when a command ran to its end and exited non-zero. */
  readonly exitCode?: number;
  readonly media?: readonly ImageBlock[];
  /** A file with the whole text, when `text` or `forModel` has only its head and tail. */
  readonly fullTextPath?: string;
  readonly cause?: ToolCause;
  /** Instructions that came up with the call, such as an AGENTS.md of the folder that it touched first; changed permissions. */
  readonly reminders?: readonly string[];
}

/** The text of a result that the model reads. */
export function modelText({ text, forModel = text }: ToolResultBlock): string {
  return forModel;
}

/** What a client may put into a prompt. */
export type PromptBlock = TextBlock | ImageBlock | DocumentBlock;
export type ReplyBlock = ReplyTextBlock | ThinkingBlock | ToolCallBlock;

/** Why the model stopped. `interrupted` and `failed` replies are kept as far as they had come. */
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

/** `input` is without what was read from a cache; `thinking` is part of `output`. */
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

/** Every token that was sent or received, each counted once. */
export function totalTokens(u: Usage): number {
  return u.input + u.output + u.cacheRead + u.cacheWrite;
}

/** The text blocks of a message, as one string. */
export function textOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  let text = "";
  for (const block of content) if (block.type === "text") text += block.text ?? "";
  return text;
}

export function callsOf(message: AssistantMessage): readonly ToolCallBlock[] {
  return message.content.filter((block) => block.type === "tool_call");
}

/** The engine's own words in a message. */
export function remindersOf(message: Message): readonly string[] {
  if (message.role === "tool") return message.content.flatMap(({ reminders = [] }) => reminders);
  if (message.role !== "user") return [];
  return message.content.flatMap((block) => (block.type === "reminder" ? [block.text] : []));
}
