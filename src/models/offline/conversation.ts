/** The parts of a request that the rules look at. Tool results and reminders are never the user's words. */
import type { Message, ToolCallBlock, ToolResultBlock, UserMessage } from "../../core/message.ts";
import { callsOf, textOf } from "../../core/message.ts";
import type { ModelRequest } from "../../core/ports.ts";

export interface Conversation {
  /** What is asked now. */
  readonly request: string;
  /** The user's messages before it, oldest first. */
  readonly earlier: readonly string[];
  /** What the tools have answered since. */
  readonly results: readonly ToolResultBlock[];
  readonly specMode: boolean;
  /** Pictures or documents came with the request. */
  readonly attachments: boolean;
  /** The file that was last named in a tool call. */
  lastPath(): string | undefined;
  offers(tool: string): boolean;
}

export function conversationOf(request: ModelRequest): Conversation {
  const { messages } = request;
  const last = messages.findLastIndex((message) => message.role === "user");
  const first = startOfPrompts(messages, last);
  const prompts = messages.slice(first, last + 1).filter(isUser);
  return {
    request: prompts.map(ownWords).join("\n"),
    earlier: messages.slice(0, Math.max(first, 0)).filter(isUser).map(ownWords),
    results: messages.slice(last + 1).flatMap((message) => (message.role === "tool" ? message.content : [])),
    specMode: request.mode === "spec",
    attachments: prompts.some(
      (prompt) =>
        pipedInput.test(textOf(prompt.content)) ||
        prompt.content.some((block) => block.type === "image" || block.type === "document"),
    ),
    lastPath: () => lastPathIn(messages),
    offers: (tool) => request.tools.some((spec) => spec.name === tool),
  };
}

/** Prompts that waited are taken up together. Only the first of them has reminders, so one with reminders begins a new turn. */
function startOfPrompts(messages: readonly Message[], last: number): number {
  let first = last;
  while (first > 0) {
    const message = messages[first];
    if (message?.role !== "user" || message.content.some((block) => block.type === "reminder")) break;
    if (messages[first - 1]?.role !== "user") break;
    first -= 1;
  }
  return first;
}

/** Piped input follows the prompt. */
const pipedInput = /\n\n<(stdin(?:-\d+)?)>\n[\s\S]*\n<\/\1>\s*$/;

function isUser(message: Message): message is UserMessage {
  return message.role === "user";
}

function ownWords(message: UserMessage): string {
  return textOf(message.content)
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "")
    .replace(pipedInput, "")
    .trim();
}

function lastPathIn(messages: readonly Message[]): string | undefined {
  const calls: readonly ToolCallBlock[] = messages.flatMap((message) =>
    message.role === "assistant" ? callsOf(message) : [],
  );
  for (const { input } of calls.toReversed()) {
    if (typeof input === "object" && input !== null && "file_path" in input && typeof input.file_path === "string") {
      return input.file_path;
    }
  }
  return undefined;
}
