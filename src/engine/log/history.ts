import { headAndTail, recordTextLimit } from "../../text/output.ts";
import { compactedView } from "../context/view.ts";
import type { Failure } from "../errors.ts";
import type { DurableBody, DurableEvent, EndReason, SettingsChanges } from "../event.ts";
import type { Interaction } from "../interaction.ts";
import type { AssistantMessage, Message, PromptBlock, ReplyBlock, ToolCallBlock, Usage } from "../message.ts";
import { callsOf, noUsage, totalTokens } from "../message.ts";
import type { Ids } from "../ports.ts";
import type { SessionSettings } from "../settings.ts";

/** A session's state: the fold of its durable events. */
export interface SessionState {
  readonly id: string;
  readonly createdAt: number;
  updatedAt: number;
  seq: number;
  /** The sessions this one was forked from, nearest first. */
  readonly origins: readonly string[];
  cwd: string;
  settings: SessionSettings;
  title: string;
  /** Append-only. Message objects are immutable; the last can be replaced by a longer version. */
  readonly messages: Message[];
  /** The model's view of the messages. The same objects, except where a compaction has shortened or replaced them. */
  view: Message[];
  /** The provider's token count for the first messages of the view, with everything else in the request. */
  measured: { readonly messages: number; readonly tokens: number } | undefined;
  /** The stand-in that the last compaction put in front of the view. */
  standIn: { readonly messageId: string; readonly isShortened: boolean } | undefined;
  /** The prompts of the current or last turn, and of unfinished ones right before it. */
  task: readonly string[];
  /** Accepted prompts that are not part of the conversation yet, oldest first. */
  readonly waiting: Map<string, { readonly content: readonly PromptBlock[]; readonly at: number }>;
  usage: Usage;
  /** The live turn. `prompts`: those it was started for. `promptId`: the last prompt taken before its first reply. */
  turn:
    | {
        readonly id: string;
        readonly startedAt: number;
        readonly model: string;
        readonly prompts: readonly string[];
        readonly promptId?: string;
        readonly hasReply?: boolean;
      }
    | undefined;
  /** The first and last seq of each turn. */
  readonly turns: { readonly from: number; readonly to?: number }[];
  /** How the last turn ended. */
  lastEnd: EndReason | undefined;
  /** The reply being streamed. */
  partial: { readonly messageId: string; readonly blocks: ReplyBlock[]; readonly at: number } | undefined;
  /** The last reply's calls without a result, in order. */
  readonly openCalls: Map<string, { readonly call: ToolCallBlock; started: boolean }>;
  readonly openRequests: Map<string, Interaction>;
  /** Paths that its calls created in the workspace, and those they moved something to. */
  readonly created: Set<string>;
  readonly moved: Set<string>;
  /** Files that the model has seen: a content mark by path, as in `SeenFiles`. */
  readonly seenFiles: Map<string, string>;
  /** Files of the workspace that its calls have changed. */
  readonly changed: Set<string>;
}

/** Replays a log. Throws if it does not start with `session.opened`, which stores never return. */
export function foldLog(events: readonly DurableEvent[], lastSeq = 0): SessionState {
  const [first, ...rest] = events;
  if (first?.type !== "session.opened") throw new Error("a session log begins with session.opened");
  const state: SessionState = {
    id: first.sessionId,
    createdAt: first.at,
    updatedAt: first.at,
    seq: first.seq,
    origins: first.forkOf === undefined ? [] : [first.forkOf.sessionId, ...(first.forkOf.before ?? [])],
    cwd: first.cwd,
    settings: first.settings,
    title: "",
    messages: [],
    view: [],
    measured: undefined,
    standIn: undefined,
    task: [],
    waiting: new Map(),
    usage: noUsage,
    turn: undefined,
    turns: [],
    lastEnd: undefined,
    partial: undefined,
    openCalls: new Map(),
    openRequests: new Map(),
    created: new Set(),
    moved: new Set(),
    seenFiles: new Map(),
    changed: new Set(),
  };
  for (const event of rest) applyEvent(state, event);
  state.seq = Math.max(state.seq, lastSeq);
  return state;
}

/** An independent copy. */
export function copyState(state: SessionState): SessionState {
  return {
    ...state,
    messages: [...state.messages],
    view: [...state.view],
    turns: [...state.turns],
    waiting: new Map(state.waiting),
    partial: state.partial && { ...state.partial, blocks: [...state.partial.blocks] },
    openCalls: new Map([...state.openCalls].map(([id, open]) => [id, { ...open }])),
    openRequests: new Map(state.openRequests),
    created: new Set(state.created),
    moved: new Set(state.moved),
    seenFiles: new Map(state.seenFiles),
    changed: new Set(state.changed),
  };
}

export function applyEvent(state: SessionState, event: DurableEvent): void {
  state.seq = event.seq;
  state.updatedAt = event.at;
  switch (event.type) {
    case "session.opened":
      break;
    case "session.updated":
      updateSettings(state, event.changes);
      if (event.cwd !== undefined) state.cwd = event.cwd;
      break;
    case "session.titled":
      state.title = event.title;
      break;
    case "prompt.accepted":
      state.waiting.set(event.messageId, { content: event.content, at: event.at });
      break;
    case "prompt.discarded":
      state.waiting.delete(event.messageId);
      break;
    case "turn.started":
      state.turn = { id: event.turnId, startedAt: event.at, model: event.model, prompts: event.prompts ?? [] };
      state.turns.push({ from: event.seq });
      // A task goes on in the next turn unless it was finished.
      state.task = state.lastEnd === undefined || isFinished(state.lastEnd) ? [] : state.task.slice(-mostPrompts);
      break;
    case "prompt.taken":
      takePrompt(state, event.messageId, event.reminders);
      break;
    case "message.checkpoint":
      extendPartial(state, event);
      break;
    case "message.ended":
      if (state.turn !== undefined) state.turn = { ...state.turn, hasReply: true };
      endReply(state, event.message);
      break;
    case "usage.updated":
      state.usage = event.total;
      if (event.purpose === undefined && totalTokens(event.call) > 0) {
        state.measured = { messages: state.view.length, tokens: totalTokens(event.call) };
      }
      break;
    case "context.compacted":
      state.view = [...compactedView(state.view, event)];
      state.measured = undefined;
      if (event.summary !== undefined) {
        state.standIn = { messageId: event.summary.message.id, isShortened: event.isShortened === true };
      }
      break;
    case "tool.started": {
      const open = state.openCalls.get(event.callId);
      if (open !== undefined) open.started = true;
      break;
    }
    case "tool.ended":
      addResult(state, event);
      break;
    case "request.opened":
      state.openRequests.set(event.requestId, event.interaction);
      break;
    case "request.closed":
      state.openRequests.delete(event.requestId);
      if (event.changes !== undefined) updateSettings(state, event.changes);
      break;
    case "turn.ended":
      // Answered prompts are not run again, even if a damaged log lost their `prompt.taken`.
      if (state.turn?.hasReply === true) for (const prompt of state.turn.prompts) state.waiting.delete(prompt);
      for (const prompt of event.joined ?? []) state.waiting.delete(prompt);
      state.turn = undefined;
      endTurn(state.turns, event.seq);
      state.lastEnd = event.reason;
      state.partial = undefined;
      state.openCalls.clear();
      // All closed, unless a damaged log lost a record.
      state.openRequests.clear();
      for (const messageId of event.untaken ?? []) state.waiting.delete(messageId);
      break;
    default:
      event satisfies never;
  }
}

/** Prompts of unfinished turns that count as the running task. */
const mostPrompts = 20;

function isFinished(reason: EndReason): boolean {
  return reason === "completed" || reason === "planned" || reason === "refused";
}

function endTurn(turns: SessionState["turns"], seq: number): void {
  const last = turns.pop();
  if (last !== undefined) turns.push({ ...last, to: seq });
}

/** Another model, or other instructions, invalidate the last count. */
function updateSettings(state: SessionState, changes: SettingsChanges): void {
  state.settings = changeSettings(state.settings, changes);
  state.measured = undefined;
}

/** `null` removes a key. */
export function changeSettings(settings: SessionSettings, changes: SettingsChanges): SessionSettings {
  const next: Record<string, unknown> = { ...settings };
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) delete next[key];
    else if (value !== undefined) next[key] = value;
  }
  return next as unknown as SessionSettings;
}

/** The failure of a turn whose process ended first. */
export const processEnded: Failure = { code: "interrupted", message: "The process that ran this turn ended." };

/**
 * The events that close a turn whose process ended: the text so far, a result for every open call, and the turn's end.
 * Interrupted calls are never rerun automatically.
 */
export function closingEvents(state: SessionState, ids: Ids): readonly DurableBody[] {
  if (state.turn === undefined) return [];
  const bodies: DurableBody[] = [];
  if (state.partial !== undefined) {
    const { messageId, blocks, at } = state.partial;
    const message: AssistantMessage = {
      id: messageId,
      role: "assistant",
      content: withinRecord(blocks),
      createdAt: at,
      stop: "interrupted",
      model: state.turn.model,
    };
    bodies.push({ type: "message.ended", message });
  }
  for (const requestId of state.openRequests.keys()) {
    bodies.push({ type: "request.closed", requestId, answer: { kind: "cancel", why: "the process ended" } });
  }
  const last = state.messages.at(-1);
  const messageId = last?.role === "tool" ? last.id : ids.next();
  for (const { call, started } of state.openCalls.values()) {
    const text = started
      ? "Error: Tool execution was interrupted because the process ended. It may have been partly done; check before you retry."
      : "Error: Tool was not run because the process ended.";
    bodies.push({
      type: "tool.ended",
      messageId,
      result: { type: "tool_result", callId: call.id, name: call.name, status: "interrupted", text },
    });
  }
  bodies.push({
    type: "turn.ended",
    turnId: state.turn.id,
    reason: "interrupted",
    failure: processEnded,
    cause: "process_ended",
    usage: noUsage,
    durationMs: Math.max(0, state.updatedAt - state.turn.startedAt),
  });
  return bodies;
}

/** Checkpoints can together exceed one record's limit. Keeps head and tail. */
function withinRecord(blocks: readonly ReplyBlock[]): ReplyBlock[] {
  const texts = blocks.filter((block) => block.type !== "tool_call");
  const most = Math.floor(recordTextLimit / Math.max(1, texts.length));
  return blocks.map((block) =>
    block.type === "tool_call" ? block : { ...block, text: headAndTail(block.text, most, cutShort) },
  );
}

const cutShort = (skipped: number): string => `[... ${skipped} characters were lost when the process ended ...]`;

function takePrompt(state: SessionState, messageId: string, reminders: readonly string[]): void {
  const waiting = state.waiting.get(messageId);
  if (waiting === undefined) return;
  state.waiting.delete(messageId);
  if (state.turn !== undefined && state.turn.hasReply !== true) state.turn = { ...state.turn, promptId: messageId };
  const told = reminders.map((text) => ({ type: "reminder", text }) as const);
  state.task = [...state.task, messageId];
  addMessage(state, { id: messageId, role: "user", content: [...told, ...waiting.content], createdAt: waiting.at });
}

function addMessage(state: SessionState, message: Message): void {
  state.messages.push(message);
  state.view.push(message);
}

function extendPartial(state: SessionState, event: DurableEvent & { type: "message.checkpoint" }): void {
  if (state.partial?.messageId !== event.messageId) {
    state.partial = { messageId: event.messageId, blocks: [], at: event.at };
  }
  const { blocks } = state.partial;
  const block = blocks[event.block];
  if (block === undefined) blocks.push({ type: event.kind, text: event.text });
  else if (block.type !== "tool_call") {
    blocks[event.block] = { ...block, text: block.text.slice(0, event.from) + event.text };
  }
}

function endReply(state: SessionState, message: AssistantMessage): void {
  state.partial = undefined;
  state.openCalls.clear();
  if (message.content.length === 0) return;
  addMessage(state, message);
  for (const call of callsOf(message)) state.openCalls.set(call.id, { call, started: false });
}

function addResult(state: SessionState, event: DurableEvent & { type: "tool.ended" }): void {
  for (const path of event.created ?? []) state.created.add(path);
  for (const path of event.moved ?? []) state.moved.add(path);
  for (const [path, mark] of Object.entries(event.seen ?? {})) state.seenFiles.set(path, mark);
  for (const path of [...(event.created ?? []), ...(event.wrote ?? [])]) state.changed.add(path);
  state.openCalls.delete(event.result.callId);
  const last = state.messages.at(-1);
  if (last?.role === "tool" && last.id === event.messageId) {
    const longer = { ...last, content: [...last.content, event.result] };
    state.messages[state.messages.length - 1] = longer;
    state.view[state.view.length - 1] = longer;
  } else {
    addMessage(state, { id: event.messageId, role: "tool", content: [event.result], createdAt: event.at });
  }
}
