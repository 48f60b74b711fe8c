import type { EngineEvent } from "../core/event.ts";
import type { Log } from "../frontends/http/log.ts";
import type { Meter } from "../frontends/http/metrics.ts";

/** Counts and logs what happens in all sessions, whichever way their clients came. */
export function createObserver(meter: Meter, log: Log): (event: EngineEvent) => void {
  /** Turns that have not said anything yet. */
  const begun = new Map<string, number>();
  const handlers: { readonly [T in EngineEvent["type"]]?: (event: EngineEvent & { readonly type: T }) => void } = {
    "session.opened": () => meter.sessionStarted(),
    "turn.started": ({ sessionId, at }) => void begun.set(sessionId, at),
    "message.delta": ({ sessionId, at }) => {
      const since = begun.get(sessionId);
      if (since === undefined) return;
      begun.delete(sessionId);
      meter.firstChunk(Math.max(0, at - since) / 1_000);
    },
    notice: ({ sessionId, level, text: message }) =>
      level === "warning"
        ? log.warn("session.notice", { sessionId, message })
        : log.info("session.notice", { sessionId, message }),
    "usage.updated": ({ call }) => meter.tokens(call),
    "tool.ended": ({ result }) => meter.toolCall(result.status),
    "turn.ended": ({ sessionId, turnId, reason, failure, durationMs }) => {
      begun.delete(sessionId);
      meter.turnEnded(reason, durationMs / 1_000);
      const { code, message } = failure ?? {};
      if (code === undefined || code === "interrupted") {
        log.info("turn.ended", { sessionId, turnId, reason, durationMs });
        return;
      }
      meter.error(code);
      // Clients are told the id alone.
      log.error("turn.failed", { errorId: turnId, sessionId, turnId, reason, code, message, durationMs });
    },
  };
  return (event) => {
    (handlers[event.type] as ((event: EngineEvent) => void) | undefined)?.(event);
    if (event.seq !== undefined) log.debug(event.type, { sessionId: event.sessionId, seq: event.seq });
  };
}
