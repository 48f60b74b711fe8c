import { otherWork } from "../../async/pace.ts";
import type { Engine, NewSession, ResumedSession } from "../engine.ts";
import { AgentError } from "../errors.ts";
import type { Clock } from "../ports.ts";
import type { Session } from "./session.ts";

/** A client's hold on a session, which stays open while held. */
export interface Hold {
  readonly session: Session;
  /** Whether the session was already open. */
  readonly wasOpen: boolean;
  /** Whether other clients hold the session too. */
  isShared(): boolean;
  /** Safe to call twice. */
  release(): void;
}

interface PoolOptions {
  readonly clock: Clock;
  /** How long a session without holds stays open after its last turn. */
  readonly idleMs: number;
  /** Called after such a session was closed. */
  onIdle?(session: Session): void;
}

interface Entry {
  readonly session: Session;
  readonly holds: Set<Hold>;
  /** Set while it has no holds. Cancels closing it. */
  stopLeaving: (() => void) | undefined;
  /** It is being ended. New holders wait for that and open it again. */
  isEnding: boolean;
}

/** Sessions of one process, shared by clients. Each is open only once. */
export class SessionPool {
  private readonly engine: Engine;
  private readonly options: PoolOptions;
  private readonly entries = new Map<string, Entry>();
  /** Being opened, or created under a given id. */
  private readonly opening = new Map<string, Promise<unknown>>();
  /** Open sessions per user. */
  private readonly counts = new Map<string, number>();
  /** Being created. */
  private readonly making = new Set<Promise<unknown>>();
  /** Called when a session loses its last hold. */
  private readonly onRelease = new Set<() => void>();
  private isClosed = false;

  constructor(engine: Engine, options: PoolOptions) {
    this.engine = engine;
    this.options = options;
  }

  /** How long a session without holds stays open. */
  get idleMs(): number {
    return this.options.idleMs;
  }

  /** Rejects as `engine.create` does. */
  async create(options: NewSession): Promise<Hold> {
    const make = (): Promise<Hold> =>
      this.counted(options.settings.owner, async () => {
        const session = await this.engine.create(options);
        return this.hold(await this.enter(session), false);
      });
    const { id } = options;
    if (id === undefined) {
      this.checkOpen();
      const made = make();
      this.making.add(made);
      return made.finally(() => this.making.delete(made));
    }
    // Must not yield if the id is free: a second caller in the same tick must see that it is taken.
    for (let wait = this.inTheWay(id); wait !== undefined; wait = this.inTheWay(id)) await wait.then(otherWork);
    return this.alone(id, make);
  }

  /**
   * Holds an open session, or opens it with the other options. Concurrent callers share it. `openedFor`: the user it counts
   * for, if it was not open. Rejects as `engine.resume` does.
   */
  async open(id: string, options: ResumedSession & { readonly openedFor?: string } = {}): Promise<Hold> {
    // Must not yield if the id is free: a second caller in the same tick must find this one.
    for (let wait = this.inTheWay(id); wait !== undefined; wait = this.inTheWay(id)) await wait.then(otherWork);
    const found = this.entries.get(id);
    if (found === undefined) {
      const resume = async (): Promise<Hold> => {
        const { session } = await this.engine.resume(id, options);
        return this.hold(await this.enter(session), false);
      };
      return this.alone(id, () => this.counted(options.openedFor, resume));
    }
    if (options.allows?.(found.session.settings) === false) {
      throw new AgentError("session_not_found", `Session ${id} not found.`);
    }
    return this.hold(found, true);
  }

  get(id: string): Session | undefined {
    const entry = this.entries.get(id);
    return entry === undefined || isOver(entry) ? undefined : entry.session;
  }

  /** The number of a user's sessions that are open or being opened. */
  countOf(user: string): number {
    return this.counts.get(user) ?? 0;
  }

  all(): readonly Session[] {
    return [...this.entries.values()].filter((entry) => !isOver(entry)).map(({ session }) => session);
  }

  /** Ends a session for all clients: interrupts its turn and drops its prompts. Resolves once it is closed. */
  async end(id: string): Promise<void> {
    const opening = this.opening.get(id);
    if (opening !== undefined) await opening.catch(() => undefined);
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    const { session } = entry;
    if (isOver(entry)) return session.ended;
    entry.isEnding = true;
    // Close it even if the log cannot be written.
    await session.interrupt().catch(() => undefined);
    await session.close();
  }

  /** Resolves when no session works. Ignores turns that wait for an absent client. */
  async idle(): Promise<void> {
    for (;;) {
      const busy = [...this.entries.values()].filter(isWorking).map(({ session }) => session);
      if (busy.length === 0) return;
      const released = new Promise<void>((resolve) => this.onRelease.add(resolve));
      const asking = busy.map((session) => session.nextRequest());
      await Promise.race([Promise.all(busy.map((session) => session.busy())), ...asking, released]);
      await otherWork();
    }
  }

  /** Closes all sessions, even those being opened, and refuses new ones. Running turns end with `cause`. */
  async close(cause?: AgentError): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled([...this.opening.values(), ...this.making]);
    const sessions = [...this.entries.values()].map(({ session }) => session);
    // A log that cannot be closed must not keep others open.
    await Promise.allSettled(sessions.map((session) => session.close(cause)));
  }

  /** Work that must settle before the session can be opened or created. */
  private inTheWay(id: string): Promise<unknown> | undefined {
    this.checkOpen();
    // Another caller's failure is not this one's.
    const other = this.opening.get(id)?.catch(() => undefined);
    const entry = this.entries.get(id);
    return other ?? (entry !== undefined && isOver(entry) ? entry.session.ended : undefined);
  }

  private alone<T>(id: string, work: () => Promise<T>): Promise<T> {
    const done = work().finally(() => this.opening.delete(id));
    this.opening.set(id, done);
    return done;
  }

  private async enter(session: Session): Promise<Entry> {
    if (this.isClosed) {
      await session.close();
      this.checkOpen();
    }
    const entry: Entry = { session, holds: new Set(), stopLeaving: undefined, isEnding: false };
    this.entries.set(session.id, entry);
    void session.ended.then(() => {
      this.entries.delete(session.id);
      entry.stopLeaving?.();
    });
    return entry;
  }

  private hold(entry: Entry, wasOpen: boolean): Hold {
    const { session, holds } = entry;
    const hold: Hold = {
      session,
      wasOpen,
      isShared: () => holds.size > (holds.has(hold) ? 1 : 0),
      release: () => {
        if (!holds.delete(hold) || holds.size > 0) return;
        this.leave(entry);
        for (const go of this.onRelease) go();
        this.onRelease.clear();
      },
    };
    holds.add(hold);
    entry.stopLeaving?.();
    return hold;
  }

  /** Closes a session without holds once its work is done and the idle time has passed. */
  private leave(entry: Entry): void {
    const { session } = entry;
    const { clock, idleMs, onIdle } = this.options;
    let stopTimer = (): void => undefined;
    let isStopped = false;
    entry.stopLeaving = () => {
      isStopped = true;
      entry.stopLeaving = undefined;
      stopTimer();
    };
    const closeUnlessBusy = async (): Promise<void> => {
      if (workOf(entry) !== undefined) return wait();
      // Close it even if its log fails: no client could react.
      await session.close().catch(() => undefined);
      onIdle?.(session);
    };
    const wait = async (): Promise<void> => {
      for (let work = workOf(entry); work !== undefined; work = workOf(entry)) await work.then(otherWork);
      if (isStopped || isOver(entry)) return;
      stopTimer = clock.after(idleMs, () => void closeUnlessBusy(), { background: true });
    };
    void wait();
  }

  /** Counts from the request on, so that concurrent requests count too. */
  private async counted(user: string | undefined, open: () => Promise<Hold>): Promise<Hold> {
    if (user === undefined) return open();
    this.count(user, 1);
    const giveBack = (): void => this.count(user, -1);
    try {
      const hold = await open();
      void hold.session.ended.then(giveBack);
      return hold;
    } catch (error) {
      giveBack();
      throw error;
    }
  }

  private count(user: string, more: 1 | -1): void {
    const count = this.countOf(user) + more;
    if (count === 0) this.counts.delete(user);
    else this.counts.set(user, count);
  }

  private checkOpen(): void {
    if (this.isClosed) throw new AgentError("session_closed", "The server is stopping and opens no more sessions.");
  }
}

/** `undefined` if there is nothing to wait for. Unanswerable requests don't count as work. */
function workOf({ session, holds }: Entry): Promise<unknown> | undefined {
  // A client's tool has its own time limit.
  const isAsking = [...session.openRequests().values()].some(({ kind }) => kind !== "tool");
  return holds.size === 0 && isAsking ? undefined : session.busy();
}

/** Whether it works on something that does not wait for an absent client. */
function isWorking({ session, holds }: Entry): boolean {
  return session.busy() !== undefined && (holds.size > 0 || session.openRequests().size === 0);
}

/** Closed or being closed. */
function isOver({ session, isEnding }: Entry): boolean {
  return isEnding || session.isClosed;
}
