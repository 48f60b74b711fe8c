import { AgentError } from "../../src/engine/errors.ts";
import type { DurableEvent } from "../../src/engine/event.ts";
import type { SessionInfo, SessionLog, SessionStore } from "../../src/engine/ports.ts";
import { isSessionId } from "../../src/store/listing/layout.ts";
import { decodeStart } from "../../src/store/listing/listed-records.ts";
import { ownerOf } from "../../src/store/listing/session-list.ts";
import { decodeRecord, encodeRecord } from "../../src/store/records/records.ts";
import { invalidId, notFound } from "../../src/store/session-errors.ts";

interface MemorySession {
  /** Encoded, so that events take the same path as through a file. */
  readonly lines: string[];
  readonly cwd: string;
  readonly whose: Pick<SessionInfo, "owner" | "userId">;
  readonly createdAt: number;
  title: string;
  lastSeq: number;
  updatedAt: number;
  /** Orders sessions that changed in the same millisecond. */
  changedNth: number;
  holder: SessionLog | undefined;
}

/** Same contract as the store on disk. */
export function createMemoryStore(options: { readonly now?: () => number } = {}): SessionStore {
  const now = options.now ?? Date.now;
  const sessions = new Map<string, MemorySession>();
  let changes = 0;

  function mustFind(id: string): MemorySession {
    const session = sessions.get(id);
    if (!session) throw notFound(id);
    return session;
  }

  function write(id: string, session: MemorySession, events: readonly DurableEvent[]): void {
    const lines = events.map(encodeRecord);
    let seq = session.lastSeq;
    for (const event of events) {
      if (event.sessionId !== id) {
        throw new AgentError("internal", `Tried to write an event of session ${event.sessionId} to the log of ${id}.`);
      }
      if (event.seq !== seq + 1) {
        throw new AgentError(
          "storage_failed",
          `Cannot write ${id}: record ${event.seq} does not follow record ${seq}.`,
        );
      }
      seq = event.seq;
    }
    for (const event of events) if (event.type === "session.titled") session.title = event.title;
    session.lines.push(...lines);
    session.lastSeq = seq;
    session.updatedAt = now();
    changes += 1;
    session.changedNth = changes;
  }

  function hold(id: string, session: MemorySession): SessionLog {
    if (session.holder) {
      throw new AgentError("session_in_use", `Session ${id} is in use by process ${process.pid}.`);
    }
    const log: SessionLog = {
      async append(events) {
        if (session.holder !== log) throw new AgentError("session_closed", `Session ${id} was released.`);
        if (events.length > 0) write(id, session, events);
      },
      async release() {
        if (session.holder === log) session.holder = undefined;
      },
    };
    session.holder = log;
    return log;
  }

  function infoOf(id: string, session: MemorySession): SessionInfo {
    const { title, cwd, createdAt, updatedAt, lines, whose } = session;
    const bytes = lines.reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    return { id, title, cwd, createdAt, updatedAt, path: `memory:${id}`, bytes, ...whose };
  }

  return {
    async create(first) {
      const { sessionId: id } = first;
      if (!isSessionId(id)) throw invalidId(id);
      if (first.type !== "session.opened" || first.seq !== 1) {
        throw new AgentError("internal", `A log cannot begin with ${first.type}, seq ${first.seq}.`);
      }
      if (sessions.has(id)) throw new AgentError("session_exists", `Session ${id} already exists.`);
      const session: MemorySession = {
        lines: [],
        cwd: first.cwd,
        whose: ownerOf(first.settings),
        createdAt: first.at,
        title: "",
        lastSeq: 0,
        updatedAt: 0,
        changedNth: 0,
        holder: undefined,
      };
      write(id, session, [first]);
      sessions.set(id, session);
      return hold(id, session);
    },
    async acquire(id) {
      return hold(id, mustFind(id));
    },
    async read(id, after = 0) {
      // Records were validated on writing, so all are readable.
      const { lines, lastSeq } = mustFind(id);
      const events = lines.slice(Math.max(0, after)).map((line, index) => {
        const seq = Math.max(0, after) + index + 1;
        const decoded = seq === 1 ? decodeStart(line, id) : decodeRecord(line, id);
        if (decoded.kind !== "event") throw new AgentError("internal", `Record ${seq} of ${id} was lost.`);
        return decoded.event;
      });
      return { events, lastSeq, damagedLines: [], missingRecords: [] };
    },
    async list(query = {}) {
      return [...sessions]
        .filter(([, session]) => query.cwd === undefined || session.cwd === query.cwd)
        .filter(([, { whose }]) => query.owner === undefined || whose.owner === query.owner)
        .sort(([, a], [, b]) => b.changedNth - a.changedNth)
        .slice(0, query.limit)
        .map(([id, session]) => infoOf(id, session));
    },
    async info(id) {
      return infoOf(id, mustFind(id));
    },
    async remove(id) {
      const session = mustFind(id);
      await hold(id, session).release();
      sessions.delete(id);
    },
  };
}
