import { type Fields, isRecord } from "../../text/values.ts";

const mark = { cache_control: { type: "ephemeral" } } as const;

/**
 * Sets the same marks as `withCacheMarks` in a chat completion's body: on the instructions and the last two requests.
 */
export function withChatCacheMarks(body: Fields): Record<string, unknown> {
  const messages: readonly unknown[] = Array.isArray(body.messages) ? body.messages : [];
  const asked = messages.flatMap((message, index) =>
    isRecord(message) && (message.role === "user" || message.role === "tool") ? [index] : [],
  );
  const marked = new Set([0, ...asked.slice(-2)]);
  return { ...body, messages: messages.map((message, index) => (marked.has(index) ? withMark(message) : message)) };
}

/** The mark goes on the last text part. */
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
