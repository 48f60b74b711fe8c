import type { AuthProvider } from "@modelcontextprotocol/client";
import type { ServerOAuth } from "../../engine/servers/server-entry.ts";
import type { PendingSignIn } from "../../engine/servers/server-state.ts";
import { createBearer, usableTokens } from "./bearer.ts";
import type { FetchParts } from "./bounded-fetch.ts";
import { SignInNeeded } from "./faults.ts";
import { loadLibrary } from "./library.ts";
import { createWithLock } from "./lock.ts";
import { type RunningSignIn, runSignIn } from "./running.ts";
import type { Challenge, SignInAnswer, SignInEnd, SignInServer } from "./server.ts";
import { createTokenStore } from "./token-store.ts";

export interface SignInOptions extends FetchParts {
  /** Tinman's home. */
  readonly home: string;
}

/** The sign-ins of this process. Creating it loads, reads and opens nothing. */
export interface SignIns {
  /** `oauth`: the configured part. Never throws. */
  forServer(name: string, url: string, oauth?: ServerOAuth, callbackUri?: string): ServerSignIn;
  /** Removes the tokens of a server for all its addresses. False if there are none. Rejects as the store does. */
  forget(name: string): Promise<boolean>;
  /** Cancels all sign-ins, and resolves when they have ended. */
  close(): Promise<void>;
}

/** Signing in to one server. Several sessions can hold one: tokens and a sign-in that waits are shared. */
export interface ServerSignIn {
  /**
   * For a transport. It rejects with `SignInNeeded` if only the user can help, with `SignInFault` if tokens could not be
   * refreshed, and as the store does.
   */
  readonly authProvider: AuthProvider;
  /** Whether a failed request of the transport asks for a sign-in. Remembers what the server asked for. */
  isNeeded(error: unknown): Promise<boolean>;
  /** False also if the store is unreadable. */
  hasTokens(): Promise<boolean>;
  /** A sign-in that waits for the user. */
  readonly pending: PendingSignIn | undefined;
  /**
   * Starts a sign-in, or joins the one that runs. Calls `required` when the user can sign in. Resolves when it has ended, at
   * most 5 minutes later, and never rejects. It does not keep the process alive.
   */
  start(required: (pending: PendingSignIn) => void): Promise<SignInEnd>;
  /** The user's answer. False if no sign-in with this state waits. Its outcome is that of `start`. */
  finish(state: string, answer: SignInAnswer): Promise<boolean>;
  /** False if none runs. */
  cancel(): Promise<boolean>;
  /** Signs out: cancels a sign-in, and removes the tokens. False if there are none. Rejects as the store does. */
  forget(): Promise<boolean>;
  /** The session ends: cancels the sign-in unless another session waits for it. */
  close(): void;
}

interface Shared {
  readonly key: string;
  readonly server: SignInServer;
  readonly running: RunningSignIn;
  /** The sessions that wait for it. */
  readonly waiting: Set<ServerSignIn>;
}

export function createSignIns(options: SignInOptions): SignIns {
  const withLock = createWithLock(options.clock);
  const store = createTokenStore(options.home, withLock);
  const running = new Map<string, Shared>();

  /** At once another one can start. False if it has ended, or its tokens are being stored. */
  function stop(shared: Shared | undefined): boolean {
    if (shared === undefined || !shared.running.cancel()) return false;
    running.delete(shared.key);
    return true;
  }

  async function stopAll(all: readonly Shared[]): Promise<void> {
    for (const shared of all) stop(shared);
    await Promise.all(all.map((shared) => shared.running.ended));
  }

  async function forget(name: string): Promise<boolean> {
    await stopAll([...running.values()].filter(({ server }) => server.name === name));
    return store.removeAll(name);
  }

  function forServer(name: string, url: string, oauth: ServerOAuth = {}, callbackUri?: string): ServerSignIn {
    const address = addressOf(url);
    const server = { name, url: address, oauth, ...(callbackUri === undefined ? {} : { callbackUri }) };
    const key = JSON.stringify([name, address, oauth, callbackUri]);
    let challenge: Challenge | undefined;
    const challenged = (said: Challenge): void => {
      challenge = said;
    };

    function begin(): Shared {
      const now = runSignIn({ ...options, server, challenge, store });
      const shared: Shared = { key, server, running: now, waiting: new Set() };
      running.set(key, shared);
      const leave = (): void => void (running.get(key) === shared && running.delete(key));
      now.ended.then(leave, leave);
      return shared;
    }

    const own: ServerSignIn = {
      authProvider: createBearer({ ...options, server, store, withLock, challenged }),
      async isNeeded(error) {
        if (error instanceof SignInNeeded) return true;
        const { InsufficientScopeError, SdkErrorCode, SdkHttpError, UnauthorizedError } = await loadLibrary();
        if (error instanceof InsufficientScopeError) {
          const { requiredScope: scope, resourceMetadataUrl: metadata } = error;
          const about = metadata === undefined ? {} : { resourceMetadataUrl: metadata };
          challenged({ ...about, ...(scope === undefined ? {} : { scope }), isStepUp: true });
          return true;
        }
        if (error instanceof UnauthorizedError) return true;
        return error instanceof SdkHttpError && error.code === SdkErrorCode.ClientHttpAuthentication;
      },
      async hasTokens() {
        const stored = await store.read(server).catch(() => undefined);
        return usableTokens(server, stored) !== undefined;
      },
      get pending() {
        return running.get(key)?.running.pending();
      },
      async start(required) {
        const shared = running.get(key) ?? begin();
        shared.waiting.add(own);
        const pending = await shared.running.ready;
        if (pending !== undefined) required(pending);
        return shared.running.ended;
      },
      async finish(state, answer) {
        return running.get(key)?.running.take(state, answer, false) !== undefined;
      },
      async cancel() {
        return stop(running.get(key));
      },
      forget: () => forget(name),
      close() {
        const shared = running.get(key);
        if (shared?.waiting.delete(own) === true && shared.waiting.size === 0) stop(shared);
      },
    };
    return own;
  }

  return {
    forServer,
    forget,
    close: () => stopAll([...running.values()]),
  };
}

/** As stored: the address without its fragment. */
function addressOf(url: string): string {
  if (!URL.canParse(url)) return url;
  const address = new URL(url);
  address.hash = "";
  return address.href;
}
