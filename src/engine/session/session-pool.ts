import { otherWork } from "../../async/pace.ts";
import type { Engine, NewSession, ResumedSession } from "../engine.ts";
import { AgentError } from "../errors.ts";
import type { Clock } from "../ports.ts";
import type { Session } from "./session.ts";

/** A client's hold on a session: as long as there is one, the session stays open. */
export interface Hold {
  readonly session: Session;
  /** The session was open before somebody asked for this hold. */
  readonly wasOpen: boolean;
  /** Whether others hold the session, too. */
  isShared(): boolean;
  /** Safe to call twice. */
  release(): void;
}

export interface PoolOptions {
  readonly clock: Clock;
  /** How long a session that nobody holds stays open after its last turn. */
  readonly idleMs: number;
  /** Called when one was closed because of that. */
  onIdle?(session: Session): void;
}

interface Entry {
  readonly session: Session;
  readonly holds: Set<Hold>;
  /** Set while nobody holds it: it is told when somebody does again. */
  stopLeaving: (() => void) | undefined;
  /** It is being ended: whoever wants it waits for that, and opens it anew. */
  isEnding: boolean;
}

/** Sessions of one process that several clients share. Each is open once, however many there are that want it. */
export class SessionPool {
  private readonly engine: Engine;
  private readonly options: PoolOptions;
  private readonly entries = new Map<string, Entry>();
  /** Being opened, or made under a name that somebody chose. */
  private readonly opening = new Map<string, Promise<unknown>>();
  /** Of the open ones, by whom they were opened for. */
  private readonly counts = new Map<string, number>();
  /** Being made. */
  private readonly making = new Set<Promise<unknown>>();
  /** Called when the last holder of a session lets go of it. */
  private readonly onRelease = new Set<() => void>();
  private isClosed = false;

  constructor(engine: Engine, options: PoolOptions) {
    this.engine = engine;
    this.options = options;
  }

  /** How long a session that nobody holds waits for somebody. */
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
    // Must not yield when nothing is in the way: a second caller in the same tick has to see that this id is taken.
    for (let wait = this.inTheWay(id); wait !== undefined; wait = this.inTheWay(id)) await wait.then(otherWork);
    return this.alone(id, make);
  }

  /**
   * The one that is open, or opened now: only then do the other options count. Rejects as `engine.resume` does. Those that
   * open it at the same time share it. `openedFor`: on whose account it is open from now on, if it was not before.
   */
  async open(id: string, options: ResumedSession & { readonly openedFor?: string } = {}): Promise<Hold> {
    // Nothing is waited for where nothing is in the way: whoever asks in the same moment must find this one there.
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
      throw new AgentError("session_not_found", `There is no session ${id}.`);
    }
    return this.hold(found, true);
  }

  get(id: string): Session | undefined {
    const entry = this.entries.get(id);
    return entry === undefined || isOver(entry) ? undefined : entry.session;
  }

  /** How many sessions are open on somebody's account, or are just being opened. */
  countOf(user: string): number {
    return this.counts.get(user) ?? 0;
  }

  all(): readonly Session[] {
    return [...this.entries.values()].filter((entry) => !isOver(entry)).map(({ session }) => session);
  }

  /** Ends it for everybody: what runs is interrupted, what waits is dropped. Resolves when nothing of it is left. */
  async end(id: string): Promise<void> {
    const opening = this.opening.get(id);
    if (opening !== undefined) await opening.catch(() => undefined);
    const entry = this.entries.get(id);
    if (entry === undefined) return;
    const { session } = entry;
    if (isOver(entry)) return session.ended;
    entry.isEnding = true;
    // A log that takes nothing more keeps nobody from leaving.
    await session.interrupt().catch(() => undefined);
    await session.close();
  }

  /** Resolves when no session works any more. A turn that waits for a client that is gone is not waited for. */
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

  /** Closes every session, also those that are just being opened. Nothing can be opened any more. Turns that run end with `cause`. */
  async close(cause?: AgentError): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled([...this.opening.values(), ...this.making]);
    const sessions = [...this.entries.values()].map(({ session }) => session);
    // One log that cannot be closed keeps none of the others open.
    await Promise.allSettled(sessions.map((session) => session.close(cause)));
  }

  /** What must be over before anybody else may open the session, or make it. */
  private inTheWay(id: string): Promise<unknown> | undefined {
    this.checkOpen();
    // What failed for somebody else need not fail for the next one.
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

  /** Nobody holds it: what it has to do is done, then it waits a while for somebody, then it is closed. */
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
      // It is closed also when its log could not be: nobody is there who could do anything about it.
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

  /** Counts from the moment in which somebody asks for it: whoever asks at the same time counts, too. */
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
    if (this.isClosed) throw new AgentError("session_closed", "No session can be opened any more.");
  }
}

/** `undefined` when there is nothing to wait for: nor is an answer that nobody is there to give. */
function workOf({ session, holds }: Entry): Promise<unknown> | undefined {
  // A client's tool is different: it has its own time.
  const isAsking = [...session.openRequests().values()].some(({ kind }) => kind !== "tool");
  return holds.size === 0 && isAsking ? undefined : session.busy();
}

/** Whether work goes on in it that does not wait for an absent client. */
function isWorking({ session, holds }: Entry): boolean {
  return session.busy() !== undefined && (holds.size > 0 || session.openRequests().size === 0);
}

/** Being closed by somebody, or closed. */
function isOver({ session, isEnding }: Entry): boolean {
  return isEnding || session.isClosed;
}
