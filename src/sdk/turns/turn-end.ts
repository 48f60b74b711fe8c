import { type Fields, textOf } from "../../text/values.ts";
import type { TurnError, TurnEvent, TurnResult } from "../types.ts";
import { usageOf } from "../wire.ts";
import { forgetOldest } from "./forget-oldest.ts";
import { handleTurnEvent, ignored, type TurnEventHandlers, type TurnEventOf } from "./turn-event-handlers.ts";

/**
 * Watches one turn for its end. New backends say it (`agent_turn_completed`), old ones only say that they are idle, and some
 * say so before the last message, or twice, or late: an idle that belongs to the turn before must not end this one.
 */
export interface TurnWatch {
  /** A notification of the session while the turn runs, and what it was translated to. */
  see(notification: Fields, events: readonly TurnEvent[]): void;
  /** The user's wish, or the answer to a question, will be why it ends. */
  noteInterrupt(): void;
  noteRefusal(): void;
  /** It asks something, and so is not at its end, whatever it said. */
  noteQuestion(): void;
  /** The backend answered the prompt with an error after it had accepted it. */
  noteFailure(error: TurnError): void;
  /** Anything of this turn was seen. */
  readonly isAlive: boolean;
  /** `held`: it has ended, but its last message has not come. It is waited for only a moment. */
  readonly phase: "running" | "held" | "over";
  /** Messages that were begun, and have not come. */
  readonly unfinished: Iterable<string>;
  /** Calls that have no result. */
  readonly openCalls: Iterable<string>;
  /** `unfinished` is the text of a message that did not come. */
  result(unfinished: string | undefined): TurnResult;
}

/** However many a backend begins, the last of them are those that may come. */
const mostBegun = 256;

const interruptedReasons = new Set(["cancelled", "permission_rejected"]);
const completedReasons = new Set(["completed", "spec_handoff"]);

export function createTurnWatch(turnId: string): TurnWatch {
  /** By which names the backend may call the turn. */
  const names = new Set([turnId]);
  /** Messages of which pieces came, and the whole did not. */
  const begun = new Set<string>();
  /** Those of them that may come yet: the others were given up for one that was begun later. */
  const open = new Set<string>();
  const calls = new Set<string>();
  let isAlive = false;
  let isPromptSeen = false;
  let isIdle = false;
  let end: Fields | undefined;
  let text = "";
  let error: TurnError | undefined;
  /** Messages that were begun when it went wrong: one of them that comes, and nothing else, does not make it well. */
  const cutShort = new Set<string>();
  let hasFailed = false;
  /** A reply is expected after the state, its pieces or a tool's result, and its message has not come. */
  let isReplyDue = false;
  let stop: "interrupted" | "permission_rejected" | undefined;

  /** A piece of a message; of one that came whole it is no new attempt. */
  function seePiece({ messageId }: TurnEventOf<"text" | "thinking">, isOfWhole: boolean): void {
    if (!isOfWhole) cutShort.clear();
    for (const ids of [begun, open]) {
      ids.add(messageId);
      forgetOldest(ids, mostBegun);
    }
    isReplyDue = true;
    wentOn();
    isAlive = true;
  }

  function seeCall({ id }: TurnEventOf<"tool_input" | "tool_call">): void {
    calls.add(id);
    forgetOldest(calls, mostBegun);
    isAlive = true;
  }

  /** Before anything of the turn was seen, it may be one of the turn before. */
  function seeError(event: TurnEventOf<"error">): void {
    error = event.error;
    for (const id of begun) cutShort.add(id);
    isReplyDue = open.size > 0;
  }

  const handlersFor = (isOfWhole: boolean): TurnEventHandlers => ({
    text: (event) => seePiece(event, isOfWhole),
    text_reset: ignored,
    thinking: (event) => seePiece(event, isOfWhole),
    message: seeMessage,
    tool_input: seeCall,
    tool_call: seeCall,
    tool_progress: () => {
      isAlive = true;
    },
    tool_result: ({ id }) => {
      calls.delete(id);
      // After a refusal many call it a day.
      if (stop === undefined) isReplyDue = true;
      isAlive = true;
    },
    // As it was told, news or not: see `seeState`.
    state: ignored,
    usage: ignored,
    settings: ignored,
    title: ignored,
    retry: () => {
      cutShort.clear();
      isAlive = true;
    },
    notice: ignored,
    error: seeError,
    other: ignored,
    end: ignored,
  });
  const ofWholes = handlersFor(true);
  const ofPieces = handlersFor(false);

  /** As it was told, be it news or not: a backend may be idle at the end of each turn, and never say that it is busy. */
  function seeState(state: unknown): void {
    if (state === "idle") {
      // Before anything of the turn was seen, it is the idle of the one before.
      isIdle = isAlive;
    } else if (typeof state === "string") {
      isIdle = false;
      cutShort.clear();
      isReplyDue = state === "streaming_assistant_message" || open.size > 0;
      isAlive = true;
    }
  }

  /** The turn was not ended by a refusal, after all. */
  function wentOn(): void {
    if (stop === "permission_rejected") stop = undefined;
  }

  function seeMessage({ message, text: all }: Extract<TurnEvent, { type: "message" }>): void {
    if (message.role !== "assistant") {
      if (message.role === "user" && !isPromptSeen) names.add(message.id);
      isPromptSeen ||= message.role === "user";
      if (message.id === turnId) isAlive = true;
      // Said to the model within the turn, as when its reply was cut short: it has to reply to that.
      if (isAlive) isReplyDue = true;
      return;
    }
    isAlive = true;
    begun.delete(message.id);
    for (const each of open) {
      open.delete(each);
      if (each === message.id) break;
    }
    isReplyDue = open.size > 0;
    if (all !== "") text = all;
    // It went on after what went wrong.
    if (!cutShort.has(message.id)) error = undefined;
    wentOn();
  }

  function seeEnd(given: Fields): void {
    const name = textOf(given.turnId);
    if (name === undefined ? !isAlive : !names.has(name)) return;
    end = given;
  }

  return {
    see(notification, events) {
      if (notification.type === "droid_working_state_changed") seeState(notification.newState);
      const handlers = notification.type === "create_message" ? ofWholes : ofPieces;
      for (const event of events) handleTurnEvent(handlers, event);
      if (notification.type === "agent_turn_completed") seeEnd(notification);
    },
    noteInterrupt: () => {
      stop = "interrupted";
    },
    noteRefusal: () => {
      stop ??= "permission_rejected";
    },
    noteQuestion: () => {
      isAlive = true;
      isIdle = false;
    },
    noteFailure: (failure) => {
      error = failure;
      hasFailed = true;
    },
    get isAlive() {
      return isAlive;
    },
    get phase() {
      if (hasFailed) return "over";
      if (end === undefined && !isIdle) return "running";
      const isStopped = stop === "interrupted" || end?.reason === "permission_rejected";
      return isReplyDue && !isStopped ? "held" : "over";
    },
    unfinished: begun,
    openCalls: calls,
    result(unfinished) {
      const reason = textOf(end?.reason) ?? stop ?? (error === undefined ? "completed" : "error");
      const usage = usageOf(end?.tokenUsage);
      const status = statusOf(reason);
      return {
        status,
        reason,
        text: unfinished ?? text,
        turnId,
        ...(usage !== undefined && { usage }),
        ...(status === "failed" && { error: error ?? { message: `The turn ended with ${reason}.` } }),
      };
    },
  };
}

function statusOf(reason: string): TurnResult["status"] {
  if (completedReasons.has(reason)) return "completed";
  return interruptedReasons.has(reason) || reason === "interrupted" ? "interrupted" : "failed";
}
