import { type ByteSource, createStdioTransport } from "../../rpc/stdio.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { ExitCode } from "../exit-codes.ts";
import { exitCodes } from "../exit-codes.ts";
import type { FrontEnd } from "../front-end.ts";
import { onStop } from "../front-end.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";

export interface StreamJsonRpcOptions extends ConnectionOptions {
  readonly input: ByteSource;
  /** What stands between the connection and its client, when something does. */
  over?(transport: Transport): Transport;
}

/** `tinman exec --input-format stream-jsonrpc`: one client on standard input and output, until it has no more to say. */
export const runStreamJsonRpc: FrontEnd<StreamJsonRpcOptions> = async (engine, io, options) => {
  const transport = createStdioTransport(options.input, io.stdout);
  const connection = new Connection(engine, options.over?.(transport) ?? transport, options);
  let code: ExitCode = exitCodes.success;
  let stop: (code: ExitCode) => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = (because) => {
      // The first reason is the one: a reader that is given up after a signal is no broken pipe.
      if (code === exitCodes.success) code = because;
      resolve();
    };
  });
  const stopListening = onStop(io, stop);
  try {
    await Promise.race([connection.run(), stopped]);
    await connection.close();
    return code;
  } finally {
    transport.close();
    stopListening();
  }
};
