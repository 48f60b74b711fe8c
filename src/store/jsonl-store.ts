import { constants } from "node:fs";
import { type FileHandle, open, unlink } from "node:fs/promises";
import { join } from "node:path";
import { AgentError } from "../engine/errors.ts";
import type { SessionStore } from "../engine/ports.ts";
import { errorCode } from "../text/system-errors.ts";
import { ensureFolders } from "./folders.ts";
import { originsOf, removeOutputs } from "./kept-outputs.ts";
import { acquireLease, type Lease } from "./lease.ts";
import { cwdSlug, isSessionId, layoutOf, logSuffix } from "./listing/layout.ts";
import { listInfos } from "./listing/session-list.ts";
import { type FoundLog, findLog } from "./log-finder.ts";
import { readLog, readStoredInfo } from "./log-reader.ts";
import { readTail } from "./log-tail.ts";
import { createLogWriter, type LogFile } from "./log-writer.ts";
import { encodeRecord } from "./records/records.ts";
import { invalidId, notFound } from "./session-errors.ts";
import { storageError } from "./storage-error.ts";

interface JsonlStoreOptions {
  readonly home: string;
  /** When to sync to disk: when the engine asks (at the end of a turn), or at every append. */
  readonly durability?: "turn" | "always";
  /** Opens an existing log for reading and appending. */
  readonly openLog?: (path: string) => Promise<LogFile>;
}

const appendFlags = constants.O_RDWR | constants.O_APPEND;

/** Append-only session logs in `<home>/sessions/<cwd>/<id>.jsonl`, one record per line. */
export function createJsonlStore(options: JsonlStoreOptions): SessionStore {
  const layout = layoutOf(options.home);
  const openLog = options.openLog ?? ((path) => open(path, appendFlags));

  async function mustFind(id: string): Promise<FoundLog> {
    const { log, obstacle } = isSessionId(id) ? await findLog(layout.sessions, id) : {};
    if (log && log.bytes > 0) return log;
    throw obstacle ?? notFound(id);
  }

  async function takeLease(id: string): Promise<Lease> {
    await ensureFolders(layout.home, layout.locks);
    return acquireLease(layout.locks, id);
  }

  /** Finds the log again under the lease, because it may have been removed before. */
  async function leaseExisting(id: string): Promise<{ readonly lease: Lease; readonly path: string }> {
    await mustFind(id);
    const lease = await takeLease(id);
    try {
      return { lease, path: (await mustFind(id)).path };
    } catch (error) {
      await lease.release();
      throw error;
    }
  }

  function writer(path: string, sessionId: string, lease: Lease, newFile?: FileHandle) {
    return createLogWriter({
      path,
      sessionId,
      lease,
      openFile: newFile ? async () => newFile : () => openLog(path),
      syncAlways: options.durability === "always",
      created: newFile !== undefined,
    });
  }

  return {
    async create(first) {
      const { sessionId: id } = first;
      if (!isSessionId(id)) throw invalidId(id);
      if (first.type !== "session.opened" || first.seq !== 1) {
        throw new AgentError("internal", `A log cannot begin with ${first.type}, seq ${first.seq}.`);
      }
      encodeRecord(first);
      const refuseExisting = async () => {
        const { log } = await findLog(layout.sessions, id);
        if (log && log.bytes > 0) throw new AgentError("session_exists", `Session ${id} already exists.`);
        return log;
      };
      const lease = await takeLease(id).catch(async (error) => {
        // The lease's owner may have just created the session.
        await refuseExisting();
        throw error;
      });
      const folder = join(layout.sessions, cwdSlug(first.cwd));
      const path = join(folder, id + logSuffix);
      try {
        const abandoned = await refuseExisting();
        if (abandoned) await unlink(abandoned.path);
        await ensureFolders(layout.home, layout.sessions, folder);
        const log = writer(path, id, lease, await createFile(path));
        try {
          await log.append([first]);
          return log;
        } catch (error) {
          await unlink(path).catch(() => {});
          await log.release().catch(() => {});
          throw error;
        }
      } catch (error) {
        await lease.release();
        if (errorCode(error) === "EEXIST") throw new AgentError("session_exists", `Session ${id} already exists.`);
        throw storageError("write", path, error);
      }
    },

    async acquire(id) {
      const { lease, path } = await leaseExisting(id);
      return writer(path, id, lease);
    },

    async read(id, after = 0) {
      const { path } = await mustFind(id);
      const tail = after >= 1 ? await readTail(path, id, after) : undefined;
      const log = tail ?? (await readLog(path, id));
      if (!log) throw notFound(id);
      return after >= 1 ? { ...log, events: log.events.filter(({ seq }) => seq > after) } : log;
    },

    async list(query = {}) {
      return listInfos(layout.sessions, query).catch((error) => {
        throw storageError("read", layout.sessions, error);
      });
    },

    async info(id) {
      const info = await readStoredInfo((await mustFind(id)).path, id);
      if (!info) throw notFound(id);
      return info;
    },

    async remove(id) {
      const { lease, path } = await leaseExisting(id);
      try {
        // Remove the log last, so that an interrupted removal can be repeated.
        await removeOutputs(layout, id, await originsOf(path, id));
        await unlink(path);
      } catch (error) {
        throw storageError("remove", path, error);
      } finally {
        await lease.release();
      }
    },
  };
}

async function createFile(path: string): Promise<FileHandle> {
  const file = await open(path, appendFlags | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    await file.chmod(0o600);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
