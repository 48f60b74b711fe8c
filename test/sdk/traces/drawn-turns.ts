import fc from "fast-check";
import type { TurnEvent, TurnResult } from "../../../src/sdk/types.ts";
import { busy, completed, delta, idle, message, state, usage } from "../fakes/fake-backend.ts";

/* Random turns, as sent by a well-behaved backend and as a client should see them. */

export interface DrawnCall {
  readonly input: Readonly<Record<string, unknown>>;
  /** The user's answer, if asked. */
  readonly asked: "no" | "allowed" | "refused";
  readonly progress: readonly string[];
  readonly output: string;
  readonly isError: boolean;
}

export interface DrawnReply {
  readonly retries: number;
  readonly thinking: readonly string[];
  readonly text: readonly string[];
}

export interface DrawnTurn {
  readonly steps: readonly (DrawnReply & { readonly calls: readonly DrawnCall[] })[];
  /** `cut`: it stops in the middle of its last reply, whose message does not come. */
  readonly end: DrawnReply & { readonly how: "completed" | "error" | "cut" };
}

export interface DrawnSession {
  readonly turns: readonly DrawnTurn[];
  /** Whether the ids of calls repeat those of earlier messages. */
  readonly reusesIds: boolean;
}

const piece = fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" });
const reply = {
  retries: fc.constantFrom(0, 0, 0, 1, 2),
  thinking: fc.array(piece, { maxLength: 2 }),
  text: fc.array(piece, { maxLength: 4 }),
};
const call: fc.Arbitrary<DrawnCall> = fc.record({
  input: fc.dictionary(fc.constantFrom("path", "command", "limit"), fc.oneof(piece, fc.nat(9), fc.constant(null))),
  asked: fc.constantFrom("no", "no", "allowed", "allowed", "allowed", "refused"),
  progress: fc.array(piece, { maxLength: 2 }),
  output: fc.string({ maxLength: 8 }),
  isError: fc.boolean(),
});
const turn: fc.Arbitrary<DrawnTurn> = fc.record({
  steps: fc.array(fc.record({ ...reply, calls: fc.array(call, { minLength: 1, maxLength: 3 }) }), { maxLength: 3 }),
  end: fc.record({ ...reply, how: fc.constantFrom("completed", "completed", "completed", "error", "cut") }),
});
export const drawnSession: fc.Arbitrary<DrawnSession> = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
  reusesIds: fc.boolean(),
});

/** A line of the backend. After a question it waits for the answer. */
export type Item =
  | { readonly notice: Notice }
  | { readonly question: { readonly id: string; readonly params: object }; readonly answer: string }
  | { readonly line: string };

export type Notice = Readonly<Record<string, unknown>> & { readonly type: string };

export const turnIdOf = (nth: number): string => `t-${nth}`;

const tool = "Execute";
const options = ["proceed_once", "cancel"].map((value) => ({ value, label: value }));

interface Named {
  readonly id: string;
  readonly toolUse: object;
  readonly drawn: DrawnCall;
}

interface NamedStep {
  readonly id: string;
  readonly reply: DrawnReply;
  readonly calls: readonly Named[];
  readonly isRefused: boolean;
}

/** With ids, and without what would follow a refusal. */
function stepsOf({ steps }: DrawnTurn, nth: number, reusesIds: boolean): readonly NamedStep[] {
  const named = steps.map((step, at): NamedStep => {
    const calls = step.calls.map((drawn, index): Named => {
      const id = reusesIds ? `call_${index}` : `c-${nth}-${at}-${index}`;
      return { id, toolUse: { type: "tool_use", id, name: tool, input: drawn.input }, drawn };
    });
    const isRefused = step.calls.some(({ asked }) => asked === "refused");
    return { id: `m-${nth}-${at}`, reply: step, calls, isRefused };
  });
  const last = named.findIndex(({ isRefused }) => isRefused);
  return last === -1 ? named : named.slice(0, last + 1);
}

function blocksOf({ thinking, text }: DrawnReply): readonly object[] {
  return [
    ...(thinking.length > 0 ? [{ type: "thinking", thinking: thinking.join(""), signature: "" }] : []),
    ...(text.length > 0 ? [{ type: "text", text: text.join("") }] : []),
  ];
}

/** The lines of a well-behaved backend in a turn. */
export function itemsOf(session: DrawnSession, nth: number): readonly Item[] {
  const drawn = session.turns[nth];
  if (drawn === undefined) return [];
  const items: Item[] = [];
  const tell = (...notices: readonly object[]): void => {
    for (const notice of notices) items.push({ notice: notice as Notice });
  };
  const write = (id: string, { retries, thinking, text }: DrawnReply): void => {
    for (let attempt = 1; attempt <= retries; attempt += 1) tell({ type: "llm_retry", attempt, reason: "timeout" });
    for (const each of thinking) tell({ ...delta(id, each), type: "thinking_text_delta" });
    for (const each of text) tell(delta(id, each));
  };
  const steps = stepsOf(drawn, nth, session.reusesIds);

  tell(busy, message(turnIdOf(nth), "user", { type: "text", text: "go" }));
  for (const { id, reply: said, calls } of steps) {
    tell(busy);
    write(id, said);
    for (const { toolUse } of calls) tell({ type: "tool_call", toolUse: { ...toolUse, input: {} } });
    for (const { toolUse } of calls) tell({ type: "tool_call", toolUse });
    tell(message(id, "assistant", ...blocksOf(said), ...calls.map(({ toolUse }) => toolUse)), state("executing_tool"));
    const asked = calls.filter((each) => each.drawn.asked !== "no");
    if (asked.length > 0) {
      const answer = asked.some((each) => each.drawn.asked === "refused") ? "cancel" : "proceed_once";
      const toolUses = asked.map(({ toolUse }) => ({ toolUse, confirmationType: "exec", details: { type: "exec" } }));
      tell(state("waiting_for_tool_confirmation"));
      items.push({ question: { id: `q-${id}`, params: { toolUses, options } }, answer });
      tell(busy, { type: "permission_resolved", requestId: `q-${id}`, toolUseIds: [], selectedOption: answer });
    }
    for (const { id: toolUseId, drawn: each } of calls) {
      for (const text of each.progress) {
        tell({ type: "tool_progress_update", toolUseId, toolName: tool, update: { type: "status", text } });
      }
      tell({ type: "tool_result", toolUseId, messageId: `r-${id}`, content: each.output, isError: each.isError });
    }
    tell({ type: "session_token_usage_changed", tokenUsage: usage });
  }
  const { end } = drawn;
  const isRefused = steps.at(-1)?.isRefused === true;
  if (!isRefused) {
    const id = `m-${nth}-end`;
    tell(busy);
    write(id, end);
    if (end.how === "error") tell({ type: "error", message: "It broke.", errorType: "Error" });
    if (end.how === "completed") tell(message(id, "assistant", ...blocksOf(end)));
  }
  const reason = isRefused ? "permission_rejected" : end.how === "error" ? "error" : "completed";
  tell({ type: "session_token_usage_changed", tokenUsage: usage }, completed(turnIdOf(nth), reason), idle);
  return items;
}

/** Events without the boundaries between deltas. */
export type Seen = Readonly<Record<string, unknown>>;

export interface SeenTurn {
  readonly events: readonly Seen[];
  readonly result: Omit<TurnResult, "usage">;
}

/** A client's expected view of a turn, whatever the backend's behaviour. */
export function expectedOf(session: DrawnSession, nth: number): SeenTurn {
  const drawn = session.turns[nth];
  if (drawn === undefined) throw new Error("There is no such turn.");
  const events: Seen[] = [];
  let last = "";
  const write = ({ retries }: DrawnReply): void => {
    for (let attempt = 1; attempt <= retries; attempt += 1) events.push({ type: "retry", attempt, reason: "timeout" });
  };
  const say = (id: string, { thinking, text }: DrawnReply): void => {
    const all = text.join("");
    events.push({ type: "message", id, text: all, pieces: all, thinking: thinking.join("") });
    if (all !== "") last = all;
  };
  const steps = stepsOf(drawn, nth, session.reusesIds);

  events.push({ type: "message", id: turnIdOf(nth), text: "go", pieces: "", thinking: "" });
  for (const { id: messageId, reply: said, calls } of steps) {
    write(said);
    say(messageId, said);
    for (const { id, drawn: each } of calls) {
      events.push({ type: "tool_call", id, name: tool, input: each.input, messageId });
    }
    for (const { id, drawn: each } of calls) {
      for (const text of each.progress) events.push({ type: "tool_progress", id, name: tool, text });
      const { output: content, isError } = each;
      events.push({ type: "tool_result", id, name: tool, content, text: content, isError });
    }
  }
  const turnId = turnIdOf(nth);
  const { end } = drawn;
  const { how } = end;
  let result: SeenTurn["result"] = { status: "completed", reason: "completed", text: "", turnId };
  if (steps.at(-1)?.isRefused === true) {
    result = { ...result, status: "interrupted", reason: "permission_rejected" };
  } else {
    write(end);
    const error = { message: "It broke.", type: "Error" };
    if (how === "completed") say(`m-${nth}-end`, end);
    if (how !== "completed" && end.text.length > 0) last = end.text.join("");
    if (how === "error") {
      events.push({ type: "error", error });
      result = { ...result, status: "failed", reason: "error", error };
    }
  }
  result = { ...result, text: last };
  return { events: [...events, { type: "end", ...result }], result };
}

const passedOver = new Set(["state", "usage", "other", "settings", "title", "tool_input"]);

/** The same from received events: each message's deltas joined in its place. */
export function seenOf(events: readonly TurnEvent[], { usage: _ofTurn, ...result }: TurnResult): SeenTurn {
  const seen: Seen[] = [];
  const pieces = new Map<string, { text: string; thinking: string }>();
  const of = (id: string) => pieces.get(id) ?? { text: "", thinking: "" };
  for (const event of events) {
    if (event.type === "text_reset") {
      pieces.set(event.messageId, { ...of(event.messageId), text: "" });
    } else if (event.type === "text" || event.type === "thinking") {
      const before = of(event.messageId);
      pieces.set(event.messageId, { ...before, [event.type]: before[event.type] + event.text });
    } else if (event.type === "message") {
      const { id, role } = event.message;
      if (role === "system") continue;
      const { text, thinking } = of(id);
      seen.push({ type: "message", id, text: event.text, pieces: text, thinking });
    } else if (event.type === "end") {
      const { usage: _, ...end } = event.result;
      seen.push({ type: "end", ...end });
    } else if (!passedOver.has(event.type)) {
      seen.push({ ...event });
    }
  }
  return { events: seen, result };
}
