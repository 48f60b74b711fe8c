import type { AccessControl } from "../../access/access-control.ts";
import { can, checkCan } from "../../access/capability.ts";
import { bounds } from "../../access/ceilings.ts";
import type { Identity } from "../../access/identity.ts";
import type { Engine, NewSession } from "../../engine/engine.ts";
import type { SettingsChanges } from "../../engine/event.ts";
import type { ModelInfo } from "../../engine/ports.ts";
import type { Session } from "../../engine/session/session.ts";
import type { Hold } from "../../engine/session/session-pool.ts";
import type { Autonomy, RunOptions } from "../../engine/settings.ts";
import type { Need } from "./methods/needs.ts";

/** A connection's sessions are shared with other connections, and `access` decides what this client can do in them. */
export interface Shared {
  readonly access: AccessControl;
  readonly who: Identity;
}

interface Fork {
  readonly title: string;
  readonly changes?: SettingsChanges;
}

/** Where a connection has its sessions from. Each throws, or rejects, where the client cannot have that. */
export interface Sessions {
  check(needs: readonly Need[], models: SettingsChanges): void;
  create(options: NewSession): Promise<Held>;
  open(id: string, run: RunOptions): Promise<Held>;
  /** The client asks again for all of a session that it has. */
  readAgain(): void;
  /** The id of the copy, which is closed. */
  fork(session: Session, options: Fork): Promise<string>;
  checkChanges(session: Session, changes: SettingsChanges): void;
  /** Takes a message in; the returned function says that it has its answer. */
  admit(session: Session, characters: number): () => void;
  models(): Promise<readonly ModelInfo[]>;
}

/** A session as long as a connection works with it. */
export interface Held {
  readonly session: Session;
  /** Another client works with it already, so opening it changes nothing in it. */
  readonly wasOpen: boolean;
  /** It goes on when this client leaves, and what is open in it waits for the next one. */
  readonly goesOn: boolean;
  readonly canAnswer: boolean;
  /** For how long a client that was lost can still be asked, in milliseconds. */
  readonly missedForMs: number;
  /** Whether it ends when this client closes it: no other client is there. */
  isLast(): boolean;
  /** Ends it for everybody. */
  end(): Promise<void>;
  /** This client needs it no more. */
  release(): Promise<void> | void;
}

/** Sessions of one client alone, which owns the process: they end with it. `started`: what the command line said. */
export function ownSessions(
  engine: Engine,
  started: { readonly autonomy?: Autonomy | undefined; readonly spec?: boolean | undefined },
): Sessions {
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
    check: () => undefined,
    create: async (options) => own(await engine.create(options)),
    async open(id, run) {
      const { session } = await engine.resume(id, { toRead: true, run });
      try {
        await session.update(bounds(session.settings, { most: started.autonomy, spec: started.spec }));
        return own(session);
      } catch (error) {
        await session.close();
        throw error;
      }
    },
    readAgain: () => undefined,
    async fork({ id }, options) {
      const { session } = await engine.fork(id, { ...options, toRead: true });
      await session.close();
      return session.id;
    },
    checkChanges: () => undefined,
    admit: () => () => undefined,
    models: () => engine.models(),
  };
}

/** Sessions that others can work with, too: a client that leaves takes nothing along. */
export function sharedSessions({ access, who }: Shared): Sessions {
  const canAnswer = can(who, "use");
  const shared = (hold: Hold): Held => ({
    session: hold.session,
    wasOpen: hold.wasOpen,
    goesOn: true,
    canAnswer,
    missedForMs: access.idleMs,
    isLast: () => canAnswer && !hold.isShared(),
    end: () => access.stop(hold.session.id, who),
    release: () => hold.release(),
  });
  return {
    check(needs, models) {
      for (const { capability, what } of needs) checkCan(who, capability, what);
      access.checkModels(models, who);
    },
    create: async (options) => shared(await access.create(options, who)),
    open: async (id, run) => shared(await access.open(id, who, run)),
    readAgain: () => access.countReading(who),
    fork: (session, options) => access.fork(session, who, options),
    checkChanges: (session, changes) => access.checkChanges(session, changes, who),
    admit: (session, characters) => access.admit(session, characters, who),
    models: () => access.models(who),
  };
}
