import { type Fields, isRecord } from "../../text/values.ts";

const mark = { cache_control: { type: "ephemeral" } } as const;

/** Marks what `withCacheMarks` marks for Anthropic, in the body of a chat completion: the instructions and the last two requests. */
export function withChatCacheMarks(body: Fields): Record<string, unknown> {
  const messages: readonly unknown[] = Array.isArray(body.messages) ? body.messages : [];
  const asked = messages.flatMap((message, index) =>
    isRecord(message) && (message.role === "user" || message.role === "tool") ? [index] : [],
  );
  const marked = new Set([0, ...asked.slice(-2)]);
  return { ...body, messages: messages.map((message, index) => (marked.has(index) ? withMark(message) : message)) };
}

/** A mark stands on a text part, the last one. */
function withMark(message: unknown): unknown {
  if (!isRecord(message)) return message;
  const { content } = message;
  if (typeof content === "string" && content !== "")
    return { ...message, content: [{ type: "text", text: content, ...mark }] };
  if (!Array.isArray(content)) return message;
  const parts: readonly unknown[] = content;
  const last = parts.findLastIndex((part) => isRecord(part) && part.type === "text");
  return {
    ...message,
    content: parts.map((part, index) => (index === last && isRecord(part) ? { ...part, ...mark } : part)),
  };
}
