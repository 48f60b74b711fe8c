import { type Fields, fieldsOf, textOf } from "../../text/values.ts";
import { forgetOldest } from "./forget-oldest.ts";

/** A turn of somebody else, who wants it; or one that was ours, and that nobody wants any more. */
export type OtherTurn = "foreign" | "left behind";

/** Turns that are none of ours. At most one is at work; a prompt of ours that was sent waits behind it. */
export interface OtherTurns {
  /** A prompt that may be run yet, by the id of its message, or of its request. */
  note(name: string | undefined, whose: OtherTurn): void;
  begin(whose: OtherTurn): void;
  /** There was none of these, after all. */
  forget(whose: OtherTurn): void;
  /** A turn of ours has ended: in the end, somebody wanted it. */
  noteWanted(): void;
  /** Nobody wants that prompt of ours any more; whether its turn goes on. */
  leave(prompt: SentPrompt, isAtWork: boolean): void;
  /** Whether this is said within one of them, with that prompt of ours waiting. */
  see(notification: Fields, waiting: SentPrompt | undefined): boolean;
  readonly atWork: OtherTurn | undefined;
  /** What is asked when no prompt of ours is out, or one waits, is asked by the turn that was at work last. */
  readonly isLastUnwanted: boolean;
}

/** A prompt of ours that went out. */
export interface SentPrompt {
  readonly id: string;
  /** Of the request that it went out with. */
  readonly requestId: string | undefined;
  isPromptSeen: boolean;
  /** What was seen of its turn until now was not of it. */
  begin(): void;
}

const mostRemembered = 64;

export function createOtherTurns(): OtherTurns {
  const names = new Map<string, OtherTurn>();
  let last: OtherTurn | "ours" = "ours";
  let atWork: OtherTurn | undefined;

  function note(name: string | undefined, whose: OtherTurn): void {
    if (name !== undefined) names.set(name, whose);
    forgetOldest(names, mostRemembered);
  }

  function begin(whose: OtherTurn): void {
    last = whose;
    atWork = whose;
  }

  function seePrompt(prompt: readonly unknown[], isExpected: boolean): void {
    const whose = prompt.map((name) => names.get(textOf(name) ?? "")).find((each) => each !== undefined);
    if (whose !== undefined) begin(whose);
    // Of somebody at another end of the session, perhaps.
    else if (!isExpected && atWork === undefined) last = "foreign";
  }

  return {
    note,
    begin,
    forget(whose) {
      if (atWork === whose) atWork = undefined;
    },
    noteWanted() {
      last = "ours";
    },
    leave({ id, requestId }, isAtWork) {
      note(id, "left behind");
      note(requestId, "left behind");
      last = "left behind";
      if (isAtWork) atWork = last;
    },
    see(notification, waiting) {
      const { id, role } = fieldsOf(notification.message);
      const { requestId, turnId } = notification;
      const isPrompt = notification.type === "create_message" && role === "user";
      const isOfRequest = isPrompt && requestId !== undefined && requestId === waiting?.requestId;
      const isOwn = waiting !== undefined && (id === waiting.id || turnId === waiting.id || isOfRequest);
      if (isOwn) waiting.isPromptSeen = true;
      // One that is said into our turn is part of it.
      if (isPrompt && waiting?.isPromptSeen !== true) seePrompt([id, requestId], waiting !== undefined);
      if (atWork === undefined) return false;
      if (isOwn || isIdle(notification) || notification.type === "agent_turn_completed") {
        atWork = undefined;
        waiting?.begin();
      }
      return !isOwn;
    },
    get atWork() {
      return atWork;
    },
    get isLastUnwanted() {
      return last === "left behind";
    },
  };
}

function isIdle({ type, newState }: Fields): boolean {
  return type === "droid_working_state_changed" && newState === "idle";
}
