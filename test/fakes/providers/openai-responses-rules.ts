import type { Violation } from "./openai-errors.ts";
import { violation } from "./openai-errors.ts";
import { functionSchemaViolation } from "./openai-function-schema.ts";
import type { InputContent, InputItem, ResponsesRequest } from "./openai-responses-schema.ts";
import { effortsOf } from "./openai-responses-schema.ts";
import { isRecord, quoted } from "./openai-schema-errors.ts";
import type { Follower, ThoughtBox } from "./openai-thoughts.ts";

/** The server's memory of its answers. */
export interface Issued {
  readonly box: ThoughtBox;
  /** Items of stored answers, by id. */
  readonly stored: Map<string, StoredItem>;
  /** All items of a stored conversation, by the id of its last answer. */
  readonly responses: Map<string, readonly InputItem[]>;
}

export interface StoredItem {
  readonly item: InputItem;
  /** The reasoning right before it. */
  readonly reasoningId: string | undefined;
  /** The item right after a reasoning item. */
  readonly follower: Follower | undefined;
}

/** The service's reasons to reject a request that fits the schema. */
export function responsesViolations(request: ResponsesRequest, issued: Issued): Violation[] {
  const given = typeof request.input === "string" ? [] : (request.input ?? []);
  return [
    ...modelViolations(request),
    ...toolViolations(request),
    ...inputViolations(request, issued),
    ...given.flatMap((item, index) => itemViolations(item, `input[${index}]`)),
    ...reasoningViolations(given, request, issued),
    ...callViolations([...earlierItems(request, issued), ...given.map((item) => resolved(item, issued))]),
  ];
}

/** The item behind a reference. */
function resolved(item: InputItem, issued: Issued): InputItem {
  if (kindOf(item) !== "item_reference" || !("id" in item) || typeof item.id !== "string") return item;
  return issued.stored.get(item.id)?.item ?? item;
}

function modelViolations(request: ResponsesRequest): Violation[] {
  const { model, reasoning, temperature, top_p: topP, include } = request;
  const efforts = effortsOf(model);
  const effort = reasoning?.effort ?? undefined;
  const unsupported = (name: string) =>
    violation(`Unsupported parameter: '${name}' is not supported with this model.`, name, "unsupported_parameter");
  const found: Violation[] = [];
  if (efforts === undefined) {
    if (effort !== undefined) found.push(unsupported("reasoning.effort"));
    if ((reasoning?.summary ?? undefined) !== undefined) found.push(unsupported("reasoning.summary"));
    if (include?.includes("reasoning.encrypted_content")) {
      found.push(violation("Encrypted content is not supported with this model.", "include"));
    }
    return found;
  }
  if (effort !== undefined && !efforts.includes(effort)) {
    const words = `'${effort}' is not supported with the '${model}' model. Supported values are: ${quoted(efforts)}.`;
    found.push(violation(`Unsupported value: ${words}`, "reasoning.effort", "unsupported_value"));
  }
  if (effort === "none") return found;
  if (typeof temperature === "number") found.push({ ...unsupported("temperature"), code: null });
  if (typeof topP === "number") found.push({ ...unsupported("top_p"), code: null });
  return found;
}

function toolViolations({ tools = [], tool_choice: choice }: ResponsesRequest): Violation[] {
  const found = tools.flatMap(({ name, parameters, strict }, index) => {
    return functionSchemaViolation(name, parameters, strict === true, `tools[${index}].parameters`) ?? [];
  });
  if (choice === "required" && tools.length === 0) {
    found.push(violation("Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice"));
  }
  if (isRecord(choice) && choice.type === "function" && !tools.some(({ name }) => name === choice.name)) {
    const words = `Tool choice '${String(choice.name)}' not found in 'tools' parameter.`;
    found.push(violation(words, "tool_choice"));
  }
  return found;
}

function inputViolations({ input, previous_response_id: previous }: ResponsesRequest, issued: Issued): Violation[] {
  if (typeof previous === "string" && !issued.responses.has(previous)) {
    const words = `Previous response with id '${previous}' not found.`;
    return [violation(words, "previous_response_id", "previous_response_not_found")];
  }
  if (input !== undefined && input.length > 0) return [];
  if (typeof previous === "string") return [];
  return [
    violation("One of 'input' or 'previous_response_id' must be provided.", "input", "missing_required_parameter"),
  ];
}

function earlierItems({ previous_response_id: previous }: ResponsesRequest, issued: Issued): readonly InputItem[] {
  return (typeof previous === "string" ? issued.responses.get(previous) : undefined) ?? [];
}

const idPrefixes = { message: "msg", function_call: "fc", function_call_output: "fc", reasoning: "rs" };

function itemViolations(item: InputItem, param: string): Violation[] {
  const found: Violation[] = [];
  const kind = kindOf(item);
  const prefix = kind === "item_reference" ? undefined : idPrefixes[kind];
  if ("id" in item && typeof item.id === "string" && prefix !== undefined && !item.id.startsWith(prefix)) {
    const words = `Invalid '${param}.id': '${item.id}'. Expected an ID that begins with '${prefix}'.`;
    found.push(violation(words, `${param}.id`, "invalid_value"));
  }
  if (item.type === "function_call" && !isRecord(jsonOf(item.arguments))) {
    const words = `Invalid '${param}.arguments': expected the JSON text of an object.`;
    found.push(violation(words, `${param}.arguments`, "invalid_value"));
  }
  const [field, content] =
    "output" in item ? ["output", item.output] : "role" in item ? ["content", item.content] : ["", []];
  for (const [index, part] of (typeof content === "string" ? [] : content).entries()) {
    found.push(...contentViolations(part, `${param}.${field}[${index}]`));
  }
  return found;
}

function kindOf(
  item: InputItem,
): "message" | "function_call" | "function_call_output" | "reasoning" | "item_reference" {
  return item.type ?? ("role" in item ? "message" : "item_reference");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const imageData = /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

function contentViolations(part: InputContent | { type: "output_text" | "refusal" }, param: string): Violation[] {
  if (part.type === "input_image") {
    const url = part.image_url ?? undefined;
    if (url === undefined && (part.file_id ?? undefined) === undefined) {
      return [
        violation(
          `Missing required parameter: '${param}.image_url'.`,
          `${param}.image_url`,
          "missing_required_parameter",
        ),
      ];
    }
    if (url === undefined || url.startsWith("https://") || imageData.test(url)) return [];
    if (!url.startsWith("data:")) {
      const words = `Invalid '${param}.image_url'. Expected a valid URL, but got a value with an invalid format.`;
      return [violation(words, `${param}.image_url`, "invalid_value")];
    }
    const words = "You uploaded an unsupported image. Please make sure your image is one of the following formats:";
    return [violation(`${words} ['png', 'jpeg', 'gif', 'webp'].`, `${param}.image_url`, "invalid_image_format")];
  }
  if (part.type !== "input_file") return [];
  const sources = [part.file_data, part.file_id ?? undefined, part.file_url].filter((source) => source !== undefined);
  if (sources.length !== 1) {
    const words = `Expected exactly one of 'file_data', 'file_id' and 'file_url' in '${param}'.`;
    return [violation(words, param, "invalid_value")];
  }
  if (part.file_data === undefined) return [];
  if (part.filename === undefined) {
    return [
      violation(`Missing required parameter: '${param}.filename'.`, `${param}.filename`, "missing_required_parameter"),
    ];
  }
  if (/^data:[\w.+-]+\/[\w.+-]+;base64,[A-Za-z0-9+/]+={0,2}$/.test(part.file_data)) return [];
  const words = `Invalid '${param}.file_data'. Expected a base64-encoded data URL with a MIME type.`;
  return [violation(words, `${param}.file_data`, "invalid_value")];
}

function reasoningViolations(items: readonly InputItem[], request: ResponsesRequest, issued: Issued): Violation[] {
  const present = new Set(items.flatMap((item) => ("id" in item && typeof item.id === "string" ? [item.id] : [])));
  return items.flatMap((item, index) => {
    if (kindOf(item) === "item_reference" && "id" in item && typeof item.id === "string") {
      return issued.stored.has(item.id) ? [] : [itemNotFound(item.id, request)];
    }
    if (item.type === "reasoning") {
      return reasoningViolation(item, items.slice(index + 1), request, issued) ?? [];
    }
    const id = "id" in item && typeof item.id === "string" ? item.id : undefined;
    const needed = id === undefined ? undefined : issued.stored.get(id)?.reasoningId;
    if (id === undefined || needed === undefined || present.has(needed)) return [];
    const words = `Item '${id}' of type '${kindOf(item)}' was provided without its required 'reasoning' item: '${needed}'.`;
    return [violation(words, "input")];
  });
}

function itemNotFound(id: string, { store }: ResponsesRequest): Violation {
  const why =
    store === false
      ? " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input."
      : "";
  return violation(`Item with id '${id}' not found.${why}`, "input", null, 404);
}

function reasoningViolation(
  { id, encrypted_content: encrypted }: Extract<InputItem, { type: "reasoning" }>,
  rest: readonly InputItem[],
  request: ResponsesRequest,
  issued: Issued,
): Violation | undefined {
  const stored = issued.stored.get(id);
  if (typeof encrypted !== "string" && stored === undefined) return itemNotFound(id, request);
  const opened = typeof encrypted === "string" ? issued.box.open(encrypted) : undefined;
  if (typeof encrypted === "string" && opened?.id !== id) {
    const reason =
      opened === undefined
        ? "Encrypted content could not be decrypted or parsed."
        : "Encrypted content item_id did not match the target item id.";
    const shown = `${encrypted.slice(0, 4)}...${encrypted.slice(-4)}`;
    const words = `The encrypted content ${shown} could not be verified. Reason: ${reason}`;
    return violation(words, null, "invalid_encrypted_content");
  }
  const next = rest.map((item) => resolved(item, issued)).find((item) => item.type !== "reasoning");
  if (follows(next, opened === undefined ? stored?.follower : opened.follower)) return undefined;
  return violation(`Item '${id}' of type 'reasoning' was provided without its required following item.`, "input");
}

function follows(item: InputItem | undefined, follower: Follower | undefined): boolean {
  if (item === undefined || follower === undefined) return false;
  if (item.type === "function_call") return follower.type === "function_call" && item.call_id === follower.callId;
  if (!("role" in item) || item.role !== "assistant" || follower.type !== "message") return false;
  return item.id === undefined || item.id === follower.id;
}

function callViolations(items: readonly InputItem[]): Violation[] {
  const open = new Set<string>();
  const answered = new Set<string>();
  const found: Violation[] = [];
  for (const item of items) {
    if (item.type === "function_call") open.add(item.call_id);
    if (item.type !== "function_call_output") continue;
    if (!open.has(item.call_id)) {
      const words = `No tool call found for function call output with call_id ${item.call_id}.`;
      found.push(violation(words, "input"));
    }
    answered.add(item.call_id);
  }
  for (const callId of open) {
    if (!answered.has(callId)) found.push(violation(`No tool output found for function call ${callId}.`, "input"));
  }
  return found;
}
