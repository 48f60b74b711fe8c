import { AccessControl, type AccessOptions } from "../../../src/access/access-control.ts";
import type { Identity } from "../../../src/access/identity.ts";
import { createReport } from "../../../src/access/report.ts";
import type { SessionPool } from "../../../src/engine/session/session-pool.ts";
import { SessionPool as Pool } from "../../../src/engine/session/session-pool.ts";
import { InteractiveConnection } from "../../../src/frontends/interactive/connection.ts";
import type { InteractiveOptions } from "../../../src/frontends/interactive/options.ts";
import { InteractiveServer } from "../../../src/frontends/interactive/server.ts";
import {
  interactiveNotifications,
  interactiveResults,
  type NotificationName,
} from "../../../src/protocol/interactive.ts";
import { createLinkedPair, type LinkedEnd } from "../../../src/rpc/transport.ts";
import { countingIds, createKit, type FakeReply, type Kit, type KitOptions } from "../../fakes/kit.ts";

export type Frame = Record<string, unknown> & {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> };
};

export const ann: Identity = { user: "ann", role: "user" };

export type ServerOptions = InteractiveOptions & AccessOptions;

export const options: ServerOptions = {
  cwd: "/ws",
  modelId: "fake",
  reasoningEffort: "none",
  toolExecution: "client",
  toolExecutionChoices: ["client"],
  autonomy: "off",
  timeouts: { ai: 10_000, toolResult: 600_000, idleSession: 1_800_000 },
  limits: { queuedMessages: 32, openSessions: 2_000, sessionsPerMinute: 1_200, messagesPerMinute: 6_000 },
  serverVersion: "0.0.0",
};

export interface Served {
  readonly kit: Kit;
  readonly server: InteractiveServer;
  readonly access: AccessControl;
  readonly pool: SessionPool;
  readonly log: Record<string, unknown>[];
  /** With `maxWaiting`: the characters that can wait before the client counts as slow. */
  connect(identity?: Identity, options?: { readonly maxWaiting?: number }): Spoken;
}

/** A client that sends the given requests and records its frames, in order, checked against the schema. */
export interface Spoken {
  /** Everything received so far. */
  readonly frames: Frame[];
  /** The same, unparsed. */
  readonly texts: string[];
  raw(text: string): void;
  /** Sends a request under a given id, without waiting for the response. */
  post(id: unknown, method: string, params?: unknown): void;
  /** Sends a request and resolves with its response; earlier notifications stay in `frames`. */
  request(method: string, params?: unknown): Promise<Frame>;
  /** Resolves with the next frame not yet returned by an earlier call. */
  next(): Promise<Frame>;
  /** Frames up to and including the first match. */
  until(holds: (frame: Frame) => boolean): Promise<Frame[]>;
  /** Starts a session, and takes its status. */
  start(sessionParams?: object, userId?: string): Promise<string>;
  /** Sends a message and takes everything up to the end of its answer. */
  ask(sessionId: string, message: string): Promise<Frame[]>;
  /** Stops reading until `goOn`. */
  pause(): void;
  goOn(): void;
  close(): Promise<void>;
}

/** The server of `/ws` on fakes, reached by connections in memory. */
export function serve(
  replies: readonly FakeReply[],
  given: Partial<ServerOptions> = {},
  kitOptions: KitOptions = {},
): Served {
  const kit = createKit(replies, kitOptions);
  const log: Record<string, unknown>[] = [];
  const at =
    (level: string) =>
    (event: string, fields: object = {}) =>
      void log.push({ level, event, ...fields });
  const own = { ...options, ...given };
  let server: InteractiveServer | undefined;
  const pool = new Pool(kit.engine, {
    clock: kit.clock,
    idleMs: own.timeouts.idleSession,
    onIdle: (session) => server?.wasIdle(session),
  });
  const report = createReport({ error: at("error") }, countingIds());
  const access = new AccessControl({ engine: kit.engine, pool, clock: kit.clock, options: own, report });
  server = new InteractiveServer({ engine: kit.engine, access, log: { info: at("info") }, report, options: own });
  const connect: Served["connect"] = (identity = ann, linked = {}) => speak(server, identity, linked);
  return { kit, server, access, pool, log, connect };
}

function speak(server: InteractiveServer, identity: Identity, linked: { readonly maxWaiting?: number }): Spoken {
  const [near, far] = createLinkedPair(linked);
  const connection = new InteractiveConnection(server, { transport: far, close: () => far.close() }, identity);
  return spokenOver(near, () => connection.closed());
}

/** `closed` resolves when nothing more comes. */
export function spokenOver(near: Pick<LinkedEnd, "incoming" | "send" | "close">, closed: () => Promise<void>): Spoken {
  const frames: Frame[] = [];
  const texts: string[] = [];
  const methods = new Map<unknown, string>();
  let taken = 0;
  let ids = 0;
  let wake: () => void = () => undefined;
  let isOver = false;
  let goOn = (): void => undefined;
  let paused: Promise<void> | undefined;
  let fault: unknown = new Error("the connection is over");
  const reading = (async () => {
    for await (const frame of near.incoming) {
      if (frame.type !== "line") throw new Error("a frame was lost");
      texts.push(frame.text);
      frames.push(checked(JSON.parse(frame.text) as Frame, methods));
      wake();
      if (paused !== undefined) await paused;
    }
  })()
    .catch((error: unknown) => {
      fault = error;
    })
    .finally(() => {
      isOver = true;
      wake();
    });
  const next = async (): Promise<Frame> => {
    for (;;) {
      const frame = frames[taken];
      if (frame !== undefined) {
        taken += 1;
        return frame;
      }
      if (isOver) throw fault;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const until = async (holds: (frame: Frame) => boolean): Promise<Frame[]> => {
    const found: Frame[] = [];
    for (;;) {
      const frame = await next();
      found.push(frame);
      if (holds(frame)) return found;
    }
  };
  const post = (id: unknown, method: string, params?: unknown): void => {
    methods.set(id, method);
    near.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  };
  const request = async (method: string, params?: unknown): Promise<Frame> => {
    const id = ++ids;
    post(id, method, params);
    const answer = (await until((frame) => frame.id === id)).at(-1);
    if (answer === undefined) throw new Error("no answer");
    return answer;
  };
  return {
    frames,
    texts,
    raw: (text) => near.send(text),
    post,
    next,
    until,
    request,
    async start(sessionParams, userId = "u1") {
      const { result } = await request("startSession", {
        userId,
        ...(sessionParams === undefined ? {} : { sessionParams }),
      });
      await next();
      return String(result?.sessionId);
    },
    async ask(sessionId, message) {
      const { result } = await request("sendUserMessage", { sessionId, message });
      return until((frame) => isFinal(frame) && frame.params?.messageId === result?.messageId);
    },
    pause() {
      paused ??= new Promise((resolve) => {
        goOn = resolve;
      });
    },
    goOn() {
      paused = undefined;
      goOn();
    },
    async close() {
      paused = undefined;
      goOn();
      near.close();
      await closed();
      await reading;
    },
  };
}

export function isFinal({ method, params }: Frame): boolean {
  return method === "AIMessageChunkNotification" && params?.isFinal === true;
}

/** The answer as assembled by a client that only joins chunks. */
export function textIn(frames: readonly Frame[]): string {
  return frames
    .filter(({ method }) => method === "AIMessageChunkNotification")
    .map(({ params }) => String(params?.chunk))
    .join("");
}

function checked(frame: Frame, methods: ReadonlyMap<unknown, string>): Frame {
  if (frame.method !== undefined) interactiveNotifications[frame.method as NotificationName].parse(frame.params);
  else if (frame.error === undefined) {
    const schema = interactiveResults[methods.get(frame.id) as keyof typeof interactiveResults];
    schema?.parse(frame.result);
  }
  return frame;
}
