import type { EngineEvent, EventOf, EventType } from "./event.ts";

/** What a reader makes of each event. A new event does not compile until every reader handles or ignores it. */
export type EventHandlers<Result = void, Types extends EventType = EventType> = {
  readonly [Type in Types]: (event: EventOf<Type>) => Result | undefined;
};

/** A reader's decision that an event is of no use to it. */
export const ignored = (): undefined => undefined;

export function handleEvent<Result, Types extends EventType>(
  handlers: EventHandlers<Result, Types>,
  event: EngineEvent & { readonly type: Types },
): Result | undefined {
  const handler = handlers[event.type] as (event: EngineEvent) => Result | undefined;
  return handler(event);
}
