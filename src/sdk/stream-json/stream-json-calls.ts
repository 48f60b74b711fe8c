import { type Fields, fieldsOf, parsedJson, textOf } from "../../text/values.ts";
import { forgetOldest } from "../turns/repeats.ts";
import type { StreamJsonEvent } from "../types.ts";
import { given, textOfContent, toolContentOf } from "../wire.ts";

/**
 * Names that programs use for the parts of calls and results; the first key with a value counts. `toolId` is never a call's
 * id: programs put the tool's name there, which two calls of one reply can share.
 */
const idKeys = ["toolCallId", "tool_call_id", "toolUseId", "tool_use_id", "callId", "call_id", "id"];
const nameKeys = ["toolName", "tool_name", "name", "tool", "toolId"];
const inputKeys = ["parameters", "input", "arguments", "args", "params"];
const contentKeys = ["value", "result", "output", "content", "text"];
const errorFlagKeys = ["isError", "is_error"];
const failedStatuses: readonly unknown[] = ["error", "failed", "failure"];

type ToolCall = Extract<StreamJsonEvent, { type: "tool_call" }>;
type ToolResult = Extract<StreamJsonEvent, { type: "tool_result" }>;

interface Entry {
  readonly id: string;
  /** Undefined if only the result was seen. */
  readonly name: string | undefined;
  readonly names: ReadonlySet<string>;
  readonly messageId: string | undefined;
  /** False if the id was made up here. */
  readonly hasOwnId: boolean;
  isDone: boolean;
}

/** Copies and results arrive soon after their calls, so the oldest can be forgotten. */
const mostCalls = 1_000;

/**
 * A stream's calls, each reported once with one result. Results match by id; without one, the oldest open call of their
 * tool; with an unknown id, only calls without ids; without a tool, the oldest open call of all.
 */
export function createStreamJsonCalls() {
  const entries = new Map<string, Entry>();
  let madeUpIds = 0;

  function note(entry: Entry): void {
    entries.delete(entry.id);
    entries.set(entry.id, entry);
    forgetOldest(entries, mostCalls);
  }

  /** An id can be reused by another message once its call has a result. */
  function isCopy(known: Entry | undefined, messageId: string | undefined): boolean {
    if (known?.name === undefined) return false;
    return !known.isDone || messageId === undefined || known.messageId === messageId;
  }

  function oldestOpen(names: ReadonlySet<string>, mayHaveOwnId: boolean): Entry | undefined {
    for (const entry of entries.values()) {
      if (entry.isDone || (entry.hasOwnId && !mayHaveOwnId)) continue;
      if (names.size === 0 || [...names].some((name) => entry.names.has(name))) return entry;
    }
    return undefined;
  }

  function entryOf(result: Fields): Entry | undefined {
    const id = idOf(result);
    const names = namesOf(result);
    if (id === undefined) return entries.get(textOf(result.toolId) ?? "") ?? oldestOpen(names, true);
    return entries.get(id) ?? (names.size > 0 ? oldestOpen(names, false) : undefined);
  }

  return {
    /** `"copy"` for a repetition; undefined without a name, because then it is not a call. */
    call(value: unknown, messageId?: string): ToolCall | "copy" | undefined {
      const call = fieldsOf(value);
      const names = namesOf(call);
      const [name] = names;
      if (name === undefined) return undefined;
      const ownId = idOf(call);
      if (ownId !== undefined && isCopy(entries.get(ownId), messageId)) return "copy";
      if (ownId === undefined) madeUpIds += 1;
      const id = ownId ?? `${name}#${madeUpIds}`;
      note({ id, name, names, messageId, hasOwnId: ownId !== undefined, isDone: false });
      return given<ToolCall>({ type: "tool_call", id, name, input: inputOf(call), messageId });
    },
    result(value: unknown): ToolResult | "copy" {
      const result = fieldsOf(value);
      const entry = entryOf(result);
      if (entry?.isDone === true) return "copy";
      const id = entry?.id ?? idOf(result) ?? "";
      const content = contentOf(result);
      if (entry !== undefined) entry.isDone = true;
      else if (id !== "") {
        note({ id, name: undefined, names: new Set(), messageId: undefined, hasOwnId: true, isDone: true });
      }
      return given<ToolResult>({
        type: "tool_result",
        id,
        name: entry?.name,
        content,
        text: textOfContent(content),
        isError: isFailed(result),
      });
    },
  };
}

/** `null` counts as absent. */
function firstOf(value: Fields, keys: readonly string[]): unknown {
  return keys.map((key) => value[key]).find((each) => each !== undefined && each !== null);
}

function idOf(value: Fields): string | undefined {
  for (const key of idKeys) {
    const id = value[key];
    if (typeof id === "number" || (typeof id === "string" && id !== "")) return String(id);
  }
  return undefined;
}

/** The first is the tool's name; the others identify it. */
function namesOf(value: Fields): ReadonlySet<string> {
  return new Set(nameKeys.flatMap((key) => textOf(value[key]) || []));
}

function inputOf(call: Fields): Fields {
  const input = firstOf(call, inputKeys);
  return fieldsOf(typeof input === "string" ? parsedJson(input) : input);
}

/** Throws if it is nested too deeply. */
function contentOf(result: Fields): ToolResult["content"] {
  const value = firstOf(result, contentKeys) ?? fieldsOf(result.error).message ?? result.error;
  const content = toolContentOf(value);
  if (content === undefined) throw new RangeError("A result is nested too deeply.");
  // A tool's result can be any list, and must be kept whole.
  return Array.isArray(value) && content.length < value.length ? JSON.stringify(value) : content;
}

function isFailed(result: Fields): boolean {
  const flag = firstOf(result, errorFlagKeys);
  if (typeof flag === "boolean") return flag;
  return Boolean(result.error) || failedStatuses.includes(result.status);
}
