import type { AccessControl } from "../../access/access-control.ts";
import type { Composition } from "../../compose.ts";
import type { RunOptions } from "../../engine/settings.ts";
import type { ConnectionHandler } from "../../frontends/front-end.ts";
import { Connection } from "../../frontends/stream-jsonrpc/connection.ts";
import type { Log } from "../../server/log.ts";
import { workingFolder } from "../working-folder.ts";

const internalError = 1011;

/** stream-jsonrpc with sessions shared between connections. */
export function createRpcHandler(
  { engine, repositoryName }: Composition,
  { access, run, log }: { readonly access: AccessControl; readonly run: RunOptions; readonly log: Log },
): ConnectionHandler {
  return ({ transport, close }, who) => {
    const { user } = who;
    const connection = new Connection(engine, transport, {
      defaults: { modelId: access.defaults(who).modelId, reasoningEffort: "none" },
      run,
      folder: workingFolder,
      repository: repositoryName,
      shared: { access, who },
      log: { warn: async (message) => log.warn("rpc.warning", { user, message }), event: async () => undefined },
    });
    const served = connection.run();
    // A fault of one connection must not end the others.
    served.catch((error: unknown) => {
      log.error("rpc.fault", { user, message: String(error) });
      close(internalError, "internal error");
    });
    return { drain: () => undefined, closed: () => served.catch(() => undefined) };
  };
}
