import type { DurableEvent, EventOf } from "../../engine/event.ts";

/** A record of an older version as this one would have written it. */
export function ofThisVersion(event: DurableEvent): DurableEvent {
  return event.type === "turn.ended" ? withCause(event) : event;
}

/** Frozen: older versions said only in these words that the process had ended. */
const processEnded = "The process that ran this turn ended.";

function withCause(event: EventOf<"turn.ended">): DurableEvent {
  const { cause, reason, failure } = event;
  if (cause !== undefined || reason !== "interrupted" || failure?.message !== processEnded) return event;
  return { ...event, cause: "process_ended" };
}
