import { type ByteSource, createStdioTransport } from "../../rpc/stdio.ts";
import type { ExitCode } from "../exit-codes.ts";
import { exitCodes, signalCodes } from "../exit-codes.ts";
import type { FrontEnd } from "../front-end.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";

export interface StreamJsonRpcOptions extends ConnectionOptions {
  readonly input: ByteSource;
}

/** `tinman exec --input-format stream-jsonrpc`: one client on standard input and output, until it has no more to say. */
export const runStreamJsonRpc: FrontEnd<StreamJsonRpcOptions> = async (engine, io, options) => {
  const transport = createStdioTransport(options.input, io.stdout);
  const connection = new Connection(engine, transport, options);
  let code: ExitCode = exitCodes.success;
  let stop: (code: ExitCode) => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = (because) => {
      // The first reason is the one: a reader that is given up after a signal is no broken pipe.
      if (code === exitCodes.success) code = because;
      resolve();
    };
  });
  const ignoreSignals = io.onSignal((signal) => stop(signalCodes[signal]));
  const leave = (): void => {
    const isClosed = (io.stdout.gone.reason as NodeJS.ErrnoException).code === "EPIPE";
    stop(isClosed ? exitCodes.brokenPipe : exitCodes.failed);
  };
  io.stdout.gone.addEventListener("abort", leave, { once: true });
  try {
    await Promise.race([connection.run(), stopped]);
    await connection.close();
    return code;
  } finally {
    transport.close();
    ignoreSignals();
    io.stdout.gone.removeEventListener("abort", leave);
  }
};
