import { isUtf8 } from "node:buffer";
import type { DurableEvent } from "../engine/event.ts";
import type { StoredLog } from "../engine/ports.ts";
import { isMissing } from "../text/system-errors.ts";
import { linesFromEnd } from "./lines-from-end.ts";
import { decodeRecord } from "./records/records.ts";
import { storageError } from "./storage-error.ts";

/**
 * The records after a seq of at least 1, read from the end of the log. `undefined` if one of them is invalid, so that the whole
 * log must be read.
 */
export async function readTail(path: string, sessionId: string, after: number): Promise<StoredLog | undefined> {
  const newestFirst: DurableEvent[] = [];
  /** The seq of the record that ended the reading; `undefined` if that was invalid. */
  let before: number | undefined;
  const visit = (line: Buffer): "enough" | undefined => {
    const decoded = isUtf8(line) ? decodeRecord(line.toString(), sessionId) : undefined;
    if (decoded?.kind !== "event") return "enough";
    const { seq } = decoded.event;
    const next = newestFirst.at(-1)?.seq;
    if (next !== undefined && seq !== next - 1) return "enough";
    if (seq <= after) {
      before = seq;
      return "enough";
    }
    newestFirst.push(decoded.event);
  };
  const end = await linesFromEnd(path, visit).catch((error: unknown) => {
    if (isMissing(error)) return undefined;
    throw storageError("read", path, error);
  });
  // Only the first line is left, with seq 1.
  if (end === "start" && (newestFirst.at(-1)?.seq ?? 2) === 2) before = 1;
  if (before === undefined) return undefined;
  const lastSeq = newestFirst[0]?.seq ?? before;
  return { events: newestFirst.reverse(), lastSeq, damagedLines: [], missingRecords: [] };
}
