import type { TurnEvent } from "../types.ts";
import { forgetOldest } from "./forget-oldest.ts";
import type { TurnWatch } from "./turn-end.ts";

/** What turns have begun and not finished: when the rest of it comes, it is not of the turn that runs by then. */
export interface Leftovers {
  /** A turn is over. */
  note(watch: Pick<TurnWatch, "unfinished" | "openCalls">): void;
  /** Those of the running turn, among what one notification tells. */
  without(events: readonly TurnEvent[]): readonly TurnEvent[];
}

/** Of each kind. */
const mostKept = 64;

export function createLeftovers(): Leftovers {
  const messages = new Set<string>();
  const calls = new Set<string>();

  /** What names no message belongs to the turn that runs. */
  const isOfMessage = (id: string | undefined): boolean => Boolean(id) && messages.has(id ?? "");

  /** An id may be used again by a call of this turn. */
  function noteCalls(event: TurnEvent): void {
    if (event.type !== "message" || isOfMessage(event.message.id)) return;
    for (const block of event.message.content) if (block.type === "tool_use") calls.delete(block.id);
  }

  return {
    note({ unfinished, openCalls }) {
      for (const id of unfinished) messages.add(id);
      for (const id of openCalls) calls.add(id);
      forgetOldest(messages, mostKept);
      forgetOldest(calls, mostKept);
    },
    without(events) {
      if (messages.size + calls.size === 0) return events;
      for (const event of events) noteCalls(event);
      // The call itself may be told with it.
      const lateCalls = events.flatMap((event) =>
        (event.type === "tool_result" || event.type === "tool_progress") && calls.has(event.id) ? [event.id] : [],
      );
      return events.filter(
        (event) => !isOfMessage(messageIdOf(event)) && !("id" in event && lateCalls.includes(event.id)),
      );
    },
  };
}

function messageIdOf(event: TurnEvent): string | undefined {
  if (event.type === "message") return event.message.id;
  return "messageId" in event ? event.messageId : undefined;
}
