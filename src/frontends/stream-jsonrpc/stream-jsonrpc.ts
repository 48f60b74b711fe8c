import { type ByteSource, createStdioTransport } from "../../rpc/stdio.ts";
import type { Transport } from "../../rpc/transport.ts";
import { type FrontEnd, runStoppable } from "../front-end.ts";
import { Connection } from "./connection.ts";
import type { ConnectionOptions } from "./context.ts";

interface StreamJsonRpcOptions extends ConnectionOptions {
  readonly input: ByteSource;
  /** Wraps the transport. */
  over?(transport: Transport): Transport;
}

/** `tinman exec --input-format stream-jsonrpc`: serves one client on standard input and output until it disconnects. */
export const runStreamJsonRpc: FrontEnd<StreamJsonRpcOptions> = async (engine, io, options) => {
  const transport = createStdioTransport(options.input, io.stdout);
  const connection = new Connection(engine, options.over?.(transport) ?? transport, options);
  try {
    return await runStoppable(io, async (stopped) => {
      await Promise.race([connection.run(), stopped]);
      await connection.close();
    });
  } finally {
    transport.close();
  }
};
