import type { Engine, NewSession } from "../engine/engine.ts";
import { UnreadableLogError } from "../engine/errors.ts";
import type { SettingsChanges } from "../engine/event.ts";
import type { Clock, ModelInfo, SessionInfo } from "../engine/ports.ts";
import type { Session } from "../engine/session/session.ts";
import type { Hold, SessionPool } from "../engine/session/session-pool.ts";
import { type Autonomy, lowerLevel, type RunOptions, type SessionSettings } from "../engine/settings.ts";
import { canOpen, checkCan, seesAll } from "./capability.ts";
import {
  boundModels,
  bounds,
  checkAutonomy,
  checkFolder,
  checkModels,
  commonModels,
  defaultModel,
  isWithin,
  nameable,
} from "./ceilings.ts";
import { DeniedError } from "./denied.ts";
import type { Identity } from "./identity.ts";
import { createLimits, type LimitOptions, type Limits } from "./limits.ts";
import type { Report } from "./report.ts";
import { createUnanswered, type Unanswered } from "./unanswered.ts";

export interface AccessOptions {
  /** The server's own model, for sessions that name none and users who cannot choose. */
  readonly modelId: string;
  /** The highest level of reopened sessions, for users without a ceiling. */
  readonly autonomy: Autonomy;
  /** Canonical. It holds the tokens and all users' sessions. */
  readonly ownHome?: string;
  readonly limits: LimitOptions;
}

interface AccessParts {
  readonly engine: Engine;
  readonly pool: SessionPool;
  readonly clock: Clock;
  readonly options: AccessOptions;
  readonly report: Report;
}

/**
 * Decides who can do what in a server's sessions, for every wire. Throws and rejects with a `DeniedError`; a session that
 * the caller cannot see is `session_not_found`.
 */
export class AccessControl {
  private readonly parts: AccessParts;
  private readonly limits: Limits;
  private readonly unanswered: Unanswered = createUnanswered();
  private readonly revoked = new WeakSet<Identity>();
  /** Sessions already lowered to the level for reopened ones. Levels that clients raise later are kept. */
  private readonly settled = new WeakSet<Session>();
  private isDraining = false;

  constructor(parts: AccessParts) {
    const { pool, clock, options } = parts;
    this.parts = parts;
    this.limits = createLimits(options.limits, clock, (user) => pool.countOf(user));
  }

  /** How long a session without a client stays open. */
  get idleMs(): number {
    return this.parts.pool.idleMs;
  }

  /** Refuses everything new. */
  drain(): void {
    this.isDraining = true;
  }

  /** Defaults of new sessions, for everything that the client does not name. */
  defaults(who: Identity): Pick<SessionSettings, "modelId" | "autonomy"> {
    const { modelId, autonomy } = this.parts.options;
    return {
      modelId: defaultModel(who, modelId),
      autonomy: lowerLevel(autonomy, who.ceilings?.autonomy ?? "high"),
    };
  }

  async models(who: Identity): Promise<readonly ModelInfo[]> {
    return nameable(who, await this.parts.engine.models(), this.parts.options.modelId);
  }

  checkModels(models: SettingsChanges, who: Identity): void {
    checkModels(models, who, this.parts.options.modelId);
  }

  /** Creates a session that belongs to the caller. Rejects as `pool.create` does. */
  async create(wanted: NewSession, who: Identity): Promise<Hold> {
    const { pool } = this.parts;
    const { cwd, run } = wanted;
    const settings = { ...wanted.settings, owner: who.user };
    this.begin(who);
    checkCan(who, "create", "A new session");
    if (run?.unsafe === true) checkCan(who, "host", "skipPermissionsUnsafe");
    this.checkModels(settings, who);
    checkAutonomy(settings, who.ceilings?.autonomy ?? "high");
    if (settings.clientRunsTools !== true) this.checkFolder(cwd, who);
    this.limits.checkRoom(who.user);
    this.limits.countOpening(who.user);
    const giveBack = this.limits.keep(who.user, sizeOf(settings));
    const hold = await pool.create({ ...wanted, settings }).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    void hold.session.ended.then(giveBack);
    this.settled.add(hold.session);
    return this.within(hold, who);
  }

  /** Opens a session, from its log if needed, within the caller's ceilings. Rejects as `pool.open` does. */
  async open(sessionId: string, who: Identity, run: RunOptions = {}): Promise<Hold> {
    const { pool } = this.parts;
    this.begin(who);
    this.limits.countOpening(who.user);
    if (pool.get(sessionId) === undefined) this.limits.checkRoom(who.user);
    const allows = (settings: SessionSettings): boolean => canOpen(who, settings, "read");
    const opening = pool.open(sessionId, { toRead: true, run, allows, openedFor: who.user });
    const hold = await opening.catch((error: unknown) => {
      throw error instanceof UnreadableLogError ? this.unreadable(error, sessionId, who) : error;
    });
    return this.within(hold, who);
  }

  /** Takes a hold on an open session that the caller can work with. */
  async join(sessionId: string, who: Identity): Promise<Hold | undefined> {
    if (this.find(sessionId, who) === undefined) return undefined;
    return this.within(await this.parts.pool.open(sessionId), who);
  }

  find(sessionId: string, who: Identity): Session | undefined {
    const session = this.parts.pool.get(sessionId);
    return session !== undefined && this.canUse(session, who) ? session : undefined;
  }

  isOpen(sessionId: string): boolean {
    return this.parts.pool.get(sessionId) !== undefined;
  }

  canUse({ settings }: Session, who: Identity): boolean {
    return canOpen(who, settings, "use");
  }

  /** Ends a session for all clients. No effect unless it is open and the caller can work with it. */
  async stop(sessionId: string, who: Identity): Promise<void> {
    if (this.find(sessionId, who) !== undefined) await this.parts.pool.end(sessionId);
  }

  /** Copies a session and closes the copy, which belongs to the same owner. Rejects as `engine.fork` does. */
  async fork(
    session: Session,
    who: Identity,
    options: { readonly title: string; readonly changes?: SettingsChanges },
  ): Promise<string> {
    this.begin(who);
    checkCan(who, "create", "A fork");
    if (options.changes !== undefined) this.checkChanges(session, options.changes, who);
    if (session.settings.clientRunsTools !== true) checkFolder(session.cwd, who);
    this.limits.countOpening(who.user);
    const allows = (settings: SessionSettings): boolean => canOpen(who, settings, "use");
    const { session: fork } = await this.parts.engine.fork(session.id, { ...options, toRead: true, allows });
    await fork.close();
    return fork.id;
  }

  /** Newest first; only the caller's own, unless the caller sees all. */
  list(who: Identity, limit: number): Promise<readonly SessionInfo[]> {
    return this.parts.engine.list({ limit, ...(seesAll(who) ? {} : { owner: who.user }) });
  }

  /** Counts a request to load a session that the client already has open. */
  countReading(who: Identity): void {
    this.begin(who);
    this.limits.countOpening(who.user);
  }

  checkChanges(session: Session, changes: SettingsChanges, who: Identity): void {
    this.checkToken(who);
    checkCan(who, "configure", "A change of settings");
    this.checkModels(changes, who);
    checkAutonomy(changes, lowerLevel(session.highestAutonomy, who.ceilings?.autonomy ?? "high"));
  }

  /** Admits a message. Call the returned function, once or more, when the message has its answer. */
  admit(session: Session, characters: number, who: Identity, mostUnanswered = Number.POSITIVE_INFINITY): () => void {
    this.begin(who);
    checkCan(who, "use", "A message");
    if (this.unanswered.countIn(session) > mostUnanswered) {
      throw new DeniedError("queue_full", `Message queue full (${mostUnanswered} waiting). Wait for an answer.`);
    }
    const giveBack = this.limits.wait(who.user, characters);
    const forget = this.unanswered.add(session, who.user);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      giveBack();
      forget();
    };
  }

  /**
   * The user of this token lost rights: stops what they asked for in all sessions, and closes their own. Resolves with the
   * failures; one does not hold up the others.
   */
  async revoke(who: Identity): Promise<readonly unknown[]> {
    const { pool } = this.parts;
    this.revoked.add(who);
    const own = pool.all().filter(({ settings }) => settings.owner === who.user);
    const others = this.unanswered.sessionsOf(who.user).filter((session) => !own.includes(session));
    const ends = [...own.map(({ id }) => pool.end(id)), ...others.map((session) => session.interrupt())];
    const ended = await Promise.allSettled(ends);
    return ended.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  }

  private begin(who: Identity): void {
    this.checkToken(who);
    if (this.isDraining) throw new DeniedError("draining", "The server is stopping.");
  }

  private checkToken(who: Identity): void {
    if (this.revoked.has(who)) throw new DeniedError("forbidden", "This token was revoked.");
  }

  private checkFolder(folder: string, who: Identity): void {
    const { ownHome } = this.parts.options;
    if (ownHome !== undefined && isWithin(ownHome, folder)) {
      const words = `Folder ${JSON.stringify(folder)} belongs to the server. Choose another one.`;
      throw new DeniedError("forbidden", words);
    }
    checkFolder(folder, who);
  }

  /** Brings a session within the caller's ceilings. Releases the hold if that fails. */
  private async within(hold: Hold, who: Identity): Promise<Hold> {
    const { session } = hold;
    const { modelId, autonomy } = this.parts.options;
    try {
      this.checkToken(who);
      const { settings, cwd } = session;
      if (settings.clientRunsTools !== true) checkFolder(cwd, who);
      const ceiling = who.ceilings?.autonomy;
      // It stays that low until the session closes, whichever clients join.
      session.highestAutonomy = lowerLevel(session.highestAutonomy, ceiling ?? "high");
      session.allowedModels = commonModels(session.allowedModels, who.ceilings?.models);
      const changes = {
        ...bounds(settings, { most: ceiling ?? (this.settled.has(session) ? undefined : autonomy) }),
        ...(this.canUse(session, who) ? boundModels(settings, who, modelId) : {}),
      };
      if (Object.keys(changes).length > 0) await session.update(changes);
      this.settled.add(session);
      return hold;
    } catch (error) {
      hold.release();
      throw error;
    }
  }

  private unreadable(error: unknown, sessionId: string, { user }: Identity): DeniedError {
    const errorId = this.parts.report(error, { sessionId, user });
    const words = "This session cannot be read: its log is damaged, or from a later version. See the server's log.";
    return new DeniedError("session_unreadable", words, { errorId }, "storage_failed");
  }
}

function sizeOf({ clientTools = [], systemPrompt = "", appendSystemPrompt = "" }: SessionSettings): number {
  return clientTools.reduce(
    (sum, tool) => sum + tool.name.length + tool.description.length + tool.inputSchema.length,
    systemPrompt.length + appendSystemPrompt.length,
  );
}
