import { isUtf8 } from "node:buffer";
import { open } from "node:fs/promises";
import { AgentError } from "../core/errors.ts";
import type { DurableEvent } from "../core/event.ts";
import type { SessionInfo, StoredLog } from "../core/ports.ts";
import { longestRise } from "./longest-rise.ts";
import { decodeRecord, decodeStart, maxRecordBytes, recordVersion, titleMarker } from "./records.ts";
import { isMissing, storageError } from "./storage-error.ts";

const newline = 0x0a;
const chunkBytes = 4 * 1024 * 1024;
const marker = Buffer.from(titleMarker);

/** Every whole record of the log. Opens for reading only. `undefined` when there is no log, or nothing in it yet. */
export async function readLog(path: string, sessionId: string): Promise<StoredLog | undefined> {
  const events: DurableEvent[] = [];
  const lineOf: number[] = [];
  const damagedLines: number[] = [];
  let lastSeq = 0;
  let isRising = true;
  const keep = (event: DurableEvent, line: number): void => {
    isRising &&= event.seq > (events.at(-1)?.seq ?? 0);
    events.push(event);
    lineOf.push(line);
  };
  const scanned = await scanLines(path, (line, number) => {
    if (number === 1) return keep(startOf(line, path, sessionId).event, number);
    if (line?.length === 0) return;
    const decoded = line && isUtf8(line) ? decodeRecord(line.toString(), sessionId) : undefined;
    if (decoded?.kind === "unknown") lastSeq = Math.max(lastSeq, decoded.seq);
    else if (decoded?.kind === "event") keep(decoded.event, number);
    else damagedLines.push(number);
  });
  if (!scanned || events.length === 0) return undefined;
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

/** The log's first line and its last title; other lines are looked at, but not parsed. */
export async function readInfo(path: string, id: string): Promise<SessionInfo | undefined> {
  let start: ReturnType<typeof startOf> | undefined;
  let title = "";
  const scanned = await scanLines(path, (line, number) => {
    if (number === 1) {
      start = startOf(line, path, id);
      title = start.title;
    } else if (line?.includes(marker) && isUtf8(line)) {
      const decoded = decodeRecord(line.toString(), id);
      if (decoded.kind === "event" && decoded.event.type === "session.titled") title = decoded.event.title;
    }
  });
  if (!scanned || !start) return undefined;
  const { cwd, at } = start.event;
  return { id, title, cwd, createdAt: at, updatedAt: scanned.updatedAt, path, bytes: scanned.bytes };
}

function startOf(line: Buffer | undefined, path: string, sessionId: string) {
  const decoded = line && isUtf8(line) ? decodeStart(line.toString(), sessionId) : undefined;
  if (decoded?.kind === "event") return decoded;
  const why =
    decoded?.kind === "later"
      ? `a later version of Tinman wrote it (format ${decoded.version}; this one knows up to ${recordVersion})`
      : "its first line is damaged";
  throw new AgentError("storage_failed", `Cannot read ${path}: ${why}.`);
}

/**
 * Calls `visit` with every line, counted from 1, as bytes that are good only during the call; with `undefined` for a line
 * longer than a record may be. Lines end at a line feed and nowhere else. Never holds more than a chunk and one line.
 */
async function scanLines(
  path: string,
  visit: (line: Buffer | undefined, number: number) => void,
): Promise<{ readonly bytes: number; readonly updatedAt: number } | undefined> {
  let number = 0;
  let pieces: Buffer[] = [];
  let pending = 0;

  const keep = (piece: Buffer) => {
    pending += piece.length;
    if (pending > maxRecordBytes) pieces = [];
    else pieces.push(Buffer.from(piece));
  };
  const finish = (rest: Buffer) => {
    number += 1;
    const length = pending + rest.length;
    const line = pending === 0 ? rest : Buffer.concat(length > maxRecordBytes ? [] : [...pieces, rest]);
    pieces = [];
    pending = 0;
    visit(length > maxRecordBytes ? undefined : line, number);
  };

  try {
    const file = await open(path, "r");
    try {
      const { size, mtimeMs } = await file.stat();
      const buffer = Buffer.allocUnsafe(Math.min(size, chunkBytes));
      // Not further than the end as it is now: another process may be writing on.
      for (let position = 0; position < size; ) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, size - position), position);
        if (bytesRead === 0) break;
        position += bytesRead;
        const chunk = buffer.subarray(0, bytesRead);
        let from = 0;
        for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
          finish(chunk.subarray(from, end));
          from = end + 1;
        }
        if (from < bytesRead) keep(chunk.subarray(from));
      }
      if (pending > 0) finish(Buffer.alloc(0));
      return { bytes: size, updatedAt: Math.floor(mtimeMs) };
    } finally {
      await file.close();
    }
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw storageError("read", path, error);
  }
}
