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

/** Sessions shared between connections, where `access` decides what this client can do. */
export interface Shared {
  readonly access: AccessControl;
  readonly who: Identity;
}

interface Fork {
  readonly title: string;
  readonly changes?: SettingsChanges;
}

/** A connection's source of sessions. Each method throws or rejects if the client lacks the right. */
export interface Sessions {
  check(needs: readonly Need[], models: SettingsChanges): void;
  create(options: NewSession): Promise<Held>;
  open(id: string, run: RunOptions): Promise<Held>;
  /** The client loads a session that it already has open. */
  readAgain(): void;
  /** The id of the copy, which is closed. */
  fork(session: Session, options: Fork): Promise<string>;
  checkChanges(session: Session, changes: SettingsChanges): void;
  /** Admits a message; call the returned function when it is answered. */
  admit(session: Session, characters: number): () => void;
  models(): Promise<readonly ModelInfo[]>;
}

/** A session while a connection works with it. */
export interface Held {
  readonly session: Session;
  /** Another client has it open already, so opening it changes nothing. */
  readonly wasOpen: boolean;
  /** It outlives this client, and its questions wait for the next one. */
  readonly goesOn: boolean;
  readonly canAnswer: boolean;
  /** The client can sign in at MCP servers, so it gets the links for it. */
  readonly canSignIn: boolean;
  /** Milliseconds for which a lost client can still be asked. */
  readonly missedForMs: number;
  /** Whether closing ends it, because no other client is there. */
  isLast(): boolean;
  /** Ends it for all clients. */
  end(): Promise<void>;
  release(): Promise<void> | void;
}

/** Sessions of a single client, which end with its process. `started`: settings from the command line. */
export function ownSessions(
  engine: Engine,
  started: { readonly autonomy?: Autonomy | undefined; readonly spec?: boolean | undefined },
): Sessions {
  const own = (session: Session): Held => ({
    session,
    wasOpen: false,
    goesOn: false,
    canAnswer: true,
    canSignIn: true,
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

/** Sessions shared with other clients, which continue when one leaves. */
export function sharedSessions({ access, who }: Shared): Sessions {
  const canAnswer = can(who, "use");
  const shared = (hold: Hold): Held => ({
    session: hold.session,
    wasOpen: hold.wasOpen,
    goesOn: true,
    canAnswer,
    canSignIn: can(who, "host"),
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
