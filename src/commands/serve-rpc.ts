import type { Composition } from "../compose.ts";
import { AgentError } from "../core/errors.ts";
import { isForeignScript } from "../core/script-model.ts";
import type { SessionPool } from "../core/session-pool.ts";
import type { RunOptions } from "../core/settings.ts";
import type { ConnectionHandler } from "../frontends/front-end.ts";
import type { Log } from "../frontends/http/log.ts";
import type { InteractiveServer } from "../frontends/interactive/server.ts";
import { Connection } from "../frontends/stream-jsonrpc/connection.ts";
import { roleRules } from "../frontends/stream-jsonrpc/role-rules.ts";
import { workingFolder } from "./working-folder.ts";

const internalError = 1011;

export interface RpcServer {
  readonly handle: ConnectionHandler;
  /** Nothing goes on in the sessions that this user's connections work with. */
  stopWorkOf(user: string): Promise<void>;
}

/** stream-jsonrpc, with sessions that several connections share. */
export function createRpcServer(
  { engine, repositoryName, homes }: Composition,
  parts: {
    readonly pool: SessionPool;
    readonly modelId: string;
    readonly run: RunOptions;
    readonly log: Log;
    /** Whose limits hold here, too. */
    readonly interactive: InteractiveServer;
  },
): RpcServer {
  const { pool, modelId, run, log, interactive } = parts;
  /** A server that is stopping begins nothing any more. */
  const checks: Readonly<Record<string, (user: string) => void>> = {
    "droid.initialize_session": (user) => interactive.countSession(user),
    "droid.load_session": (user) => interactive.countOpening(user),
    "droid.fork_session": (user) => interactive.countOpening(user),
    "droid.add_user_message": (user) => interactive.countMessage(user),
  };
  const overLimit = (method: string, user: string): string | undefined => {
    if (!Object.hasOwn(checks, method)) return undefined;
    try {
      interactive.checkOpen();
      checks[method]?.(user);
      return undefined;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const working = new Map<Connection, string>();
  const handle: ConnectionHandler = ({ transport, close }, { user, role }) => {
    const rules = roleRules(role, modelId);
    const connection = new Connection(engine, transport, {
      defaults: { modelId, reasoningEffort: "none" },
      run,
      folder: (path) => outside(homes.own, workingFolder(path)),
      repository: repositoryName,
      shared: {
        pool,
        owner: user,
        allows: (settings) =>
          role !== "user" || (settings.owner === user && !isForeignScript(settings.modelId, modelId)),
        refuse: (method, params) => rules(method, params) ?? overLimit(method, user),
        canAnswer: role !== "viewer",
      },
      log: { warn: async (message) => log.warn("rpc.warning", { user, message }), event: async () => undefined },
    });
    working.set(connection, user);
    const served = connection.run().finally(() => working.delete(connection));
    // What is wrong with one connection is no reason to end the others.
    served.catch((error: unknown) => {
      log.error("rpc.fault", { user, message: String(error) });
      close(internalError, "internal error");
    });
    return { drain: () => undefined, closed: () => served.catch(() => undefined) };
  };
  return {
    handle,
    async stopWorkOf(user) {
      const own = [...working].filter(([, whose]) => whose === user);
      await Promise.allSettled(own.map(([connection]) => connection.interrupt()));
    },
  };
}

/** Where the tokens and everybody's sessions are is no place to work in. Throws `usage`. */
function outside(ownHome: string, folder: string): string {
  if (folder !== ownHome && !folder.startsWith(`${ownHome}/`)) return folder;
  throw new AgentError("usage", "This folder is the server's own.");
}
