import { isUtf8 } from "node:buffer";
import { AgentError } from "../core/errors.ts";
import type { DurableEvent } from "../core/event.ts";
import type { SessionInfo, StoredLog } from "../core/ports.ts";
import { scanLines } from "./listing/line-scanner.ts";
import { recordVersion, type StartDamage } from "./listing/listed-records.ts";
import { readInfo, startOf } from "./listing/session-list.ts";
import { longestRise } from "./longest-rise.ts";
import { decodeRecord } from "./records.ts";
import { storageError } from "./storage-error.ts";

/** Every whole record of the log. Opens for reading only. `undefined` when there is no log, or nothing in it yet. */
export async function readLog(path: string, sessionId: string): Promise<StoredLog | undefined> {
  const events: DurableEvent[] = [];
  const lineOf: number[] = [];
  const damagedLines: number[] = [];
  let lastSeq = 0;
  let isRising = true;
  const keep = (event: DurableEvent, line: number): undefined => {
    isRising &&= event.seq > (events.at(-1)?.seq ?? 0);
    events.push(event);
    lineOf.push(line);
  };
  const visit = (line: Buffer | undefined, number: number): undefined => {
    if (number === 1) {
      const start = startOf(line, sessionId);
      if (start.kind !== "event") throw unreadable(path, start);
      return keep(start.event, number);
    }
    if (line?.length === 0) return;
    const decoded = line && isUtf8(line) ? decodeRecord(line.toString(), sessionId) : undefined;
    if (decoded?.kind === "unknown") lastSeq = Math.max(lastSeq, decoded.seq);
    else if (decoded?.kind === "event") keep(decoded.event, number);
    else damagedLines.push(number);
  };
  const stats = await scanLines(path, visit).catch((error) => {
    throw storageError("read", path, error);
  });
  if (!stats || events.length === 0) return undefined;
  const kept = isRising ? events : inOrder(events, lineOf, damagedLines);
  return { events: kept, lastSeq: Math.max(lastSeq, kept.at(-1)?.seq ?? 0), damagedLines };
}

/** Records that stand where their number has no place are damage. */
function inOrder(events: readonly DurableEvent[], lineOf: readonly number[], damagedLines: number[]): DurableEvent[] {
  const places = new Set(longestRise(events.map(({ seq }) => seq)));
  damagedLines.push(...lineOf.filter((_, place) => !places.has(place)));
  damagedLines.sort((a, b) => a - b);
  return events.filter((_, place) => places.has(place));
}

/** What a listing tells of one session. `undefined` when there is no log, or nothing in it yet. */
export async function readStoredInfo(path: string, id: string): Promise<SessionInfo | undefined> {
  const read = await readInfo(path, id).catch((error) => {
    throw storageError("read", path, error);
  });
  if (read && !read.info) throw unreadable(path, read.damage);
  return read?.info;
}

function unreadable(path: string, damage: StartDamage): AgentError {
  const why =
    damage.kind === "later"
      ? `a later version of Tinman wrote it (format ${damage.version}; this one knows up to ${recordVersion})`
      : "its first line is damaged";
  return new AgentError("storage_failed", `Cannot read ${path}: ${why}.`);
}
