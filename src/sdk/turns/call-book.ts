import { type Fields, fieldsOf, textOf } from "../../text/values.ts";
import type { TurnEvent } from "../types.ts";
import { type CallGiven, callOf, textOfContent, toolContentOf } from "../wire.ts";
import { forgetOldest, markOf } from "./repeats.ts";

interface Entry {
  readonly name: string | undefined;
  /** To recognise repetitions. */
  readonly inputMark: string;
  messageId: string | undefined;
  readonly phase: "written" | "told" | "done";
}

/** Copies arrive close together, so the oldest calls can be forgotten. */
const mostCalls = 1_000;
/** Calls that are still streaming, whose inputs can be long. */
const mostUntold = 32;

/** The tool calls of a session: each reported once, with one result. */
export function createCallBook() {
  const entries = new Map<string, Entry>();
  const untold = new Map<string, CallGiven>();

  function note(id: string, entry: Entry, call?: CallGiven): void {
    putLast(entries, id, entry, mostCalls);
    untold.delete(id);
    if (call !== undefined) putLast(untold, id, call, mostUntold);
  }

  /** Whether this is not a repetition. An id can be reused by another message once its call has a result. */
  function isNews(known: Entry | undefined, inputMark: string, messageId: string | undefined): boolean {
    if (known === undefined || known.phase === "written") return true;
    if (known.phase === "told" || messageId === undefined || known.messageId === messageId) return false;
    // A call reported before its message belongs to the first message that has it.
    return known.messageId !== undefined || known.inputMark !== inputMark;
  }

  function* tell(call: CallGiven, messageId?: string): Generator<TurnEvent> {
    const { id, name, input } = call;
    note(id, { name, inputMark: inputMarkOf(input), messageId, phase: "told" });
    yield messageId === undefined ? { type: "tool_call", ...call } : { type: "tool_call", ...call, messageId };
  }

  /** A call is reported before anything that happens to it. */
  function* toldFirst(id: string): Generator<TurnEvent> {
    const call = untold.get(id);
    if (call !== undefined) yield* tell(call);
  }

  return {
    /** The call's input is still streaming. */
    *isWritten(toolUse: unknown): Generator<TurnEvent> {
      const call = callOf(toolUse);
      if (call === undefined) return;
      const known = entries.get(call.id);
      const inputMark = inputMarkOf(call.input);
      // Backends often repeat a call around its result; with another input it is another call.
      if (known !== undefined && (known.phase === "told" || known.inputMark === inputMark)) return;
      note(call.id, { name: call.name, inputMark, messageId: undefined, phase: "written" }, call);
      yield { type: "tool_input", ...call };
    },
    *isComplete(toolUse: unknown, messageId?: string): Generator<TurnEvent> {
      const call = callOf(toolUse);
      if (call === undefined) return;
      const known = entries.get(call.id);
      if (isNews(known, inputMarkOf(call.input), messageId)) yield* tell(call, messageId);
      else if (known !== undefined) known.messageId ??= messageId;
    },
    *progress(given: Fields): Generator<TurnEvent> {
      const id = textOf(given.toolUseId) ?? "";
      const update = fieldsOf(given.update);
      const known = entries.get(id);
      yield* toldFirst(id);
      const name = known?.name ?? textOf(given.toolName);
      const text = [update.text, update.status, update.details, update.error].find((each) => typeof each === "string");
      yield { type: "tool_progress", id, ...(name !== undefined && { name }), text: textOf(text) ?? "" };
    },
    *result(given: Fields): Generator<TurnEvent> {
      const id = textOf(given.toolUseId) ?? textOf(given.tool_use_id) ?? "";
      const known = entries.get(id);
      if (known?.phase === "done") return;
      const content = toolContentOf(given.content);
      // A readable result may follow.
      if (content === undefined) throw new RangeError("A result is nested too deeply.");
      yield* toldFirst(id);
      const { name, messageId, inputMark = inputMarkOf({}) } = known ?? {};
      note(id, { name, inputMark, messageId, phase: "done" });
      const isError = (given.isError ?? given.is_error) === true;
      const text = textOfContent(content);
      yield { type: "tool_result", id, ...(name !== undefined && { name }), content, text, isError };
    },
  };
}

function putLast<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  forgetOldest(map, most);
}

function inputMarkOf(input: Fields): string {
  return markOf(JSON.stringify(input));
}
