import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Block, Message } from "../../../sdk/types.ts";
import { textOfContent } from "../../../sdk/wire.ts";
import type { Translator } from "../view/acp-updates.ts";

/** A past conversation as the updates first sent for it, without messages meant only for the model. */
export function* replay(history: readonly Message[], translator: Translator): Generator<SessionUpdate> {
  for (const message of history) {
    if (message.visibility === "llm_only" || message.role === "system") continue;
    for (const block of message.content) yield* updatesOf(message, block, translator);
  }
  yield* translator.closeCalls();
}

function* updatesOf({ id, role }: Message, block: Block, translator: Translator): Generator<SessionUpdate> {
  switch (block.type) {
    case "text":
      if (role === "user") yield* said(id, { type: "text", text: asTyped(block.text) });
      else if (role === "assistant" && block.text !== "")
        yield* translator.take({ type: "text", messageId: id, text: block.text });
      return;
    case "image":
      if (role === "user") {
        yield* said(id, { type: "image", mimeType: block.source.mediaType, data: block.source.data });
      }
      return;
    case "document":
      if (role === "user") yield* said(id, { type: "text", text: `@${block.source.name ?? "document"}` });
      return;
    case "thinking":
      // Some thoughts have only a signature.
      if (block.thinking !== "") yield* translator.take({ type: "thinking", messageId: id, text: block.thinking });
      return;
    case "tool_use":
      yield* translator.take({ type: "tool_call", id: block.id, name: block.name, input: block.input });
      return;
    case "tool_result":
      yield* translator.take({
        type: "tool_result",
        id: block.toolUseId,
        content: block.content,
        text: textOfContent(block.content),
        isError: block.isError,
      });
      return;
    default:
      return;
  }
}

function* said(messageId: string, content: ContentBlock): Generator<SessionUpdate> {
  if (content.type === "text" && content.text === "") return;
  yield { sessionUpdate: "user_message_chunk", messageId, content };
}

const reminder = { opens: "<system-reminder>", closes: "</system-reminder>" };
const context = { opens: '<context ref="', closes: "\n</context>" };

/** Removes added reminders and contexts. By hand, because a pattern would backtrack through every way to split the text. */
function asTyped(text: string): string {
  return withoutContexts(withoutReminders(text));
}

function withoutReminders(text: string): string {
  let rest = text;
  for (;;) {
    const start = rest.trimStart();
    const end = start.startsWith(reminder.opens) ? start.indexOf(reminder.closes) : -1;
    if (end < 0) return rest;
    rest = start.slice(end + reminder.closes.length).trimStart();
  }
}

/** In the form written by prompt-input.ts, where no context contains the tag of another. */
function withoutContexts(text: string): string {
  let end = text.length;
  while (text.endsWith(context.closes, end)) {
    const start = startOfContext(text, end - context.closes.length);
    if (start === undefined) break;
    end = start;
  }
  return text.slice(0, end);
}

/** The start of the last context before `end`, with the empty line before it. */
function startOfContext(text: string, end: number): number | undefined {
  const opens = text.lastIndexOf(context.opens, end);
  if (opens < 0) return undefined;
  const name = opens + context.opens.length;
  const quote = text.indexOf('"', name);
  const isWhole = text.startsWith('">\n', quote) && quote + 2 <= end && !text.slice(name, quote).includes("\n");
  if (!isWhole) return undefined;
  if (opens === 0) return 0;
  return text.startsWith("\n\n", opens - 2) ? opens - 2 : undefined;
}
