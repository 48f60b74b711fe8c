import type { DurableEvent, EventOf } from "../../engine/event.ts";
import { type Fields, isText, parsedJson, recordOf } from "../../text/values.ts";
import { isAbsolutePath, isNumber, isPositiveInteger, listOf, optional, shape } from "./guards.ts";
import { isSettings } from "./settings-guards.ts";

/** The format that this version writes, and the latest that it reads. */
export const recordVersion = 1;

/** Maximum size of a record, without its newline. */
export const maxRecordBytes = 16 * 1024 * 1024;

/** Finds title records without parsing the log. JSON escapes quotes, so no text can contain it. */
export const titleMarker = '"type":"session.titled"';

export type DecodedStart =
  | {
      readonly kind: "event";
      readonly event: DurableEvent & { readonly type: "session.opened" };
      readonly title: string;
    }
  | StartDamage;

/** Why the first line, and so the whole log, is unreadable. */
export type StartDamage = { readonly kind: "later"; readonly version: number } | { readonly kind: "damaged" };

type Opened = Omit<EventOf<"session.opened">, "type" | "at" | "sessionId" | "turnId">;

export const isOpened = shape<Opened>({
  cwd: isAbsolutePath,
  seq: (value) => value === 1,
  settings: isSettings,
  forkOf: optional(
    shape<NonNullable<Opened["forkOf"]>>({
      sessionId: isText,
      seq: isPositiveInteger,
      before: optional(listOf(isText)),
    }),
  ),
});
const isStart = shape({ id: isText, createdAt: isNumber });
const isOptionalText = optional(isText);
export const titledFields = { title: isText };
const isTitled = shape(titledFields);

/** Reads the first line. Never throws. `sessionId` is the id in the log's file name. */
export function decodeStart(line: string, sessionId: string): DecodedStart {
  const record = parseRecord(line);
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
    // The guards have checked every field of the type.
    event: event as unknown as DurableEvent & { type: "session.opened" },
    title: isText(record.title) ? record.title : "",
  };
}

/** The title, if the line is a title record. Never throws. */
export function decodeTitle(line: string): string | undefined {
  const record = parseRecord(line);
  if (record?.type !== "session.titled" || !isEnvelope(record) || !isTitled(record)) return undefined;
  return isText(record.title) ? record.title : undefined;
}

/** Well below the largest safe integer, so that there is always a next seq. */
function isSeq(value: unknown): boolean {
  return isPositiveInteger(value) && value < 2 ** 52;
}

export function isEnvelope(record: Fields): record is Fields & { readonly type: string; readonly seq: number } {
  return isText(record.type) && isSeq(record.seq) && isNumber(record.at) && isOptionalText(record.turnId);
}

export function parseRecord(line: string): Fields | undefined {
  return recordOf(parsedJson(line));
}
