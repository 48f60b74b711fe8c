import { isUtf8 } from "node:buffer";
import { UnreadableLogError } from "../engine/errors.ts";
import type { DurableEvent } from "../engine/event.ts";
import type { SessionInfo, StoredLog } from "../engine/ports.ts";
import { scanLines } from "./listing/line-scanner.ts";
import { recordVersion, type StartDamage } from "./listing/listed-records.ts";
import { readInfo, startOf } from "./listing/session-list.ts";
import { longestRise } from "./records/longest-rise.ts";
import { missingRecords, type Place } from "./records/missing-records.ts";
import { decodeRecord } from "./records/records.ts";
import { storageError } from "./storage-error.ts";

/** All complete records of a log. Never writes. `undefined` for a missing or empty log. */
export async function readLog(path: string, sessionId: string): Promise<StoredLog | undefined> {
  const read: Read[] = [];
  const unknown: Place[] = [];
  const damagedLines: number[] = [];
  let isRising = true;
  const keep = (event: DurableEvent, line: number): undefined => {
    isRising &&= event.seq > (read.at(-1)?.seq ?? 0);
    read.push({ seq: event.seq, line, event });
  };
  const visit = (line: Buffer | undefined, number: number): undefined => {
    if (number === 1) {
      const start = startOf(line, sessionId);
      if (start.kind !== "event") throw unreadable(path, start);
      return keep(start.event, number);
    }
    if (line?.length === 0) return;
    const decoded = line && isUtf8(line) ? decodeRecord(line.toString(), sessionId) : undefined;
    if (decoded?.kind === "unknown") unknown.push({ seq: decoded.seq, line: number });
    else if (decoded?.kind === "event") keep(decoded.event, number);
    else damagedLines.push(number);
  };
  const stats = await scanLines(path, visit).catch((error) => {
    throw storageError("read", path, error);
  });
  if (!stats || read.length === 0) return undefined;
  const kept = isRising ? read : inOrder(read, damagedLines);
  return {
    events: kept.map(({ event }) => event),
    lastSeq: unknown.reduce((last, { seq }) => Math.max(last, seq), kept.at(-1)?.seq ?? 0),
    // A record of an unknown type counts as damaged, because whatever it says is lost.
    damagedLines: [...damagedLines, ...unknown.map(({ line }) => line)].sort((a, b) => a - b),
    missingRecords: missingRecords(kept, unknown, damagedLines),
  };
}

interface Read extends Place {
  readonly event: DurableEvent;
}

/** Drops records whose seq is out of order, and reports their lines as damaged. */
function inOrder(read: readonly Read[], damagedLines: number[]): Read[] {
  const places = new Set(longestRise(read.map(({ seq }) => seq)));
  for (const [place, { line }] of read.entries()) if (!places.has(place)) damagedLines.push(line);
  damagedLines.sort((a, b) => a - b);
  return read.filter((_, place) => places.has(place));
}

/** One session's entry in a listing. `undefined` for a missing or empty log. */
export async function readStoredInfo(path: string, id: string): Promise<SessionInfo | undefined> {
  const read = await readInfo(path, id).catch((error) => {
    throw storageError("read", path, error);
  });
  if (read && !read.info) throw unreadable(path, read.damage);
  return read?.info;
}

function unreadable(path: string, damage: StartDamage): UnreadableLogError {
  const why =
    damage.kind === "later"
      ? `a later version of Tinman wrote it (format ${damage.version}; this one knows up to ${recordVersion})`
      : "its first line is damaged";
  return new UnreadableLogError(`Cannot read ${path}: ${why}.`);
}
