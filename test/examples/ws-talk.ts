import { once } from "node:events";
import { WebSocket } from "ws";

export type Json = Readonly<Record<string, unknown>>;

export interface Frame extends Json {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: Json;
}

/** A frame, and who sent it. */
export interface Said {
  readonly by: "client" | "tinman";
  readonly frame: Frame;
}

/** One connection to `/ws`. */
export interface Talk {
  readonly said: Said[];
  /** Sends without waiting. Ids count from 1. */
  ask(method: string, params?: Json): number;
  raw(text: string): void;
  /** Sends, and waits for the answer. */
  call(method: string, params?: Json): Promise<Frame>;
  /** Starts a session, and waits for its status. */
  start(sessionParams?: Json): Promise<string>;
  /** The next unread notification with this name and these values. */
  until(method: string, params?: Json): Promise<Json>;
  leave(): Promise<void>;
}

/** `said` continues from an earlier connection, if given. */
export async function talkTo(url: string, token?: string, said: Said[] = []): Promise<Talk> {
  const socket = new WebSocket(url, token === undefined ? {} : { headers: { Authorization: `Bearer ${token}` } });
  const closed = once(socket, "close");
  let waiting: (() => void)[] = [];
  let count = 0;
  let seen = said.length;
  socket.on("message", (data) => {
    said.push({ by: "tinman", frame: JSON.parse(String(data)) as Frame });
    for (const wake of waiting.splice(0)) wake();
  });
  closed.then(
    () => {
      for (const wake of waiting.splice(0)) wake();
      waiting = [];
    },
    () => undefined,
  );
  await once(socket, "open");

  const find = async (from: number, holds: (frame: Frame) => boolean, what: string): Promise<number> => {
    for (;;) {
      const at = said.findIndex(({ by, frame }, index) => index >= from && by === "tinman" && holds(frame));
      if (at >= 0) return at;
      if (socket.readyState !== WebSocket.OPEN) throw new Error(`closed while waiting for ${what}`);
      await new Promise<void>((wake) => waiting.push(wake));
    }
  };
  const ask: Talk["ask"] = (method, params) => {
    count += 1;
    const frame = { jsonrpc: "2.0", id: count, method, ...(params === undefined ? {} : { params }) };
    said.push({ by: "client", frame });
    socket.send(JSON.stringify(frame));
    return count;
  };
  const call: Talk["call"] = async (method, params) => {
    const from = said.length;
    const id = ask(method, params);
    const at = await find(from, (frame) => frame.method === undefined && frame.id === id, `the answer to ${method}`);
    return said[at]?.frame ?? {};
  };
  const until: Talk["until"] = async (method, params = {}) => {
    const at = await find(
      seen,
      (frame) =>
        frame.method === method && Object.entries(params).every(([key, value]) => frame.params?.[key] === value),
      method,
    );
    seen = at + 1;
    return said[at]?.frame.params ?? {};
  };
  return {
    said,
    ask,
    call,
    until,
    raw: (text) => socket.send(text),
    async start(sessionParams) {
      const params = { userId: "user-1", ...(sessionParams === undefined ? {} : { sessionParams }) };
      const { result } = await call("startSession", params);
      await until("SessionStatusNotification", { status: 1 });
      return String(result?.sessionId);
    },
    async leave() {
      socket.close();
      await closed;
    },
  };
}
