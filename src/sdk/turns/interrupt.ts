import type { TurnEvent } from "../types.ts";
import { handleTurnEvent, ignored, type TurnEventHandlers } from "./turn-event-handlers.ts";

export type Interrupt = ReturnType<typeof createInterrupt>;

/** Interrupts one turn. `send` resolves when the backend has acknowledged it. */
export function createInterrupt(send: (signal?: AbortSignal) => Promise<void>, waitMs: number) {
  let acknowledgedAt: number | undefined;

  async function sendNow(signal?: AbortSignal): Promise<void> {
    acknowledgedAt = undefined;
    await send(signal);
    acknowledgedAt = performance.now();
  }

  return {
    send: sendNow,
    /** Some backends acknowledge an early interrupt and ignore it, so it is sent again if the turn continues. */
    see(events: readonly TurnEvent[]): void {
      if (!events.some((event) => handleTurnEvent(isWork, event))) return;
      if (acknowledgedAt === undefined || performance.now() - acknowledgedAt < waitMs) return;
      sendNow().catch(() => {});
    },
  };
}

/** Events that prove that the turn continues. */
const isWork: TurnEventHandlers<boolean> = {
  text: always,
  text_reset: ignored,
  thinking: always,
  // A user's message may be an echo.
  message: ({ message }) => message.role !== "user" && message.role !== "system",
  tool_input: always,
  tool_call: always,
  tool_progress: always,
  tool_result: always,
  state: ignored,
  usage: ignored,
  settings: ignored,
  title: ignored,
  retry: ignored,
  notice: ignored,
  mcp_servers: ignored,
  sign_in_required: ignored,
  sign_in_ended: ignored,
  error: ignored,
  other: ignored,
  end: ignored,
};

function always(): boolean {
  return true;
}
