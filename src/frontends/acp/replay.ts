import type { ContentBlock, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Block, Message } from "../../sdk/types.ts";
import { textOfContent } from "../../sdk/wire.ts";
import type { Translator } from "./translate.ts";

/** A conversation as it was, in the updates in which it would have come. What was told to the model alone is not in it. */
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
      // Of some thoughts only a signature is kept.
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

/** As prompt-input.ts puts them behind what the user said. */
const attachedContexts = /(?:(?:^|\n\n)<context ref="[^"\n]*">\n[\s\S]*?\n<\/context>)+$/;
const leadingReminders = /^(?:\s*<system-reminder>[\s\S]*?<\/system-reminder>\s*)+/;

/** What stands before and behind it nobody typed. */
function asTyped(text: string): string {
  return text.replace(leadingReminders, "").replace(attachedContexts, "");
}
