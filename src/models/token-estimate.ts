/** Token counts for models that count none: four letters a token, one character a token in scripts without spaces. */
import type { Message } from "../core/message.ts";
import type { ModelRequest } from "../core/ports.ts";

export function textTokens(text: string): number {
  let narrow = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) < 0x2e80) narrow += 1;
  return Math.ceil(narrow / 4) + (text.length - narrow);
}

export function requestTokens(request: ModelRequest): number {
  let tokens = textTokens(request.system);
  for (const tool of request.tools) tokens += textTokens(tool.name) + textTokens(tool.description);
  for (const message of request.messages) tokens += messageTokens(message);
  return tokens;
}

/** Message objects never change, so each is counted once. */
const counted = new WeakMap<Message, number>();

function messageTokens(message: Message): number {
  const known = counted.get(message);
  if (known !== undefined) return known;
  let tokens = 0;
  for (const block of message.content) {
    if (block.type === "tool_call") tokens += textTokens(block.malformedInput ?? JSON.stringify(block.input ?? {}));
    else if (block.type === "document") tokens += textTokens(block.data);
    else if (block.type !== "image") tokens += textTokens(block.text);
  }
  counted.set(message, tokens);
  return tokens;
}
