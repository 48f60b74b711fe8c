import type { TurnEvent } from "../types.ts";
import { forgetOldest } from "./repeats.ts";
import type { TurnWatch } from "./turn-end.ts";

/** Limit per kind. */
const mostKept = 64;

/** Unfinished messages and calls of earlier turns, whose late parts must not count for the running turn. */
export function createLeftovers() {
  const messages = new Set<string>();
  const calls = new Set<string>();

  /** Events that name no message belong to the running turn. */
  const isOfMessage = (id: string | undefined): boolean => Boolean(id) && messages.has(id ?? "");

  /** A call of this turn can reuse an id. */
  function noteCalls(event: TurnEvent): void {
    if (event.type !== "message" || isOfMessage(event.message.id)) return;
    for (const block of event.message.content) if (block.type === "tool_use") calls.delete(block.id);
  }

  return {
    /** A turn is over. */
    note({ unfinished, openCalls }: Pick<TurnWatch, "unfinished" | "openCalls">): void {
      for (const id of unfinished) messages.add(id);
      for (const id of openCalls) calls.add(id);
      forgetOldest(messages, mostKept);
      forgetOldest(calls, mostKept);
    },
    /** Filters one notification's events for the running turn. */
    without(events: readonly TurnEvent[]): readonly TurnEvent[] {
      if (messages.size + calls.size === 0) return events;
      for (const event of events) noteCalls(event);
      // The call itself can come with its result.
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
