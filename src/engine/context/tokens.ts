import { type Message, modelText, type ToolResultBlock } from "../message.ts";
import type { ModelRequest, ToolSpec } from "../ports.ts";

/**
 * An estimate of a request's tokens: four letters per token, one character per token in scripts without spaces. Meant
 * to be too high; only sending the request shows the real count.
 */
export function estimateTokens(request: ModelRequest): number {
  let tokens = textTokens(request.system);
  for (const tool of request.tools) tokens += toolTokens(tool);
  for (const message of request.messages) tokens += messageTokens(message);
  return tokens;
}

export function toolTokens({ description }: Pick<ToolSpec, "description">): number {
  return 100 + textTokens(description);
}

const imageTokens = 1_600;

/** Message objects never change, so each is counted once. */
const counted = new WeakMap<Message, number>();

export function messageTokens(message: Message): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  let tokens = 8;
  for (const block of message.content) {
    switch (block.type) {
      case "image":
        tokens += imageTokens;
        break;
      case "document":
        tokens += block.encoding === "text" ? textTokens(block.data) : Math.ceil(block.data.length / 6);
        break;
      case "tool_call":
        tokens += 20 + textTokens(block.malformedInput ?? JSON.stringify((block.raw ?? block).input ?? {}));
        break;
      case "tool_result":
        tokens += resultTokens(block);
        break;
      default:
        tokens += textTokens(block.text);
    }
  }
  counted.set(message, tokens);
  return tokens;
}

export function resultTokens(result: ToolResultBlock): number {
  const reminders = (result.reminders ?? []).reduce((sum, text) => sum + 20 + textTokens(text), 0);
  return 20 + reminders + textTokens(modelText(result)) + (result.media?.length ?? 0) * imageTokens;
}

export function textTokens(text: string): number {
  let narrow = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) < 0x2e80) narrow += 1;
  return Math.ceil(narrow / 4) + (text.length - narrow);
}
