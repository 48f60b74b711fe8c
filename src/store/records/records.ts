import { AgentError } from "../../engine/errors.ts";
import type { DurableEvent, EventOf } from "../../engine/event.ts";
import { isEnvelope, isOpened, maxRecordBytes, parseRecord, recordVersion } from "../listing/listed-records.ts";
import { bodyGuard } from "./record-guards.ts";

type DecodedRecord =
  | { readonly kind: "event"; readonly event: DurableEvent }
  /** A type that only a later version knows. */
  | { readonly kind: "unknown"; readonly seq: number }
  | { readonly kind: "damaged" };

/**
 * Encodes one line of the log, without its newline. Only the first line has the session's id. Preserves lone surrogates.
 * Throws `input_too_large`, or `internal` for an event that a reader would report as damaged.
 */
export function encodeRecord(event: DurableEvent): string {
  const isReadable = event.type === "session.opened" ? isOpened : bodyGuard(event.type);
  if (!isEnvelope({ ...event }) || !isReadable?.(event)) {
    throw new AgentError("internal", `A record of the session log (${event.type}) has wrong fields.`);
  }
  const line = stringify(event);
  const bytes = line === undefined ? Number.POSITIVE_INFINITY : Buffer.byteLength(line);
  if (line === undefined || bytes > maxRecordBytes) {
    const size = Number.isFinite(bytes) ? `${Math.ceil(bytes / 1024 / 1024)} MiB` : "more than can be written";
    throw new AgentError(
      "input_too_large",
      `A record of the session log (${event.type}) would take ${size}; the limit is ${maxRecordBytes / 1024 / 1024} MiB.`,
    );
  }
  return line;
}

function stringify(event: DurableEvent): string | undefined {
  const { sessionId, seq, at, turnId, type, ...body } = event;
  try {
    if (event.type !== "session.opened") return JSON.stringify({ seq, at, turnId, type, ...body });
    const { cwd, settings, forkOf } = event;
    return JSON.stringify({
      type: "session_start",
      version: recordVersion,
      id: sessionId,
      title: "",
      cwd,
      createdAt: at,
      seq,
      at,
      turnId,
      settings,
      forkOf,
    });
  } catch (error) {
    // Longer or deeper than JavaScript can serialize.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Decodes any line but the first. Never throws. */
export function decodeRecord(line: string, sessionId: string): DecodedRecord {
  const record = parseRecord(line);
  if (record === undefined || !isEnvelope(record)) return { kind: "damaged" };
  const { type, seq } = record;
  if (type === "session_start" || type === "session.opened") return { kind: "damaged" };
  const guard = bodyGuard(type);
  if (guard === undefined) return { kind: "unknown", seq };
  if (!guard(record)) return { kind: "damaged" };
  // The guard has checked every field that readers rely on.
  return { kind: "event", event: ofThisVersion({ ...record, sessionId } as unknown as DurableEvent) };
}

/** Upgrades a record of an older version. */
function ofThisVersion(event: DurableEvent): DurableEvent {
  return event.type === "turn.ended" ? withCause(event) : event;
}

/** Frozen: in older logs, only this text says that the process ended. */
const processEnded = "The process that ran this turn ended.";

function withCause(event: EventOf<"turn.ended">): DurableEvent {
  const { cause, reason, failure } = event;
  if (cause !== undefined || reason !== "interrupted" || failure?.message !== processEnded) return event;
  return { ...event, cause: "process_ended" };
}
