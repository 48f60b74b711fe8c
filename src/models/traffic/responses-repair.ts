import { type Fields, isRecord, parsedJson } from "../../text/values.ts";

/**
 * Adds what compatible servers leave out of the Responses API's events and the SDK requires. llama.cpp's server sends no
 * `output_index`, no `created_at` and `model` at first, and its reasoning as text instead of a summary.
 */
export function responsesRepair(): (piece: Uint8Array) => Uint8Array {
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  const fill = eventFiller();
  let rest = "";
  return (piece) => {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    return encoder.encode(lines.map((line) => `${filledLine(line, fill)}\n`).join(""));
  };
}

function filledLine(line: string, fill: (event: Fields) => Fields): string {
  if (!line.startsWith("data:")) return line;
  const event = parsedJson(line.slice("data:".length));
  if (!isRecord(event)) return line;
  const filled = fill(event);
  return filled === event ? line : `data: ${JSON.stringify(filled)}`;
}

/** Returns the same object if nothing is missing. */
function eventFiller(): (event: Fields) => Fields {
  /** Places of items by their ids. */
  const places = new Map<unknown, number>();
  let count = 0;

  const placeOf = (ids: readonly unknown[]): number => {
    const known = ids.map((id) => places.get(id)).find((place) => place !== undefined);
    return known ?? Math.max(0, count - 1);
  };
  const add = (item: Fields): number => {
    const place = count;
    count += 1;
    for (const id of [item.id, item.call_id]) if (id !== undefined) places.set(id, place);
    return place;
  };
  const withPlace = (event: Fields, place: () => number): Fields =>
    typeof event.output_index === "number" ? event : { ...event, output_index: place() };

  return (event) => {
    const item = isRecord(event.item) ? event.item : {};
    switch (event.type) {
      case "response.created": {
        const response = isRecord(event.response) ? event.response : {};
        const isWhole = typeof response.created_at === "number" && typeof response.model === "string";
        return isWhole ? event : { ...event, response: { created_at: 0, model: "", id: "", ...response } };
      }
      case "response.output_item.added":
        return withItem(
          withPlace(event, () => add(item)),
          { arguments: "" },
        );
      case "response.output_item.done":
        return withItem(
          withPlace(event, () => placeOf([item.id, item.call_id])),
          { status: "completed" },
        );
      case "response.function_call_arguments.delta":
      case "response.function_call_arguments.done":
        return withPlace(event, () => placeOf([event.item_id]));
      case "response.reasoning_text.delta":
        return { ...event, type: "response.reasoning_summary_text.delta", summary_index: 0 };
      case "response.failed":
        return typeof event.sequence_number === "number" ? event : { ...event, sequence_number: 0 };
      default:
        return event;
    }
  };
}

function withItem(event: Fields, defaults: Fields): Fields {
  const { item } = event;
  if (!isRecord(item)) return event;
  // An empty proof counts as missing.
  const isUnsigned = item.type === "reasoning" && item.encrypted_content === "";
  if (isUnsigned) return { ...event, item: { ...item, encrypted_content: null } };
  if (item.type !== "function_call") return event;
  const needed: Fields = { id: item.call_id, ...defaults };
  return Object.keys(needed).every((key) => item[key] !== undefined)
    ? event
    : { ...event, item: { ...needed, ...item } };
}
