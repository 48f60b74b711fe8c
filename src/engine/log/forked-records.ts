import type { DurableBody, DurableEvent, EventOf } from "../event.ts";

type Waiting = ReadonlyMap<string, unknown>;

/** `undefined`: the fork drops it. */
type Copy<Type extends DurableBody["type"]> = (event: EventOf<Type>, waiting: Waiting) => DurableEvent | undefined;

const asItIs = (event: DurableEvent): DurableEvent => event;
/** A fork has its own opening and its own settings. */
const leftOut = (): undefined => undefined;

const copies: { readonly [Type in DurableBody["type"]]: Copy<Type> } = {
  "session.opened": leftOut,
  "session.updated": leftOut,
  "session.titled": asItIs,
  // A prompt waiting in the original runs there.
  "prompt.accepted": (event, waiting) => (waiting.has(event.messageId) ? undefined : event),
  "prompt.discarded": asItIs,
  "turn.started": asItIs,
  "prompt.taken": asItIs,
  "message.checkpoint": asItIs,
  "message.ended": asItIs,
  "usage.updated": asItIs,
  "context.compacted": asItIs,
  "tool.started": asItIs,
  "tool.ended": asItIs,
  "request.opened": withoutPreviews,
  "request.closed": ({ changes: _, ...event }) => event,
  "turn.ended": asItIs,
};

/** How a fork keeps a record of its original. `waiting`: prompts that wait in the original. */
export function forkedRecord(event: DurableEvent, waiting: Waiting): DurableEvent | undefined {
  const copy = copies[event.type] as (event: DurableEvent, waiting: Waiting) => DurableEvent | undefined;
  return copy(event, waiting);
}

/** The question was answered in the original. */
function withoutPreviews(event: EventOf<"request.opened">): DurableEvent {
  const { interaction } = event;
  if (interaction.kind !== "permission") return event;
  const calls = interaction.calls.map(({ preview: _, ...call }) => call);
  return { ...event, interaction: { ...interaction, calls } };
}
