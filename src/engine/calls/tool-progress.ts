import { textEnd } from "../../text/text-cut.ts";
import { errorMessage } from "../../text/values.ts";
import type { EventBody } from "../event.ts";
import type { ToolCallBlock } from "../message.ts";
import type { Clock } from "../ports.ts";
import type { ToolOutput } from "../tool.ts";
import { failed } from "../tool.ts";

/** Minimum interval of a running tool's output for clients, and of heartbeats while it is silent. */
const progressMs = 200;
const heartbeatMs = 10_000;
const maxProgressCharacters = 2_000;

/** Runs a tool, emitting progress, or heartbeats while it is silent. A tool that throws has failed. */
export async function withProgress(
  call: ToolCallBlock,
  context: { readonly clock: Clock; emit(body: EventBody): Promise<void> },
  run: (progress: (text: string) => void) => Promise<ToolOutput>,
): Promise<ToolOutput> {
  const { clock } = context;
  const startedAt = clock.monotonic();
  let lastShown = Number.NEGATIVE_INFINITY;
  let over = false;
  let cancelHeartbeat: () => void;

  const beat = (): (() => void) =>
    clock.after(heartbeatMs, () => {
      if (over) return;
      const elapsedMs = Math.round(clock.monotonic() - startedAt);
      tell({ type: "tool.heartbeat", callId: call.id, name: call.name, elapsedMs });
      cancelHeartbeat = beat();
    });
  const tell = (body: EventBody): void => {
    // Live events are not stored, so this cannot fail.
    void context.emit(body);
  };
  const progress = (text: string): void => {
    const now = clock.monotonic();
    if (over || now - lastShown < progressMs) return;
    lastShown = now;
    cancelHeartbeat();
    cancelHeartbeat = beat();
    tell({ type: "tool.progress", callId: call.id, name: call.name, text: textEnd(text, maxProgressCharacters) });
  };

  cancelHeartbeat = beat();
  try {
    return await run(progress);
  } catch (error) {
    return failed(errorMessage(error));
  } finally {
    over = true;
    cancelHeartbeat();
  }
}
