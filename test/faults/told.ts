import { foldLog } from "../../src/engine/log/history.ts";
import type { Message } from "../../src/engine/message.ts";
import { callsOf, textOf } from "../../src/engine/message.ts";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import type { Wire } from "../fakes/rpc/wire.ts";
import { noticesIn } from "../fakes/rpc/wire.ts";

/** Everything that a program had reported before a fault, none of which may be lost. Texts by their ids. */
export interface Told {
  readonly messages: ReadonlyMap<string, string>;
  readonly results: ReadonlyMap<string, string>;
  /** Requests to the client with a reported answer. */
  readonly answered: ReadonlySet<string>;
  /** Prompts that were accepted. */
  readonly prompts: readonly string[];
}

/** Messages that a client received over a connection. */
export function toldOver({ received, sent }: Wire): Told {
  const notices = noticesIn(received);
  const of = (type: string) => notices.filter((notice) => notice.type === type);
  const messages = of("create_message").map(({ message }) => message as { id: string; content: { type: string }[] });
  const granted = new Set(received.flatMap(({ id, result }) => (result === undefined ? [] : [id])));
  return {
    messages: new Map(messages.map(({ id, content }) => [id, textOf(content)])),
    results: new Map(of("tool_result").map(({ toolUseId, content }) => [String(toolUseId), String(content)])),
    answered: new Set(of("permission_resolved").map(({ requestId }) => String(requestId))),
    prompts: sent.flatMap(({ id, method, params }) =>
      method === "droid.add_user_message" && granted.has(String(id)) ? [(params as { text: string }).text] : [],
    ),
  };
}

export interface Kept {
  readonly types: readonly string[];
  readonly messages: readonly Message[];
  readonly waiting: readonly string[];
  readonly answered: readonly string[];
  readonly isDense: boolean;
  readonly damagedLines: number;
}

/** The content of a session's log. */
export async function keptOf(home: string, sessionId: string): Promise<Kept> {
  const { events, damagedLines } = await createJsonlStore({ home }).read(sessionId);
  const { messages, waiting } = foldLog(events);
  return {
    types: events.map(({ type }) => type),
    messages,
    waiting: [...waiting.values()].map(({ content }) => textOf(content)),
    answered: events.flatMap((event) => (event.type === "request.closed" ? [event.requestId] : [])),
    isDense: events.every(({ seq }, index) => seq === index + 1),
    damagedLines: damagedLines.length,
  };
}

export interface Verdict {
  readonly lost: readonly string[];
  readonly duplicates: readonly string[];
  readonly wrong: readonly string[];
}

export const nothingWrong: Verdict = { lost: [], duplicates: [], wrong: [] };

/** Compares the reported state with the stored one, and `ran` with the commands that may have run. */
export function verdictOf(told: Told, kept: Kept, ran: string): Verdict {
  const results = kept.messages.flatMap((message) => (message.role === "tool" ? message.content : []));
  const calls = kept.messages.flatMap((message) => (message.role === "assistant" ? callsOf(message) : []));
  const texts = new Map<string, string>(kept.messages.map(({ id, content }) => [id, textOf(content)]));
  const outputs = new Map(results.map(({ callId, text }) => [callId, text]));
  const said = [...kept.messages.flatMap((one) => (one.role === "user" ? [textOf(one.content)] : [])), ...kept.waiting];
  const marks = ran.split("\n").filter((line) => line !== "");
  const unlike = (from: ReadonlyMap<string, string>, into: ReadonlyMap<string, string>): string[] =>
    [...from].flatMap(([id, text]) => (into.get(id) === text ? [] : [id]));
  const unanswered = calls.filter(({ id }, index) => results[index]?.callId !== id).map(({ id }) => id);
  return {
    lost: [
      ...unlike(told.messages, texts),
      ...unlike(told.results, outputs),
      ...[...told.answered].filter((id) => !kept.answered.includes(id)),
      ...told.prompts.filter((text) => !said.includes(text)),
    ],
    duplicates: [
      ...repeated(kept.messages.map(({ id }) => id)),
      ...repeated(results.map(({ callId }) => callId)),
      ...repeated(kept.answered),
      ...repeated(said),
      ...repeated(marks).map((mark) => `command ${mark}`),
    ],
    wrong: [
      ...unanswered.map((id) => `${id} has no result in its place`),
      ...(results.length > calls.length ? ["a result without a call"] : []),
      ...(kept.isDense ? [] : ["the numbers of the log have gaps"]),
      ...(kept.waiting.length === 0 ? [] : ["a prompt still waits"]),
    ],
  };
}

function repeated(items: readonly string[]): string[] {
  return items.filter((item, index) => items.indexOf(item) !== index);
}
