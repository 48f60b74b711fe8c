import type { TurnEvent } from "./types.ts";

/** Interrupts one turn. */
export interface Interrupt {
  /** Resolves when the backend has acknowledged it. Rejects as `send` does. */
  send(signal?: AbortSignal): Promise<void>;
  /** Some backends acknowledge an early interrupt and ignore it: if the turn still works after a while, it is sent again. */
  see(events: readonly TurnEvent[]): void;
}

export function createInterrupt(send: (signal?: AbortSignal) => Promise<void>, waitMs: number): Interrupt {
  let acknowledgedAt: number | undefined;

  async function sendNow(signal?: AbortSignal): Promise<void> {
    acknowledgedAt = undefined;
    await send(signal);
    acknowledgedAt = performance.now();
  }

  return {
    send: sendNow,
    see(events) {
      if (!events.some(isWork)) return;
      if (acknowledgedAt === undefined || performance.now() - acknowledgedAt < waitMs) return;
      sendNow().catch(() => {});
    },
  };
}

/** What only a turn that goes on brings. A user's message may be an echo. */
function isWork(event: TurnEvent): boolean {
  if (event.type === "message") return event.message.role !== "user" && event.message.role !== "system";
  return workTypes.has(event.type);
}

const workTypes: ReadonlySet<TurnEvent["type"]> = new Set([
  "text",
  "thinking",
  "tool_input",
  "tool_call",
  "tool_progress",
  "tool_result",
]);
