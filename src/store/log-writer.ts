import { open } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError } from "../engine/errors.ts";
import type { DurableEvent } from "../engine/event.ts";
import type { SessionLog } from "../engine/ports.ts";
import type { Lease } from "./lease.ts";
import { encodeRecord } from "./records/records.ts";
import { storageError } from "./storage-error.ts";

/** The part of a file handle that the writer uses, open for reading and appending. */
export interface LogFile {
  /** `nlink` is 0 for a deleted file. */
  stat(): Promise<{ readonly size: number; readonly nlink: number }>;
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
  /** Appends `bytes` from `offset`, possibly not all of them. */
  write(bytes: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
  truncate(size: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

interface LogWriterOptions {
  readonly path: string;
  readonly sessionId: string;
  readonly lease: Lease;
  /** Called once, for the first append. */
  readonly openFile: () => Promise<LogFile>;
  readonly syncAlways: boolean;
  /** The file is new, so the first sync includes its folder. */
  readonly created: boolean;
}

/** The open log's end. */
interface Tail {
  readonly file: LogFile;
  size: number;
  /** The last line has no newline, so the next write must add one. */
  lineOpen: boolean;
}

export function createLogWriter(options: LogWriterOptions): SessionLog {
  const { path, sessionId, lease } = options;
  let tail: Tail | undefined;
  let lastSeq: number | undefined;
  let folderSynced = !options.created;
  /** Why no more can be written safely. */
  let broken: string | undefined;
  let queue: Promise<unknown> = Promise.resolve();
  let released: Promise<void> | undefined;

  async function write(lines: readonly string[], seqs: readonly number[], sync: boolean): Promise<void> {
    if (lease.isLost()) {
      throw new AgentError("session_in_use", `Another process has taken over session ${sessionId}.`);
    }
    if (broken !== undefined) throw new AgentError("storage_failed", `Cannot write ${path}: ${broken}.`);
    for (const seq of seqs) {
      // Fail now, because a reader would skip this record.
      if (lastSeq !== undefined && seq !== lastSeq + 1) {
        throw new AgentError(
          "storage_failed",
          `Cannot write ${path}: record ${seq} does not follow record ${lastSeq}.`,
        );
      }
      lastSeq = seq;
    }
    tail ??= await openTail(options);
    await writeAll(tail, lines, sync);
    if (sync && !folderSynced) {
      folderSynced = true;
      await syncFolder(dirname(path));
      await syncFolder(dirname(dirname(path)));
    }
  }

  async function writeAll(end: Tail, lines: readonly string[], sync: boolean): Promise<void> {
    const parts = lines.map((line) => Buffer.from(`${line}\n`));
    if (end.lineOpen && lines.length > 0) parts.unshift(Buffer.of(0x0a));
    const bytes = Buffer.concat(parts);
    let written = 0;
    try {
      while (written < bytes.length) {
        const { bytesWritten } = await end.file.write(bytes, written);
        if (bytesWritten === 0) throw new Error("the file accepts no more bytes");
        written += bytesWritten;
      }
      if (sync) {
        await checkFile(end, written);
        await end.file.datasync();
      }
    } catch (error) {
      if (written > 0) await takeBack(end, bytes.subarray(0, written), lines[0] ?? "");
      throw error;
    }
    end.size += written;
    if (written > 0) end.lineOpen = false;
  }

  /** Records in a deleted file are lost, and so are those mixed with another writer's. */
  async function checkFile(end: Tail, written: number): Promise<void> {
    const { size, nlink } = await end.file.stat();
    if (nlink > 0 && size === end.size + written) return;
    broken = "it was removed or changed by another program";
    throw new Error(broken);
  }

  /**
   * A failed batch's seqs will be reused, so no complete record of it may remain. If truncating fails, a torn record can stay
   * on its own line, but after complete records no further write is safe.
   */
  async function takeBack(end: Tail, written: Buffer, firstLine: string): Promise<void> {
    try {
      if ((await end.file.stat()).size === end.size + written.length) {
        await end.file.truncate(end.size);
        return;
      }
    } catch {
      // The caller gets the first error.
    }
    if (written.length - (end.lineOpen ? 1 : 0) >= Buffer.byteLength(firstLine)) {
      broken ??= "a failed write left complete records at its end. Resume the session to continue";
    }
    end.size += written.length;
    end.lineOpen = true;
  }

  return {
    append(events, appendOptions) {
      if (released) return Promise.reject(new AgentError("session_closed", `Session ${sessionId} was released.`));
      let lines: readonly string[];
      try {
        lines = events.map((event) => encodeOwn(event, sessionId));
      } catch (error) {
        return Promise.reject(error);
      }
      const seqs = events.map((event) => event.seq);
      const sync = options.syncAlways || appendOptions?.sync === true;
      if (lines.length === 0 && !sync) return Promise.resolve();
      const done = queue.then(async () => {
        const before = lastSeq;
        try {
          await write(lines, seqs, sync);
        } catch (error) {
          lastSeq = before;
          throw storageError("write", path, error);
        }
      });
      queue = done.catch(() => {});
      return done;
    },
    gather: () => new Promise((resolve) => process.nextTick(resolve)),
    release() {
      released ??= queue.then(async () => {
        try {
          await tail?.file.close();
        } catch (error) {
          throw storageError("write", path, error);
        } finally {
          await lease.release();
        }
      });
      return released;
    },
  };
}

function encodeOwn(event: DurableEvent, sessionId: string): string {
  if (event.sessionId === sessionId) return encodeRecord(event);
  throw new AgentError("internal", `Tried to write an event of session ${event.sessionId} to the log of ${sessionId}.`);
}

async function openTail({ openFile, created }: LogWriterOptions): Promise<Tail> {
  const file = await openFile();
  if (created) return { file, size: 0, lineOpen: false };
  try {
    const { size } = await file.stat();
    const last = Buffer.alloc(1);
    if (size > 0) await file.read(last, 0, 1, size - 1);
    return { file, size, lineOpen: size > 0 && last[0] !== 0x0a };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Makes a new file's name durable, where folders can be synced. */
async function syncFolder(path: string): Promise<void> {
  try {
    const folder = await open(path, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } catch {
    // Not all file systems support this. The content is synced anyway.
  }
}
