import { type Fields, fieldsOf, textOf } from "../../text/values.ts";
import { forgetOldest } from "./repeats.ts";

/** Another client's turn, or one of ours that its caller has abandoned. */
type OtherTurn = "foreign" | "left behind";

/** A prompt of ours that was sent. */
export interface SentPrompt {
  readonly id: string;
  readonly requestId: string | undefined;
  isPromptSeen: boolean;
  /** Its turn begins only now; earlier events belong to another one. */
  begin(): void;
}

const mostRemembered = 64;

/** Turns that are not ours. At most one runs; a prompt of ours that was sent waits behind it. */
export function createOtherTurns() {
  const names = new Map<string, OtherTurn>();
  let last: OtherTurn | "ours" = "ours";
  let atWork: OtherTurn | undefined;

  /** A prompt whose turn can still come, by the id of its message or request. */
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
    // Possibly another client of the session.
    else if (!isExpected && atWork === undefined) last = "foreign";
  }

  return {
    note,
    begin,
    forget(whose: OtherTurn): void {
      if (atWork === whose) atWork = undefined;
    },
    /** A turn of ours has ended as its caller wanted. */
    noteWanted(): void {
      last = "ours";
    },
    /** A prompt of ours is abandoned. */
    leave({ id, requestId }: SentPrompt, isAtWork: boolean): void {
      note(id, "left behind");
      note(requestId, "left behind");
      last = "left behind";
      if (isAtWork) atWork = last;
    },
    /** Whether a notification belongs to one of them, while `waiting` is a sent prompt of ours. */
    see(notification: Fields, waiting: SentPrompt | undefined): boolean {
      const { id, role } = fieldsOf(notification.message);
      const { requestId, turnId } = notification;
      const isPrompt = notification.type === "create_message" && role === "user";
      const isOfRequest = isPrompt && requestId !== undefined && requestId === waiting?.requestId;
      const isOwn = waiting !== undefined && (id === waiting.id || turnId === waiting.id || isOfRequest);
      if (isOwn) waiting.isPromptSeen = true;
      // A prompt that joins our turn is part of it.
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
    /** Without a running prompt of ours, questions come from the turn that ran last. */
    get isLastUnwanted() {
      return last === "left behind";
    },
  };
}

function isIdle({ type, newState }: Fields): boolean {
  return type === "droid_working_state_changed" && newState === "idle";
}
