import { setTimeout as sleep } from "node:timers/promises";
import { deferred } from "../async/promises.ts";
import { createGate } from "../rpc/gate.ts";
import { type Fields, parsedJson, recordOf } from "../text/values.ts";
import type { OpenSocket, Socket } from "./socket.ts";
import { finalClose, SocketFault } from "./socket-faults.ts";

export type Params = Fields;

/** The server refused a request. */
export class RpcFault extends Error {
  readonly code: number;
  /** The server is about to stop and accepts nothing new. */
  readonly isDraining: boolean;

  constructor(code: number, message: string, reason?: unknown) {
    super(message);
    this.name = "RpcFault";
    this.code = code;
    this.isDraining = reason === "draining";
  }
}

/** The connection was lost before the response, so it is unknown whether the request arrived. */
export class ConnectionLost extends Error {}

/** Sends one request. `taken` is called before anything after the response is read. */
export type Request = (method: string, params: Params, taken?: (result: Params) => void) => Promise<Params>;

export interface LinkParts {
  readonly open: OpenSocket;
  /** Called with every frame before it takes effect. */
  frame(text: string): void;
  notification(method: string, params: Params): void;
  tell(words: string): void;
  /** Makes a new connection continue the previous one. */
  restore(request: Request): Promise<void>;
  /** How long to wait before attempt 1, 2, … */
  readonly pauseMs?: (attempt: number) => number;
}

interface Pending {
  readonly taken: ((result: Params) => void) | undefined;
  resolve(result: Params): void;
  reject(error: Error): void;
}

const attempts = 10;
/** A connection that lasted this long resets the count of attempts. */
const goodMs = 10_000;

const growing = (attempt: number): number => Math.min(10_000, 500 * 2 ** (attempt - 1));

export type Link = ReturnType<typeof createLink>;

/** A connection that reconnects. */
export function createLink(parts: LinkParts) {
  const { pauseMs = growing } = parts;
  const pending = new Map<number, Pending>();
  const up = createGate();
  const leaving = new AbortController();
  let socket: Socket | undefined;
  let isUp = false;
  let isPaused = false;
  let lastId = 0;
  let tried = 0;
  let opened = 0;
  let openedAt = 0;
  const failed = deferred<never>();
  failed.promise.catch(() => undefined);

  function fail(error: unknown): void {
    leaving.abort();
    failed.reject(error);
  }

  function read(text: string): void {
    parts.frame(text);
    const frame = recordOf(parsedJson(text));
    if (frame === undefined) parts.tell("The server sent something that is not JSON-RPC.");
    else if (typeof frame.method === "string") parts.notification(frame.method, recordOf(frame.params) ?? {});
    else answered(frame);
  }

  function answered(frame: Params): void {
    const asked = pending.get(Number(frame.id));
    const fault = recordOf(frame.error);
    pending.delete(Number(frame.id));
    if (asked === undefined) {
      if (fault !== undefined) parts.tell(`The server says: ${faultOf(fault).message}`);
      return;
    }
    if (fault !== undefined) {
      asked.reject(faultOf(fault));
      return;
    }
    const result = recordOf(frame.result) ?? { result: frame.result };
    asked.taken?.(result);
    asked.resolve(result);
  }

  const ask: Request = (method, params, taken) =>
    new Promise((resolve, reject) => {
      if (socket === undefined) return reject(new ConnectionLost("The connection was lost."));
      lastId += 1;
      pending.set(lastId, { taken, resolve, reject });
      socket.send(JSON.stringify({ jsonrpc: "2.0", id: lastId, method, params }));
    });

  function lost(code: number, reason: string): void {
    socket = undefined;
    const wasUp = isUp;
    isUp = false;
    for (const { reject } of pending.values()) reject(new ConnectionLost("The connection was lost."));
    pending.clear();
    if (leaving.signal.aborted) return;
    const words = finalClose(code, reason);
    if (words !== undefined) fail(new SocketFault(words, true));
    // While reconnecting, the loop below notices because its own request fails.
    if (words !== undefined || !wasUp) return;
    parts.tell(`The connection was lost (${code}${reason === "" ? "" : `, ${reason}`}).`);
    if (Date.now() - openedAt > goodMs) tried = 0;
    comeBack().catch(fail);
  }

  async function connect(): Promise<void> {
    opened += 1;
    const own = opened;
    // Ignore late events of an earlier connection.
    const isCurrent = (): boolean => own === opened;
    socket = await parts.open({
      text: (text) => isCurrent() && read(text),
      closed: (code, reason) => isCurrent() && lost(code, reason),
    });
    if (leaving.signal.aborted) return socket.close();
    if (isPaused) socket.pause();
  }

  function isConnected(): void {
    isUp = true;
    openedAt = Date.now();
    up.open();
  }

  async function comeBack(): Promise<void> {
    for (;;) {
      tried += 1;
      if (tried > attempts) throw new SocketFault(`Could not reconnect after ${attempts} attempts.`, true);
      const ms = pauseMs(tried);
      parts.tell(`Reconnecting in ${ms / 1_000} s (${tried} of ${attempts}).`);
      await sleep(ms, undefined, { signal: leaving.signal }).catch(() => undefined);
      if (leaving.signal.aborted) return;
      try {
        await connect();
        await parts.restore(ask);
        // It may have been lost again.
        if (socket === undefined) continue;
        parts.tell("Reconnected.");
        return isConnected();
      } catch (error) {
        if (leaving.signal.aborted) return;
        socket?.close();
        socket = undefined;
        if (error instanceof SocketFault && !error.isFinal) parts.tell(error.message);
        else if (!(error instanceof ConnectionLost)) throw error;
      }
    }
  }

  async function ready(): Promise<void> {
    while (!isUp) await up.wait();
  }

  const request: Request = async (method, params, taken) => {
    if (!isUp) await ready();
    return ask(method, params, taken);
  };

  return {
    /** Rejects when the connection is permanently lost. */
    failed: failed.promise,
    get isUp(): boolean {
      return isUp;
    },
    ready,
    /** Makes the first connection. Rejects if that fails. */
    async open(): Promise<void> {
      await connect();
      if (socket === undefined) throw new SocketFault("The server closed the connection.", false);
      isConnected();
    },
    /** Waits for a connection if there is none. Rejects with `RpcFault` or `ConnectionLost`. */
    request,
    pause() {
      isPaused = true;
      socket?.pause();
    },
    resume() {
      isPaused = false;
      socket?.resume();
    },
    close() {
      leaving.abort();
      socket?.close();
    },
  };
}

/** With the detail that our own server adds. */
function faultOf({ code, message, data }: Params): RpcFault {
  const { detail, reason } = recordOf(data) ?? {};
  const more = typeof detail === "string" && !String(message).includes(detail) ? ` (${detail})` : "";
  return new RpcFault(typeof code === "number" ? code : 0, `${message}${more}`, reason);
}
