import type {
  AssistantMessage,
  DocumentBlock,
  ImageBlock,
  Message,
  PromptBlock,
  Proof,
  ReminderBlock,
  ReplyBlock,
  ToolCallBlock,
  ToolMessage,
  ToolResultBlock,
} from "../../engine/message.ts";
import { callsOf, modelText } from "../../engine/message.ts";
import type { ModelRequest } from "../../engine/ports.ts";
import { isRecord } from "../../text/values.ts";
import type { ModelSpec, Wire } from "../providers/model-spec.ts";
import type { AssistantPart, Prompt, PromptMessage, ToolPart, UserPart } from "./ai-sdk-types.ts";
import { callIdFor } from "./call-ids-of-wires.ts";
import { quoteReminders, reminderText } from "./reminders.ts";

/** Each wire's key for proofs in the log. */
export const proofNames: Readonly<Record<Wire, string>> = {
  anthropic: "anthropic",
  "openai-responses": "openai",
  "openai-chat": "chat",
  google: "google",
};

const takenImages = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/**
 * A conversation in the SDK's format. Deterministic, so that providers can cache its start. Always well-formed, even after an
 * interrupted turn: each call has its result, no text is empty, and user messages are merged.
 */
export function promptOf(request: ModelRequest, spec: ModelSpec): Prompt {
  const messages: PromptMessage[] = [];
  const ids = callIds(spec);
  for (const message of paired(request.messages)) {
    if (message.role === "assistant") {
      const content = assistantParts(message, spec, ids.ofReply(message));
      if (content.length > 0) messages.push({ role: "assistant", content, ...thoughtsBeside(message, spec) });
    } else if (message.role === "tool") {
      messages.push({
        role: "tool",
        content: message.content.map((result) => resultPart(result, request.mark, spec, ids.ofResult)),
      });
      // Chat completions allow only text in results, so images follow as a user message.
      const media = spec.wire === "openai-chat" ? message.content.flatMap((result) => shownMedia(result, spec)) : [];
      if (media.length > 0) addUser(messages, media);
    } else {
      const content = message.content.flatMap((block) => userParts(block, request.mark, spec));
      if (content.length > 0) addUser(messages, content);
    }
  }
  const system: PromptMessage = { role: "system", content: sound(request.system) };
  return spec.wire === "anthropic" ? withCacheMarks([system, ...messages]) : [system, ...messages];
}

function addUser(messages: PromptMessage[], content: readonly UserPart[]): void {
  const last = messages.at(-1);
  if (last?.role === "user") messages[messages.length - 1] = { ...last, content: [...last.content, ...content] };
  else messages.push({ role: "user", content: [...content] });
}

/** Repairs a damaged log: adds missing results, and drops results without a call. */
function paired(messages: readonly Message[]): readonly Message[] {
  return messages.flatMap((message, index): readonly Message[] => {
    if (message.role === "tool") return [];
    const calls = message.role === "assistant" ? callsOf(message) : [];
    if (calls.length === 0) return [message];
    const next = messages[index + 1];
    return [message, answering(calls, next?.role === "tool" ? next : undefined)];
  });
}

function answering(calls: readonly ToolCallBlock[], given?: ToolMessage): ToolMessage {
  const text = "Error: The result of this call was lost.";
  const content = calls.map((call): ToolResultBlock => {
    const { id } = call;
    const name = nameSent(call);
    const result = given?.content.find((block) => block.callId === id);
    return result === undefined
      ? { type: "tool_result", callId: id, name, status: "interrupted", text }
      : { ...result, name };
  });
  return { id: given?.id ?? "", role: "tool", createdAt: given?.createdAt ?? 0, content };
}

type IdOf = (id: string) => string;

/** Some servers restart their call ids in each reply, but providers require unique ids in a conversation. */
function callIds(spec: ModelSpec): { ofReply(message: AssistantMessage): IdOf; ofResult: IdOf } {
  const used = new Set<string>();
  /** The next suffix to try for each given id. */
  const numbers = new Map<string, number>();
  let last = new Map<string, string>();
  const ofResult: IdOf = (id) => last.get(id) ?? callIdFor(spec, id);
  return {
    ofReply(message) {
      last = new Map();
      for (const { id } of callsOf(message)) {
        let own = callIdFor(spec, id);
        let number = numbers.get(id) ?? 2;
        for (; used.has(own); number += 1) own = callIdFor(spec, `${id}#${number}`);
        numbers.set(id, number);
        used.add(own);
        last.set(id, own);
      }
      return ofResult;
    },
    ofResult,
  };
}

/* --------------------------------------------------------------------- user */

function userParts(block: ReminderBlock | PromptBlock, mark: string, spec: ModelSpec): readonly UserPart[] {
  switch (block.type) {
    case "reminder":
      return textParts(reminderText(block.text, mark));
    case "text":
      return textParts(quoteReminders(block.text));
    case "image":
      return imageParts(block, spec);
    case "document":
      return documentParts(block, spec);
  }
}

function textParts(text: string): readonly { type: "text"; text: string }[] {
  return text.trim() === "" ? [] : [{ type: "text", text: sound(text) }];
}

function imageParts(image: ImageBlock, spec: ModelSpec): readonly UserPart[] {
  if (!isShown(image, spec)) return textParts(imageLeftOut(image, spec));
  return [{ type: "file", mediaType: image.mediaType, data: image.data }];
}

function isShown(image: ImageBlock, spec: ModelSpec): boolean {
  return spec.info.images && takenImages.has(image.mediaType) && !isTooLarge(image, spec);
}

function isTooLarge({ data }: ImageBlock, { maxImageLength }: ModelSpec): boolean {
  return maxImageLength !== undefined && data.length > maxImageLength;
}

function imageLeftOut(image: ImageBlock, spec: ModelSpec): string {
  const sizes = `it has ${image.data.length} bytes as base64; this model's limit is ${spec.maxImageLength}`;
  const why = isTooLarge(image, spec) ? sizes : "this model cannot see it";
  return `[An image (${image.mediaType}) was left out: ${why}.]`;
}

function documentParts(document: DocumentBlock, spec: ModelSpec): readonly UserPart[] {
  const { name, mediaType, data } = document;
  const title = name === undefined ? "" : ` name=${JSON.stringify(name)}`;
  if (document.encoding === "text") return textParts(quoteReminders(`<document${title}>\n${data}\n</document>`));
  if (mediaType === "application/pdf" && spec.info.documents === true) {
    return [{ type: "file", mediaType, data, filename: name ?? "document.pdf" }];
  }
  if (mediaType.startsWith("text/")) {
    const text = Buffer.from(data, "base64").toString("utf8");
    return textParts(quoteReminders(`<document${title}>\n${text}\n</document>`));
  }
  return textParts(`[The document${title} (${mediaType}) was left out: this model cannot read it.]`);
}

/** Counts the blocks that this model doesn't support. */
export function countLeftOut(request: ModelRequest, spec: ModelSpec): number {
  let count = 0;
  for (const message of request.messages) {
    for (const block of message.content) {
      if (block.type === "image" && !isShown(block, spec)) count += 1;
      if (block.type === "tool_result") count += block.media?.filter((image) => !isShown(image, spec)).length ?? 0;
      if (block.type === "document" && block.encoding === "base64" && !block.mediaType.startsWith("text/")) {
        if (block.mediaType !== "application/pdf" || spec.info.documents !== true) count += 1;
      }
    }
  }
  return count;
}

/* ---------------------------------------------------------------- assistant */

function assistantParts(message: AssistantMessage, spec: ModelSpec, idOf: IdOf): AssistantPart[] {
  const parts: AssistantPart[] = [];
  for (const [index, block] of message.content.entries()) {
    // A proof is valid only for its own model. Providers reject thinking as a message's last block.
    const isOwn =
      message.model === spec.info.id && index < message.content.length - (block.type === "thinking" ? 1 : 0);
    parts.push(...replyParts(block, isOwn ? block.proof : undefined, spec, idOf));
  }
  return parts;
}

function replyParts(
  block: ReplyBlock,
  proof: Proof | undefined,
  spec: ModelSpec,
  idOf: IdOf,
): readonly AssistantPart[] {
  const own = proof?.[proofNames[spec.wire]];
  switch (block.type) {
    case "text":
      return textParts(block.text).map((part) => ({ ...part, ...providerOptions(own, spec) }));
    case "thinking":
      if (own === undefined || spec.wire === "openai-chat") return [];
      return [{ type: "reasoning", text: sound(block.text), ...providerOptions(own, spec) }];
    case "tool_call": {
      const id = idOf(block.id);
      const options = providerOptions(own, spec);
      return [
        {
          type: "tool-call",
          toolCallId: id,
          toolName: nameSent(block),
          input: objectOf((block.raw ?? block).input),
          ...options,
        },
      ];
    }
  }
}

/** Chat completions servers take thinking as a message field, whose name varies. */
function thoughtsBeside(message: AssistantMessage, spec: ModelSpec): Pick<PromptMessage, "providerOptions"> {
  const field = spec.thinkingField;
  if (spec.wire !== "openai-chat" || field === undefined || message.model !== spec.info.id) return {};
  const thoughts = message.content.filter((block) => block.type === "thinking");
  const own = thoughts.map(({ proof }) => proof?.[proofNames[spec.wire]]).filter((part) => part !== undefined);
  if (own.length === 0) return {};
  const text = thoughts.map((block) => sound(block.text)).join("");
  const details = own.findLast(({ reasoning_details }) => reasoning_details !== undefined);
  const fields = { ...(text === "" ? {} : { [field]: text }), ...details };
  return { providerOptions: { openaiCompatible: fields } as NonNullable<PromptMessage["providerOptions"]> };
}

function providerOptions(own: Proof[string] | undefined, spec: ModelSpec): Pick<AssistantPart, "providerOptions"> {
  if (own === undefined) return {};
  // Compatible servers also carry Gemini's proofs, and the SDK reads them from the key "google".
  const name = spec.wire === "openai-chat" ? "google" : proofNames[spec.wire];
  return { providerOptions: { [name]: own } as NonNullable<AssistantPart["providerOptions"]> };
}

/** As the model wrote it, unless no provider takes such a name. */
function nameSent({ name, raw }: ToolCallBlock): string {
  return raw !== undefined && /^[\w-]{1,64}$/.test(raw.name) ? raw.name : name;
}

/** Providers accept only objects. The result tells the model what was wrong with other arguments. */
function objectOf(input: unknown): unknown {
  return isRecord(input) ? wellFormed(input) : {};
}

function wellFormed(value: unknown): unknown {
  if (typeof value === "string") return quoteReminders(sound(value));
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [sound(key), wellFormed(part)]));
}

/* ------------------------------------------------------------------ results */

function resultPart(result: ToolResultBlock, mark: string, spec: ModelSpec, idOf: IdOf): ToolPart {
  const media = spec.wire === "openai-chat" ? [] : (result.media ?? []);
  const said = quoteReminders(modelText(result));
  const reminders = (result.reminders ?? []).map((text) => `\n\n${reminderText(text, mark)}`);
  const text = sound([said.trim() === "" ? "(no output)" : said, ...reminders].join(""));
  const part = { type: "tool-result", toolCallId: idOf(result.callId), toolName: result.name } as const;
  if (media.length === 0) {
    return { ...part, output: { type: result.status === "ok" ? "text" : "error-text", value: text } };
  }
  const value = media.map((image) =>
    isShown(image, spec)
      ? ({ type: "image-data", data: image.data, mediaType: image.mediaType } as const)
      : ({ type: "text", text: imageLeftOut(image, spec) } as const),
  );
  return { ...part, output: { type: "content", value: [{ type: "text", text }, ...value] } };
}

function shownMedia(result: ToolResultBlock, spec: ModelSpec): readonly UserPart[] {
  return (result.media ?? []).flatMap((image) => imageParts(image, spec));
}

/* -------------------------------------------------------------------- marks */

const cacheMark = { anthropic: { cacheControl: { type: "ephemeral" } } } as const;

/** Caches the prompt up to the instructions, the last request, and the request before it. */
function withCacheMarks(prompt: Prompt): Prompt {
  const asked = prompt.flatMap((message, index) => (message.role === "user" || message.role === "tool" ? [index] : []));
  const marked = new Set([0, ...asked.slice(-2)]);
  return prompt.map((message, index) => (marked.has(index) ? { ...message, providerOptions: cacheMark } : message));
}

/** Replaces lone surrogates, which every provider rejects. */
function sound(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}
