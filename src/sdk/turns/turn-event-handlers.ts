import type { TurnEvent } from "../types.ts";

export type TurnEventOf<Type extends TurnEvent["type"]> = TurnEvent & { readonly type: Type };

/** How a reader handles each event. A new event compiles only once every reader handles or ignores it. */
export type TurnEventHandlers<Result = void> = {
  readonly [Type in TurnEvent["type"]]: (event: TurnEventOf<Type>) => Result | undefined;
};

/** The event does not concern the reader. */
export const ignored = (): undefined => undefined;

export function handleTurnEvent<Result>(handlers: TurnEventHandlers<Result>, event: TurnEvent): Result | undefined {
  const handler = handlers[event.type] as (event: TurnEvent) => Result | undefined;
  return handler(event);
}
