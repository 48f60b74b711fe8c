import type { Failure } from "../errors.ts";
import type { DurableBody, DurableEvent, EngineEvent } from "../event.ts";
import { type AssistantMessage, callsOf } from "../message.ts";
import type { LogDamage, SessionStore, StoredLog } from "../ports.ts";
import { applyEvent, foldLog, type SessionState } from "./history.ts";

/** The failure of a turn whose answer is unreadable. */
export const answerLost: Failure = {
  code: "storage_failed",
  message: "Part of this answer was lost: the session log is damaged.",
};

/** Lines, and ranges of records, named in a notice. */
const mostNamed = 10;

/** The notice about a damaged log; `undefined` for a healthy one. */
export function damageNotice({ damagedLines, missingRecords }: LogDamage): string | undefined {
  const words = [...skippedWords(damagedLines), ...missingWords(missingRecords)];
  return words.length === 0 ? undefined : words.join(" ");
}

function skippedWords(lines: LogDamage["damagedLines"]): readonly string[] {
  if (lines.length === 0) return [];
  const what = lines.length === 1 ? "1 damaged line" : `${lines.length} damaged lines`;
  return [`${what} of the session log skipped (line ${listed(lines)}).`];
}

function missingWords(ranges: LogDamage["missingRecords"]): readonly string[] {
  if (ranges.length === 0) return [];
  const isOne = ranges.length === 1 && ranges.every(({ from, to }) => from === to);
  const named = listed(ranges.map(({ from, to }) => (from === to ? from : `${from}-${to}`)));
  return [`${isOne ? "Record" : "Records"} ${named} of the session log ${isOne ? "is" : "are"} missing.`];
}

function listed(items: readonly (number | string)[]): string {
  return `${items.slice(0, mostNamed).join(", ")}${items.length > mostNamed ? ", …" : ""}`;
}

export function damageNotices(
  damage: LogDamage,
  of: { readonly at: number; readonly sessionId: string },
): readonly EngineEvent[] {
  const text = damageNotice(damage);
  return text === undefined ? [] : [{ type: "notice", level: "warning", text, ...of }];
}

/** Reads a log and restores records lost to damaged and deleted lines. Rejects as `store.read` does. */
export async function readRepaired(store: SessionStore, id: string): Promise<StoredLog> {
  const log = await store.read(id);
  return isWhole(log) ? log : { ...log, events: repairLog(log.events) };
}

/** The events after a seq. A damaged log is read completely, because repairs need all of it. */
export async function readRepairedAfter(
  store: SessionStore,
  { id, after, before }: { readonly id: string; readonly after: number; readonly before: LogDamage },
): Promise<readonly DurableEvent[]> {
  const tail = isWhole(before) ? await store.read(id, after) : undefined;
  if (tail !== undefined && isWhole(tail)) return tail.events;
  const { events } = await readRepaired(store, id);
  return events.filter(({ seq }) => seq > after);
}

/** Whether nothing was lost. */
export function isWhole({ damagedLines, missingRecords }: LogDamage): boolean {
  return damagedLines.length === 0 && missingRecords.length === 0;
}

/**
 * Restores records that must have been in a damaged log, with the missing seqs: a turn's start, its prompt, and a reply as
 * far as its checkpoints go. A turn without its last reply counts as failed.
 */
function repairLog(events: readonly DurableEvent[]): readonly DurableEvent[] {
  const [first, ...rest] = events;
  if (first === undefined) return events;
  const state = foldLog([first]);
  const repaired = [first];
  let reply: AssistantMessage | undefined;
  const add = (event: DurableEvent): void => {
    if (event.type === "turn.started") reply = undefined;
    if (event.type === "message.ended") reply = event.message;
    applyEvent(state, event);
    repaired.push(event);
  };
  for (const event of rest) {
    const { at, sessionId, turnId } = event;
    for (
      let body = missingBefore(event, state);
      body && state.seq + 1 < event.seq;
      body = missingBefore(event, state)
    ) {
      add({ at, sessionId, ...(turnId === undefined ? {} : { turnId }), seq: state.seq + 1, ...body });
    }
    const isCut = event.type === "turn.ended" && event.reason === "completed" && !isFinal(reply);
    add(isCut ? { ...event, reason: "failed", failure: answerLost } : event);
  }
  return repaired;
}

/** Whether a record proves that its turn has started. The others also occur between turns. */
const isOfTurn: { readonly [Type in DurableBody["type"]]: boolean } = {
  "session.opened": true,
  "session.updated": false,
  "session.titled": true,
  "prompt.accepted": false,
  "prompt.discarded": false,
  // It is the start itself.
  "turn.started": false,
  "prompt.taken": true,
  "message.checkpoint": true,
  "message.ended": true,
  "usage.updated": true,
  // A client can request it between turns.
  "context.compacted": false,
  "tool.started": true,
  "tool.ended": true,
  "request.opened": true,
  "request.closed": true,
  "turn.ended": true,
};

function missingBefore(event: DurableEvent, state: SessionState): DurableBody | undefined {
  const { turn, partial, waiting, settings } = state;
  const { turnId, type } = event;
  if (turnId === undefined || !isOfTurn[type]) return undefined;
  if (turn === undefined) return { type: "turn.started", turnId, model: settings.modelId };
  const isTaking = type === "prompt.taken" || (type === "turn.ended" && event.untaken !== undefined);
  const named = turn.prompts.find((prompt) => waiting.has(prompt));
  const isNameless = turn.prompts.length === 0 && turn.promptId === undefined;
  const taken = named ?? (isNameless ? waiting.keys().next().value : undefined);
  if (turn.hasReply !== true && !isTaking && taken !== undefined) {
    return { type: "prompt.taken", messageId: taken, reminders: [] };
  }
  // A title can be given at any time.
  if (partial === undefined || type === "session.titled" || messageOf(event) === partial.messageId) return undefined;
  const { messageId: id, blocks: content, at: createdAt } = partial;
  const message: AssistantMessage = {
    id,
    role: "assistant",
    content,
    createdAt,
    stop: "interrupted",
    model: turn.model,
  };
  return { type: "message.ended", message };
}

/** The reply that a record belongs to. */
function messageOf(event: DurableEvent): string | undefined {
  if (event.type === "message.checkpoint") return event.messageId;
  return event.type === "message.ended" ? event.message.id : undefined;
}

function isFinal(reply: AssistantMessage | undefined): boolean {
  if (reply === undefined || reply.stop === "length" || reply.stop === "interrupted") return false;
  return callsOf(reply).length === 0;
}
