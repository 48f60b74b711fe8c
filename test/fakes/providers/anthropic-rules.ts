import type { ModelRules } from "./anthropic-models.ts";
import { modelFaults } from "./anthropic-models.ts";
import type { Block, MessagesRequest, RequestMessage } from "./anthropic-schema.ts";
import type { Seal } from "./seal.ts";

/** Consecutive messages of one role, joined like the service does. `at`: index of the first one. */
interface Group {
  readonly role: RequestMessage["role"];
  readonly at: number;
  readonly blocks: readonly { readonly block: Block; readonly path: string }[];
}

/**
 * Violations of the service's rules by a request that fits the schema, in the service's words where known, worst first.
 */
export function brokenRules(request: MessagesRequest, rules: ModelRules, seal: Seal): string[] {
  const groups = groupsOf(request.messages);
  return [
    ...modelFaults(request, rules),
    ...toolFaults(request),
    ...roleFaults(request),
    ...textFaults(request),
    ...pairFaults(groups),
    ...thinkingFaults(request, groups, seal),
    ...cacheFaults(request),
    ...mediaFaults(request),
  ];
}

function blocksOf(content: RequestMessage["content"]): readonly Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function groupsOf(messages: readonly RequestMessage[]): Group[] {
  const groups: { role: Group["role"]; at: number; blocks: { block: Block; path: string }[] }[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    const blocks = blocksOf(content).map((block, index) => ({ block, path: `messages.${at}.content.${index}` }));
    const last = groups.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else groups.push({ role, at, blocks });
  }
  return groups;
}

function toolFaults({ tools = [], tool_choice, messages }: MessagesRequest): string[] {
  const faults: string[] = [];
  const names = tools.map((tool) => tool.name);
  if (new Set(names).size < names.length) faults.push("tools: Tool names must be unique.");
  for (const [index, { input_schema }] of tools.entries()) {
    const at = `tools.${index}.custom.input_schema`;
    if ("oneOf" in input_schema || "allOf" in input_schema || "anyOf" in input_schema) {
      faults.push(`${at}: input_schema does not support oneOf, allOf, or anyOf at the top level`);
    }
    if (Object.keys(input_schema.properties ?? {}).some((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))) {
      faults.push(`${at}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'`);
    }
  }
  if (tool_choice !== undefined && tools.length === 0) {
    faults.push("tool_choice: tool_choice may only be specified while providing tools");
  } else if (tool_choice?.type === "tool" && !names.includes(tool_choice.name)) {
    faults.push(`Tool '${tool_choice.name}' not found in provided tools`);
  }
  const used = messages.some(({ content }) => blocksOf(content).some(({ type }) => type.startsWith("tool_")));
  if (used && tools.length === 0) {
    faults.push("Requests which include `tool_use` or `tool_result` blocks must define tools");
  }
  return faults;
}

const onlyIn: Readonly<Record<string, "user" | "assistant">> = {
  tool_use: "assistant",
  thinking: "assistant",
  redacted_thinking: "assistant",
  tool_result: "user",
  image: "user",
  document: "user",
};

function roleFaults({ messages }: MessagesRequest): string[] {
  const faults: string[] = [];
  if (messages[0]?.role !== "user") faults.push('messages: first message must use the "user" role');
  for (const [at, { role, content }] of messages.entries()) {
    const isPrefill = at === messages.length - 1 && role === "assistant";
    if (content.length === 0 && !isPrefill) {
      faults.push(
        `messages.${at}: all messages must have non-empty content except for the optional final assistant message`,
      );
    }
    for (const { type } of blocksOf(content)) {
      const allowed = onlyIn[type];
      if (allowed !== undefined && allowed !== role) {
        faults.push(`messages.${at}: \`${type}\` blocks can only be in \`${allowed}\` messages`);
      }
    }
  }
  return faults;
}

function textFaults({ system, messages, stop_sequences = [] }: MessagesRequest): string[] {
  const faults: string[] = [];
  const check = (where: string, text: string) => {
    if (text === "") faults.push(`${where}: text content blocks must be non-empty`);
    else if (text.trim() === "") faults.push(`${where}: text content blocks must contain non-whitespace text`);
  };
  if (typeof system === "object") for (const { text } of system) check("system", text);
  for (const { content } of messages) {
    if (content === "") continue;
    for (const block of blocksOf(content)) {
      if (block.type === "text") check("messages", block.text);
      if (block.type === "tool_result" && typeof block.content === "object") {
        for (const inner of block.content) if (inner.type === "text") check("messages", inner.text);
      }
    }
  }
  const last = messages.at(-1);
  const final = last?.role === "assistant" ? blocksOf(last.content).at(-1) : undefined;
  if (final?.type === "text" && final.text !== final.text.trimEnd()) {
    faults.push("messages: final assistant content cannot end with trailing whitespace");
  }
  if (stop_sequences.some((sequence) => sequence.trim() === "")) {
    faults.push("stop_sequences: each stop sequence must contain non-whitespace");
  }
  return faults;
}

function pairFaults(groups: readonly Group[]): string[] {
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const [index, { role, at, blocks }] of groups.entries()) {
    const calls = blocks.flatMap(({ block }) => (block.type === "tool_use" ? [block.id] : []));
    if (calls.some((id) => seen.has(id)) || new Set(calls).size < calls.length) {
      faults.push(`messages.${at}: \`tool_use\` ids must be unique`);
    }
    for (const id of calls) seen.add(id);
    const next = groups[index + 1];
    const answered = next?.role === "user" ? leadingResults(next) : [];
    const open = calls.filter((id) => !answered.includes(id));
    if (role === "assistant" && open.length > 0) {
      faults.push(
        `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
      );
    }
    const before = groups[index - 1];
    const expected = before?.blocks.flatMap(({ block }) => (block.type === "tool_use" ? [block.id] : [])) ?? [];
    const results = new Set<string>();
    for (const { block, path } of blocks) {
      if (block.type !== "tool_result") continue;
      const id = block.tool_use_id;
      if (!expected.includes(id)) {
        faults.push(
          `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        );
      } else if (results.has(id)) {
        faults.push(
          `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        );
      }
      results.add(id);
      if (block.is_error && typeof block.content === "object" && block.content.some(({ type }) => type !== "text")) {
        faults.push(`${path}.tool_result: all content must be type "text" if "is_error" is true`);
      }
    }
  }
  return faults;
}

/** Results count only before the user's other content. */
function leadingResults({ blocks }: Group): string[] {
  const ids: string[] = [];
  for (const { block } of blocks) {
    if (block.type !== "tool_result") break;
    ids.push(block.tool_use_id);
  }
  return ids;
}

function thinkingFaults({ thinking }: MessagesRequest, groups: readonly Group[], seal: Seal): string[] {
  const faults: string[] = [];
  const replies = groups.filter(({ role }) => role === "assistant");
  for (const { at, blocks } of replies) {
    for (const { block, path } of blocks) {
      if (block.type === "thinking" && !seal.holds(block.signature, block.thinking)) {
        faults.push(`${path}: Invalid \`signature\` in \`thinking\` block`);
      }
      if (block.type === "redacted_thinking" && !seal.holds(block.data, "redacted")) {
        faults.push(`${path}: Invalid \`data\` in \`redacted_thinking\` block`);
      }
    }
    const final = blocks.at(-1)?.block.type;
    if (final === "thinking" || final === "redacted_thinking") {
      faults.push(`messages.${at}: The final block in an assistant message cannot be \`thinking\`.`);
    }
  }
  // A loop of calls and results is one turn: it starts after the user's last text without results.
  const isResult = ({ block }: Group["blocks"][number]): boolean => block.type === "tool_result";
  const start = groups.findLastIndex(({ role, blocks }) => role === "user" && !blocks.some(isResult));
  const turn = groups.slice(start + 1).find(({ role }) => role === "assistant");
  const first = turn?.blocks[0];
  const callsTools = turn?.blocks.some(({ block }) => block.type === "tool_use") ?? false;
  const begins = first?.block.type === "thinking" || first?.block.type === "redacted_thinking";
  if (thinking?.type === "enabled" && callsTools && !begins && first !== undefined) {
    faults.push(
      `${first.path}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.block.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`,
    );
  }
  return faults;
}

function cacheFaults(request: MessagesRequest): string[] {
  const { tools = [], system, messages, cache_control } = request;
  const marked: { cache_control?: { ttl?: string | undefined } | null | undefined; text?: string }[] = [
    ...tools.map(({ cache_control: mark }) => ({ cache_control: mark })),
    ...(typeof system === "object" ? system : []),
  ];
  for (const { content } of messages) {
    for (const block of blocksOf(content)) {
      if (block.type === "tool_result" && typeof block.content === "object") marked.push(...block.content);
      if (block.type !== "thinking" && block.type !== "redacted_thinking") marked.push(block);
    }
  }
  marked.push({ cache_control });
  const faults: string[] = [];
  const marks = marked.flatMap(({ cache_control: mark }) => (mark ? [mark.ttl ?? "5m"] : []));
  if (marks.length > 4) {
    faults.push(`A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`);
  }
  if (marked.some(({ cache_control: mark, text }) => mark && text === "")) {
    faults.push("cache_control cannot be set for empty text blocks");
  }
  if (marks.lastIndexOf("1h") > marks.indexOf("5m") && marks.includes("5m")) {
    faults.push("a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.");
  }
  return faults;
}

const imageBytes = 5 * 1024 * 1024;

function mediaFaults({ messages }: MessagesRequest): string[] {
  const faults: string[] = [];
  const check = (block: { type: string; source?: unknown }, path: string) => {
    const source = block.source as { type: string; data?: string; media_type?: string } | undefined;
    if (source?.type !== "base64" || source.data === undefined) return;
    const at = `${path}.${block.type}.source.base64`;
    const head = Buffer.from(source.data.slice(0, 32), "base64");
    if (block.type === "document") {
      if (!head.toString("latin1").startsWith("%PDF-")) faults.push(`${at}.data: The PDF specified was not valid.`);
      return;
    }
    if (source.data.length > imageBytes) {
      faults.push(`${at}: image exceeds 5 MB maximum: ${source.data.length} bytes > ${imageBytes} bytes`);
    }
    const found = kindOfImage(head);
    if (found === undefined) faults.push(`${at}: Could not process image`);
    else if (found !== source.media_type) {
      faults.push(
        `${at}.data: Image does not match the provided media type ${source.media_type}: it appears to be ${found}`,
      );
    }
  };
  for (const [at, { content }] of messages.entries()) {
    for (const [index, block] of blocksOf(content).entries()) {
      const path = `messages.${at}.content.${index}`;
      check(block, path);
      if (block.type !== "tool_result" || typeof block.content !== "object") continue;
      for (const [inner, part] of block.content.entries()) check(part, `${path}.tool_result.content.${inner}`);
    }
  }
  return faults;
}

function kindOfImage(head: Buffer): string | undefined {
  const text = head.toString("latin1");
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png";
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg";
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif";
  if (text.startsWith("RIFF") && text.slice(8, 12) === "WEBP") return "image/webp";
  return undefined;
}
