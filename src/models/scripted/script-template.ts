import type { Message } from "../../engine/message.ts";
import { textOf } from "../../engine/message.ts";

export function latestUserText(messages: readonly Message[]): string {
  const user = messages.findLast((message) => message.role === "user");
  return user === undefined ? "" : textOf(user.content);
}

/** Tool results that the model has not seen yet. */
export function freshResults(messages: readonly Message[]): Extract<Message, { role: "tool" }>["content"] {
  const last = messages.at(-1);
  return last?.role === "tool" ? last.content : [];
}

/** `freshResults` as one text. */
export function latestToolResult(messages: readonly Message[]): string {
  return freshResults(messages)
    .map((result) => result.text)
    .join("\n");
}

/** Replaces `{{user}}` and `{{tool_result}}` with the latest prompt and results. */
export function templateOf(messages: readonly Message[]): (text: string) => string {
  return (text) =>
    text.replace(/\{\{\s*(user|tool_result)\s*\}\}/g, (_, name: string) =>
      name === "user" ? latestUserText(messages) : latestToolResult(messages),
    );
}

export function listOf(chunks: string | readonly string[] | undefined): readonly string[] {
  if (chunks === undefined) return [];
  return typeof chunks === "string" ? [chunks] : chunks;
}
