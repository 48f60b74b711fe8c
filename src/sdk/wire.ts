import { type Fields, fieldsOf, isRecord, listOf, numberOf, textOf, textsOf } from "../text/values.ts";
import type { Block, Message, ModelInfo, TokenUsage, ToolInfo, TurnEvent } from "./types.ts";

/** Reads what a backend sent without trusting it: missing or malformed fields get a default, and nothing here throws. */

/** The id of a backend's request. 7 and "7" are different. */
export type RequestId = string | number;

export function requestIdOf(value: unknown): RequestId | undefined {
  return textOf(value) ?? (typeof value === "number" ? value : undefined);
}

/** Drops keys without a value, because these types distinguish absent from undefined. All keys must be named. */
export function given<T extends object>(fields: { readonly [K in keyof T]-?: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

export function usageOf(value: unknown): TokenUsage | undefined {
  if (!isRecord(value)) return undefined;
  return {
    inputTokens: numberOf(value.inputTokens) ?? 0,
    outputTokens: numberOf(value.outputTokens) ?? 0,
    cacheCreationTokens: numberOf(value.cacheCreationTokens) ?? 0,
    cacheReadTokens: numberOf(value.cacheReadTokens) ?? 0,
    thinkingTokens: numberOf(value.thinkingTokens) ?? 0,
  };
}

export function noticeOf({ level, message }: Fields): (TurnEvent & { type: "notice" }) | undefined {
  if (typeof message !== "string") return undefined;
  return { type: "notice", level: level === "info" ? "info" : "warning", message };
}

export interface CallGiven {
  readonly id: string;
  readonly name: string;
  readonly input: Fields;
}

export function callOf(value: unknown): CallGiven | undefined {
  const { id, name, input } = fieldsOf(value);
  return typeof id === "string" && typeof name === "string" ? { id, name, input: fieldsOf(input) } : undefined;
}

type ToolContent = Extract<Block, { type: "tool_result" }>["content"];

/** Undefined if the value is nested too deeply. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Undefined if the value is nested too deeply. */
export function toolContentOf(value: unknown): ToolContent | undefined {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (!Array.isArray(value)) return jsonOf(value);
  // Nested results are skipped, however deep.
  const shown = value.filter((each) => ["text", "image"].includes(textOf(fieldsOf(each).type) ?? ""));
  return shown.map(blockOf).filter((block) => block.type === "text" || block.type === "image");
}

export function textOfContent(content: ToolContent): string {
  return typeof content === "string" ? content : textOfBlocks(content);
}

export function textOfBlocks(blocks: readonly Block[]): string {
  return blocks.map((block) => (block.type === "text" ? block.text : "")).join("");
}

const roles = ["user", "assistant", "tool", "system"] as const;

export function messageOf(value: unknown): Message | undefined {
  const { id, role, content, createdAt, parentId, visibility } = fieldsOf(value);
  const known = roles.find((each) => each === role);
  if (typeof id !== "string" || known === undefined) return undefined;
  const blocks =
    typeof content === "string" ? [{ type: "text", text: content } as const] : listOf(content).map(blockOf);
  return given<Message>({
    id,
    role: known,
    content: blocks,
    createdAt: numberOf(createdAt),
    parentId: textOf(parentId),
    visibility: textOf(visibility),
  });
}

function blockOf(value: unknown): Block {
  const block = fieldsOf(value);
  const type = textOf(block.type) ?? "";
  const read = Object.hasOwn(blockReaders, type) ? blockReaders[type] : undefined;
  return read?.(block) ?? { type: "other", given: value };
}

/** Each returns undefined if a required field is missing. */
const blockReaders: Readonly<Record<string, (block: Fields) => Block | undefined>> = {
  text: ({ text }) => (typeof text === "string" ? { type: "text", text } : undefined),
  image: (block) => (hasSource(block) ? (block as unknown as Block) : undefined),
  document: (block) => (hasSource(block) ? (block as unknown as Block) : undefined),
  thinking: ({ thinking, signature }) =>
    typeof thinking === "string" ? { type: "thinking", thinking, signature: textOf(signature) ?? "" } : undefined,
  redacted_thinking: ({ data }) => (typeof data === "string" ? { type: "redacted_thinking", data } : undefined),
  tool_use: (block) => {
    const call = callOf(block);
    return call && { type: "tool_use", ...call };
  },
  tool_result: (block) => {
    const toolUseId = textOf(block.toolUseId) ?? textOf(block.tool_use_id);
    const content = toolContentOf(block.content);
    if (toolUseId === undefined || content === undefined) return undefined;
    const isError = (block.isError ?? block.is_error) === true;
    return { type: "tool_result", toolUseId, content, isError };
  },
};

function hasSource({ source }: Fields): boolean {
  const { type, mediaType, data } = fieldsOf(source);
  return [type, mediaType, data].every((field) => typeof field === "string");
}

export function modelsOf(value: unknown): readonly ModelInfo[] {
  return listOf(value).flatMap((each) => {
    const model = fieldsOf(each);
    const id = textOf(model.id) ?? textOf(model.modelId);
    if (id === undefined) return [];
    return given<ModelInfo>({
      id,
      displayName: textOf(model.displayName) ?? id,
      provider: textOf(model.modelProvider),
      reasoningEfforts: textsOf(model.supportedReasoningEfforts),
      defaultReasoningEffort: textOf(model.defaultReasoningEffort),
      isCustom: model.isCustom === true,
      disabled: model.disabled === true,
      disabledReason: textOf(model.disabledReason),
    });
  });
}

export function toolsOf(value: unknown): readonly ToolInfo[] {
  return listOf(value).flatMap((each) => {
    const tool = fieldsOf(each);
    const id = textOf(tool.id);
    if (id === undefined) return [];
    return given<ToolInfo>({
      id,
      name: textOf(tool.llmId) ?? id,
      description: textOf(tool.description) ?? "",
      category: textOf(tool.category),
      isAllowed: tool.currentlyAllowed === true,
    });
  });
}
