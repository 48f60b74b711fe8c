import type { Engine, NewSession, ResumedSession } from "../../core/engine.ts";
import type { Session } from "../../core/session.ts";
import type { Hold, SessionPool } from "../../core/session-pool.ts";
import type { SessionSettings } from "../../core/settings.ts";

/** What a connection needs to know to share sessions with others. */
export interface Shared {
  readonly pool: SessionPool;
  /** Whose the sessions are that are made here. */
  readonly owner: string;
  /** Whether this client may have a session with such settings. To others it is not there. */
  allows(settings: SessionSettings): boolean;
  /** Words for why this client may not ask for that, if it may not. */
  refuse?(method: string, params: unknown): string | undefined;
  /** Whether what it answers counts; a client that only looks on neither answers nor ends anything. */
  readonly canAnswer: boolean;
}

/** Where a connection has its sessions from. */
export interface Sessions {
  create(options: NewSession): Promise<Held>;
  open(id: string, options: ResumedSession): Promise<Held>;
}

/** A session as long as a connection works with it. */
export interface Held {
  readonly session: Session;
  /** Somebody works with it already, and it is not for a newcomer to change it. */
  readonly wasOpen: boolean;
  /** It goes on when this client leaves, and what is open in it waits for the next one. */
  readonly goesOn: boolean;
  readonly canAnswer: boolean;
  /** For how long a client that was lost is still somebody to be asked, in milliseconds. */
  readonly missedForMs: number;
  /** Whether it ends when this client closes it: nobody else is there. */
  isLast(): boolean;
  /** Ends it for everybody. */
  end(): Promise<void>;
  /** This client needs it no more. */
  release(): Promise<void> | void;
}

/** Sessions of one client alone: they end with it. */
export function ownSessions(engine: Engine): Sessions {
  const own = (session: Session): Held => ({
    session,
    wasOpen: false,
    goesOn: false,
    canAnswer: true,
    missedForMs: 0,
    isLast: () => true,
    end: () => session.close(),
    release: () => session.close(),
  });
  return {
    create: async (options) => own(await engine.create(options)),
    async open(id, options) {
      const { session } = await engine.resume(id, options);
      return own(session);
    },
  };
}

/** Sessions that others may work with, too: a client that leaves takes nothing along. */
export function sharedSessions({ pool, owner, allows, canAnswer }: Shared): Sessions {
  const shared = (hold: Hold): Held => ({
    session: hold.session,
    wasOpen: hold.wasOpen,
    goesOn: true,
    canAnswer,
    missedForMs: pool.idleMs,
    isLast: () => canAnswer && !hold.isShared(),
    end: () => pool.end(hold.session.id),
    release: () => hold.release(),
  });
  return {
    create: async (options) => shared(await pool.create({ ...options, settings: { ...options.settings, owner } })),
    open: async (id, options) => shared(await pool.open(id, { ...options, allows, openedFor: owner })),
  };
}
