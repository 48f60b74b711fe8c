import type {
  DocumentBlock,
  ImageBlock,
  Message,
  PromptBlock,
  Proof,
  ReminderBlock,
  ReplyBlock,
  ToolCallBlock,
  ToolResultBlock,
  Usage,
} from "../../../engine/message.ts";
import type { TokenUsage, ToolContent, ToolUseBlock, WireBlock, WireMessage } from "../../../protocol/droid/content.ts";
import { imageTypes } from "../../../protocol/droid/words.ts";
import { objectInput } from "./tool-input.ts";

/** The whole conversation, for a client that loads the session. */
export function wireHistory(messages: readonly Message[]): WireMessage[] {
  return messages.map((message, index) => wireMessage(message, messages[index - 1]?.id));
}

/** `parentId` is the message before it, if there is one. */
export function wireMessage(message: Message, parentId: string | undefined): WireMessage {
  const { id, role, createdAt } = message;
  return { id, role, content: blocksOf(message), createdAt, updatedAt: createdAt, parentId: parentId ?? "root" };
}

function blocksOf(message: Message): WireBlock[] {
  if (message.role === "user") return message.content.map(userBlock);
  // Block by block, so that blocks keep the index of their deltas.
  if (message.role === "assistant") return message.content.map(replyBlock);
  return message.content.map((result) => ({
    type: "tool_result",
    toolUseId: result.callId,
    content: resultContent(result),
    isError: isError(result),
  }));
}

function replyBlock(block: ReplyBlock): WireBlock {
  if (block.type === "text") return { type: "text", text: block.text };
  if (block.type === "tool_call") return toolUse(block);
  const redacted = block.proof?.anthropic?.redactedData;
  if (block.text === "" && typeof redacted === "string") return { type: "redacted_thinking", data: redacted };
  return { type: "thinking", thinking: block.text, signature: signatureOf(block.proof) };
}

const signatureNames = ["signature", "thoughtSignature", "reasoningEncryptedContent"] as const;

/** The text by which a provider recognises its thoughts; empty if there is none. */
function signatureOf(proof: Proof | undefined): string {
  for (const own of Object.values(proof ?? {})) {
    for (const name of signatureNames) {
      const value = own[name];
      if (typeof value === "string") return value;
    }
  }
  return "";
}

export function toolUse({ id, name, input }: Pick<ToolCallBlock, "id" | "name" | "input">): ToolUseBlock {
  return { type: "tool_use", id, name, input: objectInput(input) };
}

function userBlock(block: ReminderBlock | PromptBlock): WireBlock {
  switch (block.type) {
    case "reminder":
      return { type: "text", text: `<system-reminder>\n${block.text}\n</system-reminder>` };
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return imageBlock(block);
    case "document":
      return documentBlock(block);
  }
}

function imageBlock({ mediaType: given, data }: ImageBlock) {
  const mediaType = imageTypes.find((type) => type === given);
  if (mediaType === undefined)
    return { type: "text", text: `[An image (${given}) that cannot be shown here.]` } as const;
  return { type: "image", source: { type: "base64", mediaType, data } } as const;
}

/** Clients know PDF and plain text. Other documents are only named. */
function documentBlock({ mediaType, encoding, data, name }: DocumentBlock): WireBlock {
  const named = name === undefined ? {} : { name };
  if (encoding === "text") {
    return { type: "document", source: { type: "text", mediaType: "text/plain", data, ...named } };
  }
  if (mediaType === "application/pdf") {
    return { type: "document", source: { type: "base64", mediaType: "application/pdf", data, ...named } };
  }
  return { type: "text", text: `[The document ${name ?? ""} (${mediaType}) cannot be shown here.]` };
}

export function resultContent({ text, media }: ToolResultBlock): ToolContent {
  if (media === undefined || media.length === 0) return text;
  return [{ type: "text", text } as const, ...media.map(imageBlock)];
}

export function isError({ status }: ToolResultBlock): boolean {
  return status !== "ok";
}

export function wireUsage(usage: Usage): TokenUsage {
  return {
    inputTokens: usage.input,
    outputTokens: usage.output,
    cacheCreationTokens: usage.cacheWrite,
    cacheReadTokens: usage.cacheRead,
    thinkingTokens: usage.thinking,
  };
}
