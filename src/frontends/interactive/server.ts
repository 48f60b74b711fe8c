import type { AccessControl } from "../../access/access-control.ts";
import type { Identity } from "../../access/identity.ts";
import type { Report } from "../../access/report.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Session } from "../../engine/session/session.ts";
import type { Hold } from "../../engine/session/session-pool.ts";
import type { SessionParams } from "../../protocol/interactive.ts";
import { modelRefusal } from "./failures.ts";
import type { InteractiveOptions, ServerLog } from "./options.ts";
import { chosenExecution } from "./options.ts";
import { runOptionsOf, settingsOf } from "./session-settings.ts";
import { LiveSession } from "./shared-session.ts";

interface InteractiveParts {
  readonly engine: Engine;
  readonly access: AccessControl;
  readonly log: ServerLog;
  readonly report: Report;
  readonly options: InteractiveOptions;
}

/** A connection's part in a session. */
export interface Seat {
  readonly live: LiveSession;
  readonly hold: Hold;
}

/** State shared by the connections of `/ws`. */
export class InteractiveServer {
  readonly options: InteractiveOptions;
  readonly engine: Engine;
  readonly access: AccessControl;
  readonly report: Report;
  private readonly log: ServerLog;
  /** By session instead of id: a session that is still sending its last events can already be open again under the same id. */
  private readonly live = new Map<Session, Promise<LiveSession>>();

  constructor({ engine, access, log, report, options }: InteractiveParts) {
    this.engine = engine;
    this.access = access;
    this.log = log;
    this.report = report;
    this.options = options;
  }

  /** Rejects with the failure to send to the client. */
  async start(userId: string, params: SessionParams, who: Identity): Promise<Seat> {
    const { cwd, reasoningEffort } = this.options;
    const execution = chosenExecution(params.toolExecution, this.options);
    const settings = settingsOf(params, { ...this.access.defaults(who), reasoningEffort, userId, execution });
    const creating = this.access.create({ cwd, settings, run: runOptionsOf(this.options) }, who);
    const hold = await creating.catch((error: unknown) => {
      const report = (): string => this.report(error, { method: "startSession", user: who.user });
      throw modelRefusal(error, report) ?? error;
    });
    const seat = await this.seatOver(hold);
    this.log.info("session.started", { sessionId: hold.session.id, user: who.user, userId, execution });
    return seat;
  }

  /** Opens a session, from its log if needed. */
  async resume(sessionId: string, who: Identity): Promise<Seat> {
    for (;;) {
      const seat = await this.seatOver(await this.access.open(sessionId, who, runOptionsOf(this.options)));
      if (!seat.live.session.isClosed) return seat;
      // It was ended in the meantime: open it again.
      seat.hold.release();
    }
  }

  /** Takes a seat in an open session that the client can work with. */
  async join(sessionId: string, who: Identity): Promise<Seat | undefined> {
    const hold = await this.access.join(sessionId, who);
    return hold && this.seatOver(hold);
  }

  /** Ends a session for all clients. No effect unless it is open and the client can work with it. */
  async stop(sessionId: string, who: Identity): Promise<void> {
    const session = this.access.find(sessionId, who);
    if (session === undefined) return;
    const live = await this.live.get(session);
    live?.endAsAsked();
    await this.access.stop(sessionId, who);
    await live?.ended;
    this.log.info("session.ended", { sessionId, user: who.user, status: 2, reason: "completed" });
  }

  /** Closes a session because no client returned to it. */
  wasIdle(session: Session): void {
    const { owner: user } = session.settings;
    this.log.info("session.ended", { sessionId: session.id, user, status: 2, reason: "disconnected" });
  }

  /** Releases the hold on failure. */
  private async seatOver(hold: Hold): Promise<Seat> {
    try {
      return { live: await this.liveOver(hold.session), hold };
    } catch (error) {
      hold.release();
      throw error;
    }
  }

  /** One for all listeners of a session. Rejects when its past cannot be read. */
  private liveOver(session: Session): Promise<LiveSession> {
    const known = this.live.get(session);
    if (known !== undefined) return known;
    const opened = LiveSession.over(session, (error) => this.report(error, { sessionId: session.id }));
    this.live.set(session, opened);
    const forget = (): void => void this.live.delete(session);
    opened.then((live) => live.ended).then(forget, forget);
    return opened;
  }
}
