import type { EngineEvent, EventOf, EventType } from "./event.ts";

/** How a reader handles each event. A new event compiles only once every reader handles or ignores it. */
export type EventHandlers<Result = void, Types extends EventType = EventType> = {
  readonly [Type in Types]: (event: EventOf<Type>) => Result | undefined;
};

/** Marks an event as irrelevant to a reader. */
export const ignored = (): undefined => undefined;

export function handleEvent<Result, Types extends EventType>(
  handlers: EventHandlers<Result, Types>,
  event: EngineEvent & { readonly type: Types },
): Result | undefined {
  const handler = handlers[event.type] as (event: EngineEvent) => Result | undefined;
  return handler(event);
}
