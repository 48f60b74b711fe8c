import { AgentError } from "../core/errors.ts";
import type { DurableEvent } from "../core/event.ts";
import {
  bodyGuard,
  type Fields,
  isAbsolutePath,
  isFields,
  isNumber,
  isPositiveInteger,
  isSettings,
  isText,
  optional,
  shape,
} from "./record-guards.ts";

/** The format that this version writes, and the newest that it reads. */
export const recordVersion = 1;

/** What one record may take in the log, without its newline. */
export const maxRecordBytes = 16 * 1024 * 1024;

/** The bytes by which a title record is found without parsing the log. JSON escapes quotes, so no text can contain them. */
export const titleMarker = '"type":"session.titled"';

export type DecodedRecord =
  | { readonly kind: "event"; readonly event: DurableEvent }
  /** Written by a later version, of a type that this one does not know. */
  | { readonly kind: "unknown"; readonly seq: number }
  | { readonly kind: "damaged" };

export type DecodedStart =
  | {
      readonly kind: "event";
      readonly event: DurableEvent & { readonly type: "session.opened" };
      readonly title: string;
    }
  | { readonly kind: "later"; readonly version: number }
  | { readonly kind: "damaged" };

/**
 * One line of the log, without its newline. The session's id stands in the first line only. Lone surrogates come out as
 * `\u` escapes and come back as they were. Throws `input_too_large`, and `internal` for what would be damage to a reader.
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
      `A record of the session log (${event.type}) would take ${size}; the most is ${maxRecordBytes / 1024 / 1024} MiB.`,
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
    // The longest string, or the deepest nesting, that the engine can serialise.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const isOpened = shape({
  cwd: isAbsolutePath,
  seq: (value) => value === 1,
  settings: isSettings,
  forkOf: optional(shape({ sessionId: isText, seq: isPositiveInteger })),
});
const isStart = shape({ id: isText, createdAt: isNumber });
const isOptionalText = optional(isText);

/** Reads the first line. Never throws. `sessionId` is the id under which the log was found. */
export function decodeStart(line: string, sessionId: string): DecodedStart {
  const record = parse(line);
  if (record?.type !== "session_start" || !isPositiveInteger(record.version)) return { kind: "damaged" };
  if (record.version > recordVersion) return { kind: "later", version: record.version };
  if (!isEnvelope(record) || !isStart(record) || !isOpened(record)) return { kind: "damaged" };
  const { seq, at, turnId, cwd, settings, forkOf } = record;
  const event = {
    type: "session.opened",
    seq,
    at,
    sessionId,
    ...(turnId !== undefined && { turnId }),
    cwd,
    settings,
    ...(forkOf !== undefined && { forkOf }),
  };
  return {
    kind: "event",
    // The guards have checked every field that the type names.
    event: event as unknown as DurableEvent & { type: "session.opened" },
    title: isText(record.title) ? record.title : "",
  };
}

/** Reads any line but the first. Never throws. */
export function decodeRecord(line: string, sessionId: string): DecodedRecord {
  const record = parse(line);
  if (record === undefined || !isEnvelope(record)) return { kind: "damaged" };
  const { type, seq } = record;
  if (type === "session_start" || type === "session.opened") return { kind: "damaged" };
  const guard = bodyGuard(type);
  if (guard === undefined) return { kind: "unknown", seq };
  if (!guard(record)) return { kind: "damaged" };
  // The guard of this type has checked every field that readers rely on.
  return { kind: "event", event: { ...record, sessionId } as unknown as DurableEvent };
}

/** Far from the last whole number, so that there is always a next one. */
function isSeq(value: unknown): boolean {
  return isPositiveInteger(value) && value < 2 ** 52;
}

function isEnvelope(record: Fields): record is Fields & { readonly type: string; readonly seq: number } {
  return isText(record.type) && isSeq(record.seq) && isNumber(record.at) && isOptionalText(record.turnId);
}

function parse(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
