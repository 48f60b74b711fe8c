import type { ChatMessage, ChatRequest } from "./openai-chat-schema.ts";
import type { Violation } from "./openai-errors.ts";
import { violation } from "./openai-errors.ts";
import { functionSchemaViolation } from "./openai-function-schema.ts";
import { imageData } from "./openai-responses-rules.ts";
import { effortsOf } from "./openai-responses-schema.ts";
import { isRecord, quoted } from "./openai-schema-errors.ts";

export interface ChatRuleOptions {
  readonly reasoningField?: "reasoning_content" | "reasoning";
  /** Models that require their thinking back before calls, such as DeepSeek's and Moonshot's. */
  readonly reasoningRequired?: readonly string[];
  /** Like Mistral's templates: at most one system message, first; then user and assistant alternate. */
  readonly strictTemplate?: boolean;
  /** Call ids have nine letters or digits. */
  readonly mistralIds?: boolean;
  /** The model cannot call tools. */
  readonly noTools?: boolean;
  /** False: no image input. */
  readonly images?: boolean;
  /** Like Moonshot: no assistant message without text and calls. */
  readonly refuseEmpty?: boolean;
}

/** A server's reasons to reject a request that fits the schema. */
export function chatViolations(request: ChatRequest, options: ChatRuleOptions): Violation[] {
  return [
    ...parameterViolations(request),
    ...toolViolations(request, options),
    ...request.messages.flatMap((message, index) => messageViolations(message, index, request.model, options)),
    ...orderViolations(request.messages),
    ...(options.strictTemplate === true ? templateViolations(request.messages) : []),
  ];
}

function parameterViolations(request: ChatRequest): Violation[] {
  const found: Violation[] = [];
  const { model, reasoning_effort: effort, temperature, max_tokens: maxTokens } = request;
  const efforts = effortsOf(model);
  if (request.stream !== true && (request.stream_options ?? undefined) !== undefined) {
    const words = "The 'stream_options' parameter is only allowed when 'stream' is enabled.";
    found.push(violation(words, "stream_options"));
  }
  if (efforts === undefined) {
    const isOpenAI = /^(gpt-|chatgpt-)/.test(model) && !model.startsWith("gpt-oss");
    if (!isOpenAI || (effort ?? undefined) === undefined) return found;
    return [...found, violation("Unrecognized request argument supplied: reasoning_effort", null)];
  }
  if (typeof effort === "string" && !efforts.includes(effort)) {
    const words = `'reasoning_effort' does not support '${effort}' with this model. Supported values are: ${quoted(efforts)}.`;
    found.push(violation(`Unsupported value: ${words}`, "reasoning_effort", "unsupported_value"));
  }
  if (typeof maxTokens === "number") {
    const words = "'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.";
    found.push(violation(`Unsupported parameter: ${words}`, "max_tokens", "unsupported_parameter"));
  }
  if (typeof temperature === "number" && temperature !== 1 && effort !== "none") {
    const words = `'temperature' does not support ${temperature} with this model. Only the default (1) value is supported.`;
    found.push(violation(`Unsupported value: ${words}`, "temperature", "unsupported_value"));
  }
  return found;
}

function toolViolations(request: ChatRequest, options: ChatRuleOptions): Violation[] {
  const { tools, tool_choice: choice } = request;
  if (options.noTools === true && tools !== undefined) {
    const words = `registry.ollama.ai/library/${request.model} does not support tools`;
    return [{ ...violation(words, null), type: "api_error" }];
  }
  const onlyWithTools = (name: string) =>
    violation(`Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`, name);
  const found = (tools ?? []).flatMap(({ function: { name, parameters, strict } }, index) => {
    return functionSchemaViolation(name, parameters, strict === true, `tools[${index}].function.parameters`) ?? [];
  });
  if (tools === undefined && choice !== undefined) found.push(onlyWithTools("tool_choice"));
  if (tools === undefined && request.parallel_tool_calls !== undefined)
    found.push(onlyWithTools("parallel_tool_calls"));
  return found;
}

function messageViolations(message: ChatMessage, index: number, model: string, options: ChatRuleOptions): Violation[] {
  if (message.role === "assistant") return assistantViolations(message, index, model, options);
  if (message.role === "tool") return idViolations([message.tool_call_id], options);
  if (message.role !== "user" || typeof message.content === "string") return [];
  return message.content.flatMap((part, at) => {
    const param = `messages.[${index}].content.[${at}]`;
    if (part.type === "image_url") return imageViolation(part.image_url.url, param, options) ?? [];
    if (part.type !== "file") return [];
    const { file_data: data, file_id: id, filename } = part.file;
    if (id !== undefined) return [];
    if (data !== undefined && filename !== undefined && /^data:[\w.+-]+\/[\w.+-]+;base64,./.test(data)) return [];
    const words = `Invalid '${param}.file': expected 'file_id', or 'filename' with 'file_data' as a base64 data URL.`;
    return [violation(words, `${param}.file`, "invalid_value")];
  });
}

function imageViolation(url: string, param: string, options: ChatRuleOptions): Violation | undefined {
  if (options.images === false) {
    return violation("Invalid content type. image_url is only supported by certain models.", `${param}.type`);
  }
  if (url.startsWith("https://") || imageData.test(url)) return undefined;
  const words = "You uploaded an unsupported image. Please make sure your image is one of the following formats:";
  return violation(`${words} ['png', 'jpeg', 'gif', 'webp'].`, `${param}.image_url`, "invalid_image_format");
}

type AssistantMessage = Extract<ChatMessage, { role: "assistant" }>;

function assistantViolations(
  message: AssistantMessage,
  index: number,
  model: string,
  options: ChatRuleOptions,
): Violation[] {
  const { content, tool_calls: calls = [], refusal } = message;
  const found = idViolations(
    calls.map(({ id }) => id),
    options,
  );
  if ((content ?? undefined) === undefined && calls.length === 0 && (refusal ?? undefined) === undefined) {
    const words = "Invalid value for 'content': expected a string, got null.";
    found.push(violation(words, `messages.[${index}].content`));
  }
  if (options.refuseEmpty === true && content === "" && calls.length === 0) {
    const words = `Invalid request: the message at position ${index} with role 'assistant' must not be empty`;
    found.push(violation(words, null));
  }
  for (const [at, { function: called }] of calls.entries()) {
    if (isRecord(jsonOf(called.arguments))) continue;
    const param = `messages[${index}].tool_calls[${at}].function.arguments`;
    found.push(violation(`Invalid '${param}': expected the JSON text of an object.`, param, "invalid_value"));
  }
  const field = options.reasoningField;
  if (options.reasoningRequired?.includes(model) && field !== undefined && calls.length > 0) {
    const thought = field in message ? (message as Readonly<Record<string, unknown>>)[field] : undefined;
    if (typeof thought !== "string") {
      const words = `thinking is enabled but ${field} is missing in assistant tool call message at index ${index}`;
      found.push(violation(words, null));
    }
  }
  return found;
}

function idViolations(callIds: readonly string[], options: ChatRuleOptions): Violation[] {
  if (options.mistralIds !== true) return [];
  return callIds.flatMap((id) => {
    if (/^[a-zA-Z0-9]{9}$/.test(id)) return [];
    const message = `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
    const body = { object: "error", message, type: "invalid_function_call", param: null, code: "3280" };
    return [{ ...violation(message, null, "3280"), body }];
  });
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Every call is answered right after its message, and nothing else is. */
function orderViolations(messages: readonly ChatMessage[]): Violation[] {
  const found: Violation[] = [];
  let called: readonly string[] | undefined;
  let open = new Set<string>();
  const close = (index: number) => {
    if (open.size === 0) return;
    const words = "An assistant message with 'tool_calls' must be followed by tool messages responding to each";
    const ids = `The following tool_call_ids did not have response messages: ${[...open].join(", ")}`;
    found.push(violation(`${words} 'tool_call_id'. ${ids}`, `messages.[${index}].role`));
  };
  for (const [index, message] of messages.entries()) {
    if (message.role === "tool") {
      const words = toolMessageFault(message.tool_call_id, called, open);
      if (words !== undefined) found.push(violation(words, `messages.[${index}].${called ? "tool_call_id" : "role"}`));
      open.delete(message.tool_call_id);
      continue;
    }
    close(index);
    const ids = message.role === "assistant" ? message.tool_calls?.map(({ id }) => id) : undefined;
    called = ids;
    open = new Set(ids);
  }
  close(messages.length);
  return found;
}

function toolMessageFault(id: string, called: readonly string[] | undefined, open: ReadonlySet<string>) {
  if (called === undefined) {
    return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
  }
  if (!called.includes(id)) {
    return `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`;
  }
  return open.has(id) ? undefined : `Duplicate value for 'tool_call_id' of '${id}'.`;
}

function templateViolations(messages: readonly ChatMessage[]): Violation[] {
  const refused = (message: string): Violation => ({
    ...violation(message, null),
    body: { error: { message, type: "BadRequestError", param: null, code: 400 } },
  });
  const found: Violation[] = [];
  const rest = messages.slice(isSystem(messages[0]) ? 1 : 0);
  if (rest.some((message) => isSystem(message))) {
    found.push(
      refused("Only user and assistant roles are supported, with the exception of an initial system message."),
    );
  }
  const spoken = rest.filter((message) => {
    return message.role === "user" || (message.role === "assistant" && message.tool_calls === undefined);
  });
  if (spoken.some(({ role }, index) => role !== (index % 2 === 0 ? "user" : "assistant"))) {
    const words =
      "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...";
    found.push(refused(words));
  }
  if (messages.at(-1)?.role === "assistant") {
    found.push(
      refused("Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant"),
    );
  }
  return found;
}

function isSystem(message: ChatMessage | undefined): boolean {
  return message?.role === "system" || message?.role === "developer";
}
