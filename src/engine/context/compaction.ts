import type { CompactionTrigger, EventOf } from "../event.ts";
import type { SessionState } from "../log/history.ts";
import type { Message, UserMessage } from "../message.ts";
import { type KeptOfCall, keptTexts, shortenOldest } from "./kept.ts";
import { listOfSteps, standIn } from "./notes.ts";
import { fitResults, type Pruned, prune, tokensOf, withinTokens, withoutMedia } from "./prune.ts";
import { textTokens } from "./tokens.ts";

export type CompactedBody = Omit<EventOf<"context.compacted">, "at" | "sessionId" | "seq" | "turnId">;

export interface CompactionParts {
  readonly state: SessionState;
  readonly trigger: CompactionTrigger;
  /** Tokens of the model's window. */
  readonly window: number;
  /** Tokens of a request without messages: the system prompt and the tools. */
  readonly fixed: number;
  /** Limit for a request in tokens. */
  readonly limit: number;
  /** Id of the stand-in message, if any. */
  readonly own: Pick<UserMessage, "id" | "createdAt">;
  readonly instructions: readonly string[];
  readonly ofCall: KeptOfCall;
  /** The model's notes of the view, or of a shorter version; `undefined` without any. */
  summarise(view: readonly Message[]): Promise<string | undefined>;
  /** The summary was useless. */
  gainedNothing(): void;
}

/** Shares of the room for messages: unchanged ones, the notes, and verbatim text. */
const shares = { tail: 0.25, notes: 0.15, kept: 0.45 };

/** Pruning alone is enough if messages then take at most this share of their room. */
const prunedEnough = 0.6;
/** A summary must leave less than this share of the old view, unless it is small. */
const gain = 0.9;
const smallSummary = 4_000;

/** With less than this after a summary, another one is not worth the lost details. */
const leastNews = 200;

/** Whether the view is a summary with almost nothing after it. */
export function isJustCompacted({ standIn, view: [first, ...rest] }: SessionState): boolean {
  return standIn !== undefined && first?.id === standIn.messageId && tokensOf(rest) < leastNews;
}

/** Removes old images and files; if there are none, those of the task too. `undefined` if only the newest has any. */
export function compactMedia(parts: Pick<CompactionParts, "state" | "trigger" | "fixed">): CompactedBody | undefined {
  const { view } = parts.state;
  const end = tailStart(view, 0);
  const pruned = [withoutMedia(view, end, parts.state.task), withoutMedia(view, end)].find(
    ({ results, media }) => results.length > 0 || media.length > 0,
  );
  return pruned && prunedBody(parts, pruned);
}

/**
 * Makes room in the model's view: shortens old results, or replaces old messages by notes. `undefined` if nothing can
 * be removed.
 */
export async function compact(parts: CompactionParts): Promise<CompactedBody | undefined> {
  const { state, trigger } = parts;
  const { view } = state;
  const room = Math.max(0, parts.limit - parts.fixed);
  const before = tokensOf(view);
  // A user who requests it wants a fresh start.
  const end = trigger === "user" ? view.length : tailStart(view, room * shares.tail);
  const pruned = prune(view, end);
  // What the user attached to the running task cannot be read again.
  const withTask = prune(view, end, state.task);
  const shorter = trigger === "user" ? undefined : (shortEnough(withTask, end, room) ?? shortEnough(pruned, end, room));
  if (shorter !== undefined) return prunedBody(parts, shorter);
  const notes = await parts.summarise(view);
  const isGain = (after: number): boolean =>
    after <= room && (after <= before * gain || (trigger === "user" && after <= smallSummary));
  const summarised = notes === undefined ? undefined : withNotes(parts, pruned, { end, room, notes });
  if (summarised !== undefined && isGain(tokensOf(summarised.view))) return summarised.body;
  if (summarised !== undefined) parts.gainedNothing();
  const listed = withNotes(parts, pruned, { end, room, notes: undefined });
  return tokensOf(listed.view) < before || trigger === "user" ? listed.body : undefined;
}

/** Without a summary: removes old results and, if nearly everything is new, cuts the new ones. */
function shortEnough(pruned: Pruned, end: number, room: number): Pruned | undefined {
  const most = room * prunedEnough;
  const isShorter = pruned.results.length > 0 || pruned.media.length > 0;
  if (isShorter && tokensOf(pruned.view) <= most) return pruned;
  const old = tokensOf(pruned.view.slice(0, end));
  if (old > room * shares.tail) return undefined;
  const { view, results } = fitResults(pruned.view, end, most - old);
  if (results.length === 0 || tokensOf(view) > room) return undefined;
  return { ...pruned, view, results: [...pruned.results, ...results] };
}

/**
 * Where the newest messages of about this many tokens start: at least the last reply with its results, never between
 * them.
 */
function tailStart(view: readonly Message[], most: number): number {
  let start = view.length;
  let tokens = 0;
  for (let at = view.length - 1; at >= 0; at -= 1) {
    const message = view[at];
    if (message === undefined) break;
    tokens += tokensOf([message]);
    if (start < view.length && tokens > most) break;
    if (message.role !== "tool") start = at;
  }
  return start;
}

function prunedBody(
  parts: Pick<CompactionParts, "state" | "trigger" | "fixed">,
  { view, results, media }: Pruned,
): CompactedBody {
  const tokens = { tokensBefore: parts.fixed + tokensOf(parts.state.view), tokensAfter: parts.fixed + tokensOf(view) };
  return { type: "context.compacted", trigger: parts.trigger, results, media, ...tokens };
}

interface Planned {
  readonly body: CompactedBody;
  readonly view: readonly Message[];
}

/** Notes in place of the messages before `end`, or a list of steps without notes. Cuts the rest if it still does not fit. */
function withNotes(
  parts: CompactionParts,
  pruned: Pruned,
  { end, room, notes }: { readonly end: number; readonly room: number; readonly notes: string | undefined },
): Planned {
  const first = standInFor(parts, end, room, notes);
  const fitted = fitResults(pruned.view, end, room - tokensOf([first.message]));
  const total = tokensOf([first.message, ...fitted.view.slice(end)]);
  if (total <= room) return planned(parts, first, fitted, end);
  // The last reply alone is too large, so only an unanswered prompt stays.
  const last = parts.state.view.at(-1);
  const later = last?.role === "user" ? parts.state.view.length - 1 : parts.state.view.length;
  const left = room - tokensOf(parts.state.view.slice(later));
  return planned(parts, standInFor(parts, later, left, notes), { view: pruned.view, results: [], media: [] }, later);
}

interface StandIn {
  readonly message: UserMessage;
  readonly isShortened: boolean;
}

function standInFor(parts: CompactionParts, end: number, room: number, notes: string | undefined): StandIn {
  const { state, window, own } = parts;
  const [old, rest] = [state.view.slice(0, end), state.view.slice(end)];
  const texts = keptTexts(state, rest, parts);
  const kept = shortenOldest(texts, Math.floor(Math.min(window / 3, room * shares.kept)));
  const most = Math.max(
    Math.floor(room * shares.notes),
    Math.floor(room * (shares.notes + shares.kept)) - kept.texts.reduce((sum, text) => sum + textTokens(text), 0),
  );
  const words = notes === undefined ? listOfSteps(old, most) : withinTokens(notes, most);
  return { message: standIn(words, kept.texts, own), isShortened: kept.isShortened };
}

function planned(parts: CompactionParts, { message, isShortened }: StandIn, shorter: Pruned, end: number): Planned {
  const { state, fixed, trigger } = parts;
  const rest = shorter.view.slice(end);
  const through = state.view[end - 1]?.id;
  const view = through === undefined ? rest : [message, ...rest];
  // Text that was shortened before `end` has left the view.
  const staying = new Set(rest.map(({ id }) => id));
  const results = shorter.results.filter(({ messageId }) => staying.has(messageId));
  return {
    view,
    body: {
      type: "context.compacted",
      trigger,
      results,
      media: [],
      ...(through === undefined ? {} : { summary: { message, through, removed: end } }),
      ...(isShortened ? { isShortened } : {}),
      tokensBefore: fixed + tokensOf(state.view),
      tokensAfter: fixed + tokensOf(view),
    },
  };
}
