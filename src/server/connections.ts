import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import { settlesWithin } from "../async/promises.ts";
import type { ConnectionHandler, ServedConnection } from "../frontends/front-end.ts";
import type { CutOff, WatchedSocket } from "../rpc/web-socket.ts";
import { serveWebSocket } from "../rpc/web-socket.ts";
import { errorMessage } from "../text/values.ts";
import type { Credential } from "./credentials.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

export type Wire = Pick<Duplex, "cork" | "uncork">;

interface ConnectionsOptions {
  readonly unsentBytes: number;
  readonly stalledMs: number;
  readonly pingMs: number;
  readonly log: Log;
  readonly metrics: Metrics;
}

interface Live {
  readonly socket: WebSocket;
  readonly watched: WatchedSocket;
  readonly credential: Credential;
  readonly served: ServedConnection;
  /** Answered the last ping. */
  hasAnswered: boolean;
  signs: number;
  isOver: boolean;
  end(): void;
}

const policyViolation = 1008;
const internalError = 1011;
const isOpen = 1;
/** Pings are answered while the client has at most this much unread. */
const mostPongs = 64 * 1024;
/** Connections pinged before other tasks have their turn. */
const batch = 100;

export type Connections = ReturnType<typeof createConnections>;

export function createConnections(options: ConnectionsOptions) {
  const { log, metrics, pingMs } = options;
  const all = new Set<Live>();
  const endings = new Set<Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function add(socket: WebSocket, wire: Wire, route: string, handler: ConnectionHandler, credential: Credential): void {
    const { user, role } = credential.identity;
    const cutOff = (reason: CutOff): void => cut(reason, { route, user });
    const watched = serveWebSocket(socket, { ...options, beforeSend: corkOnce(wire), onCutOff: cutOff });
    metrics.connectionOpened(route);
    log.debug("connection.opened", { route, user, role });
    let live: Live | undefined;
    // A client that pings and does not read must not pile up answers here.
    socket.on("ping", (data) => {
      if (socket.bufferedAmount < mostPongs) socket.pong(data);
    });
    socket.on("error", (error) => log.debug("connection.failed", { route, user, reason: error.message }));
    socket.on("close", (code) => {
      metrics.connectionClosed(route);
      log.debug("connection.closed", { route, user, code });
      if (live === undefined) return;
      all.delete(live);
      live.end();
      if (all.size === 0) stopPinging();
    });
    const served = tryTo(() => handler(watched, credential.identity));
    if (served === undefined) {
      watched.close(internalError, "internal error");
      return;
    }
    live = { socket, watched, credential, served, hasAnswered: true, signs: 0, isOver: false, end: () => end(live) };
    socket.on("pong", () => {
      if (live !== undefined) live.hasAnswered = true;
    });
    all.add(live);
    timer ??= pingLater();
  }

  /** Called once per connection; releases what served it. */
  function end(live: Live | undefined): void {
    if (live === undefined || live.isOver) return;
    live.isOver = true;
    const ending = (async () => live.served.closed())()
      .catch((error: unknown) => log.error("connection.fault", { reason: wordsOf(error) }))
      .finally(() => endings.delete(ending));
    endings.add(ending);
  }

  function tryTo<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      log.error("connection.fault", { reason: wordsOf(error) });
      return undefined;
    }
  }

  function cut(reason: string, fields: { readonly route?: string; readonly user: string }): void {
    metrics.connectionCut(reason);
    log.warn("connection.cut", { ...fields, reason });
  }

  function pingLater(): ReturnType<typeof setTimeout> {
    const again = (): void => {
      if (timer === mine) timer = all.size === 0 ? undefined : pingLater();
    };
    const failed = (error: unknown): void => log.error("connection.fault", { reason: wordsOf(error) });
    const mine = setTimeout(() => void pingAll().catch(failed).finally(again), pingMs);
    return mine.unref();
  }

  function stopPinging(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  async function pingAll(): Promise<void> {
    let count = 0;
    for (const live of all) {
      ping(live);
      if (++count % batch === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  function ping(live: Live): void {
    const { socket, watched } = live;
    if (socket.readyState !== isOpen) return;
    const signs = watched.signsOfLife();
    // While reading is paused, a pong would go unnoticed.
    if (!live.hasAnswered && signs === live.signs && !watched.isHeldUp()) {
      cut("silent", { user: live.credential.identity.user });
      socket.terminate();
      return;
    }
    live.signs = signs;
    live.hasAnswered = false;
    socket.ping();
  }

  function close(live: Live, code: number, reason: string): void {
    live.watched.close(code, reason);
    live.end();
  }

  return {
    get count(): number {
      return all.size;
    },
    /** Connections of one user. */
    countOf: (user: string) => [...all].filter(({ credential }) => credential.identity.user === user).length,
    /** Takes over an accepted client, and answers its pings. */
    add,
    /** Closes all connections of a credential. */
    revoke(credential: Credential) {
      for (const live of all) {
        if (live.credential !== credential) continue;
        cut("revoked", { user: credential.identity.user });
        close(live, policyViolation, "token revoked");
      }
    },
    /** Tells all clients that the server is about to stop. */
    drain() {
      for (const live of all) tryTo(() => live.served.drain());
    },
    /** Resolves when all are gone and released; those that do not answer within `graceMs` are terminated. */
    async closeAll(code: number, reason: string, graceMs: number): Promise<void> {
      const gone = [...all].map(
        ({ socket }) => new Promise<void>((resolve) => void socket.once("close", () => resolve())),
      );
      for (const live of all) close(live, code, reason);
      await settlesWithin(graceMs, Promise.all(gone));
      for (const { socket } of all) socket.terminate();
      await settlesWithin(graceMs, Promise.all(endings));
      stopPinging();
    },
  };
}

/** Sends the frames of one tick together: a system call per frame would cost more than everything else about a frame. */
function corkOnce(wire: Wire): () => void {
  let isCorked = false;
  const uncork = (): void => {
    isCorked = false;
    wire.uncork();
  };
  return () => {
    if (isCorked) return;
    isCorked = true;
    wire.cork();
    process.nextTick(uncork);
  };
}

function wordsOf(error: unknown): string {
  return errorMessage(error);
}
