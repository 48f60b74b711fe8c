import { type Fields, isRecord, parsedJson } from "../../text/values.ts";
import type { Wire } from "../providers/model-spec.ts";

/** Reads an unstreamed JSON reply as the events that the server should have sent. `undefined` for anything else. */
export function eventsOfWhole(text: string, wire: Wire): string | undefined {
  const answer = parsedJson(text);
  const events = isRecord(answer) && answer.error ? undefined : translators[wire](answer);
  return events?.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
}

type Event = object | string;

const translators: Readonly<Record<Wire, (answer: unknown) => readonly Event[] | undefined>> = {
  "openai-chat": chatEvents,
  "openai-responses": responsesEvents,
  anthropic: anthropicEvents,
  google: googleEvents,
};

function chatEvents(answer: unknown): readonly Event[] | undefined {
  const choice: unknown = isRecord(answer) && Array.isArray(answer.choices) ? answer.choices[0] : undefined;
  if (!isRecord(answer) || !isRecord(choice) || !isRecord(choice.message)) return undefined;
  const { message, finish_reason } = choice;
  const delta = {
    ...message,
    ...(Array.isArray(message.tool_calls) ? { tool_calls: numbered(message.tool_calls) } : {}),
  };
  return [{ ...answer, choices: [{ index: 0, delta, finish_reason: finish_reason ?? null }] }, "[DONE]"];
}

function numbered(calls: readonly unknown[]): readonly unknown[] {
  return calls.map((call, index) => (isRecord(call) ? { index, ...call } : call));
}

function responsesEvents(response: unknown): readonly Event[] | undefined {
  if (!isRecord(response) || !Array.isArray(response.output)) return undefined;
  const items: readonly unknown[] = response.output;
  const events = items
    .filter(isRecord)
    .flatMap((item, output_index): readonly Event[] => [
      { type: "response.output_item.added", output_index, item: { ...item, arguments: "", content: [], summary: [] } },
      ...partsOf(item).map((part) => ({ ...part, output_index, item_id: item.id })),
      { type: "response.output_item.done", output_index, item },
    ]);
  const end = response.status === "incomplete" ? "response.incomplete" : "response.completed";
  return [{ type: "response.created", response }, ...events, { type: end, response }];
}

function partsOf(item: Fields): readonly object[] {
  if (item.type === "function_call") {
    return [{ type: "response.function_call_arguments.delta", delta: item.arguments }];
  }
  const parts = [item.summary, item.content].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  return parts.filter(isRecord).flatMap((part, index): readonly object[] => {
    switch (part.type) {
      case "output_text":
        return [{ type: "response.output_text.delta", delta: part.text }];
      case "refusal":
        return [{ type: "response.refusal.delta", delta: part.refusal }];
      case "summary_text":
      case "reasoning_text":
        return [
          ...(index === 0 ? [] : [{ type: "response.reasoning_summary_part.added", summary_index: index }]),
          { type: "response.reasoning_summary_text.delta", summary_index: index, delta: part.text },
        ];
      default:
        return [];
    }
  });
}

function anthropicEvents(message: unknown): readonly Event[] | undefined {
  if (!isRecord(message) || !Array.isArray(message.content)) return undefined;
  const blocks: readonly unknown[] = message.content;
  const events = blocks
    .filter(isRecord)
    .flatMap((block, index): readonly Event[] => [
      { type: "content_block_start", index, content_block: emptied(block) },
      ...deltasOf(block).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]);
  const { stop_reason, stop_sequence, usage } = message;
  return [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...events,
    { type: "message_delta", delta: { stop_reason, stop_sequence }, usage },
    { type: "message_stop" },
  ];
}

function emptied(block: Fields): object {
  if (block.type === "text") return { ...block, text: "" };
  if (block.type === "thinking") return { ...block, thinking: "", signature: "" };
  return block.type === "tool_use" ? { ...block, input: {} } : block;
}

function deltasOf(block: Fields): readonly object[] {
  switch (block.type) {
    case "text":
      return [{ type: "text_delta", text: block.text }];
    case "thinking":
      return [
        { type: "thinking_delta", thinking: block.thinking },
        ...(typeof block.signature === "string" ? [{ type: "signature_delta", signature: block.signature }] : []),
      ];
    case "tool_use":
      return [{ type: "input_json_delta", partial_json: JSON.stringify(block.input ?? {}) }];
    default:
      return [];
  }
}

/** Google's own form of an unstreamed answer to a streaming call is a list of its events. */
function googleEvents(answer: unknown): readonly Event[] | undefined {
  const events = (Array.isArray(answer) ? (answer as readonly unknown[]) : [answer]).filter(isRecord);
  const isAnswer = events.some(
    ({ candidates, promptFeedback }) => Array.isArray(candidates) || isRecord(promptFeedback),
  );
  return isAnswer ? events : undefined;
}
