import type { EngineEvent } from "../../engine/event.ts";
import { type EventHandlers, handleEvent, ignored } from "../../engine/event-handlers.ts";
import type { Log } from "../../server/log.ts";
import type { Meter } from "../../server/metrics.ts";

/** Counts and logs the events of all sessions, on every wire. */
export function createObserver(meter: Meter, log: Log): (event: EngineEvent) => void {
  /** Turns without output so far. */
  const begun = new Map<string, number>();
  const handlers: EventHandlers = {
    "session.opened": () => meter.sessionStarted(),
    "session.updated": ignored,
    "session.titled": ignored,
    "prompt.accepted": ignored,
    "prompt.discarded": ignored,
    "prompt.queued": ignored,
    "prompt.taken": ignored,
    "turn.started": ({ sessionId, at }) => void begun.set(sessionId, at),
    "model.called": ignored,
    "message.started": ignored,
    "message.delta": ({ sessionId, at }) => {
      const since = begun.get(sessionId);
      if (since === undefined) return;
      begun.delete(sessionId);
      meter.firstChunk(Math.max(0, at - since) / 1_000);
    },
    "message.checkpoint": ignored,
    "message.ended": ignored,
    "retry.scheduled": ignored,
    "context.compacted": ({ sessionId, trigger, tokensBefore, tokensAfter }) =>
      log.info("session.compacted", { sessionId, trigger, tokensBefore, tokensAfter }),
    "compaction.started": ignored,
    "servers.changed": ({ sessionId, servers, changed: server }) => {
      const { status = "removed", error } = servers.find(({ name }) => name === server) ?? {};
      if (status === "failed") log.warn("mcp.failed", { sessionId, server, error });
      else log.info("mcp.changed", { sessionId, server, status });
    },
    // Without its address, which is for the user alone.
    "sign-in.required": ({ sessionId, server }) => log.warn("mcp.sign-in.required", { sessionId, server }),
    "sign-in.ended": ({ sessionId, server, outcome }) => log.info("mcp.sign-in.ended", { sessionId, server, outcome }),
    "compaction.ended": ignored,
    notice: ({ sessionId, level, text: message }) =>
      level === "warning"
        ? log.warn("session.notice", { sessionId, message })
        : log.info("session.notice", { sessionId, message }),
    "usage.updated": ({ call }) => meter.tokens(call),
    "tool.input": ignored,
    "tool.started": ignored,
    "tool.progress": ignored,
    "tool.heartbeat": ignored,
    "tool.ended": ({ result }) => meter.toolCall(result.status),
    "request.opened": ignored,
    "request.closed": ignored,
    "turn.ended": ({ sessionId, turnId, reason, failure, durationMs }) => {
      begun.delete(sessionId);
      meter.turnEnded(reason, durationMs / 1_000);
      const { code, message } = failure ?? {};
      if (code === undefined || code === "interrupted") {
        log.info("turn.ended", { sessionId, turnId, reason, durationMs });
        return;
      }
      meter.error(code);
      // Clients get only the id.
      log.error("turn.failed", { errorId: turnId, sessionId, turnId, reason, code, message, durationMs });
    },
    "session.closed": ignored,
  };
  return (event) => {
    handleEvent(handlers, event);
    if (event.seq !== undefined) log.debug(event.type, { sessionId: event.sessionId, seq: event.seq });
  };
}
