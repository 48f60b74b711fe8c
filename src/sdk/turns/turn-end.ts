import { type Fields, textOf } from "../../text/values.ts";
import type { TurnError, TurnEvent, TurnResult } from "../types.ts";
import { usageOf } from "../wire.ts";
import { forgetOldest } from "./repeats.ts";
import { handleTurnEvent, ignored, type TurnEventHandlers, type TurnEventOf } from "./turn-event-handlers.ts";

/** Limit for messages and calls that were begun and not finished; the oldest are forgotten. */
const mostBegun = 256;

const interruptedReasons = new Set(["cancelled", "permission_rejected"]);
const completedReasons = new Set(["completed", "spec_handoff"]);

export type TurnWatch = ReturnType<typeof createTurnWatch>;

/**
 * Watches one turn for its end. New backends report it (`agent_turn_completed`); old ones only become idle, some of them
 * before the last message, twice, or late: an idle of the previous turn must not end this one.
 */
export function createTurnWatch(turnId: string) {
  /** The backend's possible names for the turn. */
  const names = new Set([turnId]);
  /** Messages that have streamed and not been completed. */
  const begun = new Set<string>();
  /** Those of them that can still be completed: the others were abandoned for a later one. */
  const open = new Set<string>();
  const calls = new Set<string>();
  let isAlive = false;
  let isPromptSeen = false;
  let isIdle = false;
  let end: Fields | undefined;
  let text = "";
  let error: TurnError | undefined;
  /** Messages that were streaming when an error came: completing one of them alone does not clear the error. */
  const cutShort = new Set<string>();
  let hasFailed = false;
  /** A reply was announced by a state, a delta or a tool's result, and its message has not come. */
  let isReplyDue = false;
  /** The current events arrived with a complete message. */
  let isOfWhole = false;
  let stop: "interrupted" | "permission_rejected" | undefined;

  /** A delta is a new attempt, unless it comes with its complete message. */
  function seePiece({ messageId }: TurnEventOf<"text" | "thinking">): void {
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

  /** Before the turn is alive, it may belong to the previous one. */
  function seeError(event: TurnEventOf<"error">): void {
    error = event.error;
    for (const id of begun) cutShort.add(id);
    isReplyDue = open.size > 0;
  }

  const handlers: TurnEventHandlers = {
    text: seePiece,
    text_reset: ignored,
    thinking: seePiece,
    message: seeMessage,
    tool_input: seeCall,
    tool_call: seeCall,
    tool_progress: () => {
      isAlive = true;
    },
    tool_result: ({ id }) => {
      calls.delete(id);
      // After a refusal many backends end the turn.
      if (stop === undefined) isReplyDue = true;
      isAlive = true;
    },
    // Read from the notification, see `seeState`.
    state: ignored,
    usage: ignored,
    settings: ignored,
    title: ignored,
    retry: () => {
      cutShort.clear();
      isAlive = true;
    },
    notice: ignored,
    mcp_servers: ignored,
    sign_in_required: ignored,
    sign_in_ended: ignored,
    error: seeError,
    other: ignored,
    end: ignored,
  };

  /** Repeated states count as well: a backend may be idle at the end of each turn and never say that it is busy. */
  function seeState(state: unknown): void {
    if (state === "idle") {
      // Before the turn is alive, it is the idle of the previous one.
      isIdle = isAlive;
    } else if (typeof state === "string") {
      isIdle = false;
      cutShort.clear();
      isReplyDue = state === "streaming_assistant_message" || open.size > 0;
      isAlive = true;
    }
  }

  /** The refusal did not end the turn. */
  function wentOn(): void {
    if (stop === "permission_rejected") stop = undefined;
  }

  function seeMessage({ message, text: all }: Extract<TurnEvent, { type: "message" }>): void {
    if (message.role !== "assistant") {
      if (message.role === "user" && !isPromptSeen) names.add(message.id);
      isPromptSeen ||= message.role === "user";
      if (message.id === turnId) isAlive = true;
      // Sent to the model within the turn, for example after a truncated reply: another reply follows.
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
    // The turn continued after the error.
    if (!cutShort.has(message.id)) error = undefined;
    wentOn();
  }

  function seeEnd(given: Fields): void {
    const name = textOf(given.turnId);
    if (name === undefined ? !isAlive : !names.has(name)) return;
    end = given;
  }

  return {
    /** `events`: the notification's translation. */
    see(notification: Fields, events: readonly TurnEvent[]): void {
      if (notification.type === "droid_working_state_changed") seeState(notification.newState);
      isOfWhole = notification.type === "create_message";
      for (const event of events) handleTurnEvent(handlers, event);
      if (notification.type === "agent_turn_completed") seeEnd(notification);
    },
    noteInterrupt(): void {
      stop = "interrupted";
    },
    noteRefusal(): void {
      stop ??= "permission_rejected";
    },
    /** A turn that asks a question is not over, despite any reported end. */
    noteQuestion(): void {
      isAlive = true;
      isIdle = false;
    },
    /** The backend accepted the prompt, then answered it with an error. */
    noteFailure(failure: TurnError): void {
      error = failure;
      hasFailed = true;
    },
    /** Whether anything of this turn was seen. */
    get isAlive() {
      return isAlive;
    },
    /** `held`: it has ended, but its last message is missing and awaited for a moment. */
    get phase(): "running" | "held" | "over" {
      if (hasFailed) return "over";
      if (end === undefined && !isIdle) return "running";
      const isStopped = stop === "interrupted" || end?.reason === "permission_rejected";
      return isReplyDue && !isStopped ? "held" : "over";
    },
    /** Messages that have streamed and not been completed. */
    unfinished: begun as Iterable<string>,
    /** Calls without a result. */
    openCalls: calls as Iterable<string>,
    /** `unfinished`: text of a message that was not completed. */
    result(unfinished: string | undefined): TurnResult {
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
