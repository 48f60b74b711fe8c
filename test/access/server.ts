import { onTestFinished } from "vitest";
import type { AccessControl } from "../../src/access/access-control.ts";
import type { Ceilings, Identity } from "../../src/access/identity.ts";
import type { Session } from "../../src/engine/session/session.ts";
import type { SessionPool } from "../../src/engine/session/session-pool.ts";
import type { SessionSettings } from "../../src/engine/settings.ts";
import { type FakeReply, type Kit, type KitOptions, settings as usual } from "../fakes/kit.ts";
import { type ServerOptions, type Spoken, serve } from "../frontends/interactive/served.ts";
import { type Served, serve as serveRpc, sessionIds } from "../frontends/stream-jsonrpc/connection/served.ts";

export const wires = ["ws", "rpc"] as const;
export type WireName = (typeof wires)[number];

export function ann(ceilings?: Ceilings): Identity {
  return { user: "ann", role: "user", ...(ceilings === undefined ? {} : { ceilings }) };
}
export const admin: Identity = { user: "ada", role: "admin" };

/** A request's outcome, in the same form for both wires. */
export type Outcome = "done" | "not found" | "unreadable" | `refused: ${string}`;

/** A client of one wire, with the same requests. */
export interface Client {
  create(wanted?: { readonly model?: string }): Promise<{ readonly outcome: Outcome; readonly id: string }>;
  open(id: string): Promise<Outcome>;
  send(id: string, text?: string): Promise<Outcome>;
}

export interface TestServer {
  readonly kit: Kit;
  readonly access: AccessControl;
  readonly pool: SessionPool;
  readonly log: readonly Record<string, unknown>[];
  ws(who?: Identity): Spoken;
  rpc(who?: Identity): Served;
  client(wire: WireName, who?: Identity): Client;
  /** A session of an earlier process, by its id. */
  stored(settings: Partial<SessionSettings>, cwd?: string): Promise<string>;
}

/** A server with both wires, on fakes. It runs the tools of `/ws`. */
export function openServer(
  replies: readonly FakeReply[] = [],
  options: Partial<ServerOptions> = {},
  kitOptions: KitOptions = {},
): TestServer {
  const own = { toolExecution: "server", ...options } as const;
  const { kit, access, pool, log, connect } = serve(replies, own, { ids: sessionIds(), ...kitOptions });
  onTestFinished(() => pool.close());
  const ws = (who: Identity = ann()): Spoken => connect(who);
  const rpc = (who: Identity = ann()): Served => {
    const { modelId } = access.defaults(who);
    return serveRpc([], { kit, defaults: { modelId }, shared: { access, who } });
  };
  return {
    kit,
    access,
    pool,
    log,
    ws,
    rpc,
    client: (wire, who) => (wire === "ws" ? clientOfWs(ws(who)) : clientOfRpc(rpc(who))),
    async stored(settings, cwd = "/ws") {
      const session: Session = await kit.engine.create({ cwd, settings: { ...usual, ...settings } });
      await session.close();
      return session.id;
    },
  };
}

function clientOfWs(spoken: Spoken): Client {
  const outcomeOf = async (method: string, params: object): Promise<Outcome> => {
    const { error } = await spoken.request(method, params);
    if (error === undefined) return "done";
    const reason = error.data?.reason;
    if (reason === "unknown_session") return "not found";
    return reason === "session_unreadable" ? "unreadable" : `refused: ${error.message}`;
  };
  return {
    async create(wanted = {}) {
      const { result, error } = await spoken.request("startSession", { userId: "u", sessionParams: wanted });
      return { outcome: error === undefined ? "done" : `refused: ${error.message}`, id: String(result?.sessionId) };
    },
    open: (sessionId) => outcomeOf("resumeSession", { sessionId }),
    send: (sessionId, message = "hello") => outcomeOf("sendUserMessage", { sessionId, message }),
  };
}

function clientOfRpc({ client }: Served): Client {
  const outcomeOf = async (method: string, params: object): Promise<Outcome> => {
    const { error } = await client.request(`droid.${method}`, params);
    if (error === undefined) return "done";
    if (error.code === -32004) return "not found";
    return String(error.message).startsWith("This session cannot be read") ? "unreadable" : `refused: ${error.message}`;
  };
  return {
    async create({ model } = {}) {
      const { result, error } = await client.request("droid.initialize_session", {
        machineId: "m",
        cwd: "/ws",
        ...(model === undefined ? {} : { modelId: model }),
      });
      const outcome = error === undefined ? "done" : (`refused: ${error.message}` as const);
      return { outcome, id: String(result?.sessionId) };
    },
    open: (sessionId) => outcomeOf("load_session", { sessionId }),
    send: (_, text = "hello") => outcomeOf("add_user_message", { text }),
  };
}
