/** Interrupts one turn. */
export interface Interrupt {
  /** Resolves when the backend has acknowledged it. Rejects as `send` does. */
  send(signal?: AbortSignal): Promise<void>;
  /** Some backends acknowledge an early interrupt and ignore it: if text still comes after a while, it is sent again. */
  textCame(): void;
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
    textCame() {
      if (acknowledgedAt === undefined || performance.now() - acknowledgedAt < waitMs) return;
      sendNow().catch(() => {});
    },
  };
}
