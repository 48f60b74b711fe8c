import type { Composition } from "../compose.ts";
import type { SessionPool } from "../core/session-pool.ts";
import type { ConnectionHandler } from "../frontends/front-end.ts";
import type { Log } from "../frontends/http/log.ts";
import { Connection } from "../frontends/stream-jsonrpc/connection.ts";
import { roleRules } from "../frontends/stream-jsonrpc/role-rules.ts";
import { workingFolder } from "./working-folder.ts";

/** What a server that is stopping does not begin any more. */
const beginnings: ReadonlySet<string> = new Set([
  "droid.initialize_session",
  "droid.load_session",
  "droid.add_user_message",
]);

/** stream-jsonrpc, with sessions that several connections share. */
export function rpcHandler(
  { engine, repositoryName }: Composition,
  parts: {
    readonly pool: SessionPool;
    readonly modelId: string;
    readonly toolResultMs: number;
    readonly log: Log;
    isDraining(): boolean;
  },
): ConnectionHandler {
  const { pool, modelId, toolResultMs, log, isDraining } = parts;
  return ({ transport }, { user, role }) => {
    const rules = roleRules(role, modelId);
    const connection = new Connection(engine, transport, {
      defaults: { modelId, reasoningEffort: "none" },
      run: { toolResultMs },
      folder: workingFolder,
      repository: repositoryName,
      shared: {
        pool,
        owner: user,
        allows: ({ owner }) => role !== "user" || owner === user,
        refuse: (method, params) =>
          isDraining() && beginnings.has(method) ? "The server is stopping." : rules(method, params),
        canAnswer: role !== "viewer",
      },
      log: { warn: async (message) => log.warn("rpc.warning", { user, message }), event: async () => undefined },
    });
    const served = connection.run();
    // What is wrong with one connection is no reason to end the others.
    served.catch((error: unknown) => log.error("rpc.fault", { user, message: String(error) }));
    return { drain: () => undefined, closed: () => served.catch(() => undefined) };
  };
}
