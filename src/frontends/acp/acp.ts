import { type ByteSource, createStdioTransport } from "../../rpc/stdio.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Io, onStop } from "../front-end.ts";
import { createAgent } from "./agent.ts";
import type { Backend } from "./backend.ts";
import { type Client, createClient } from "./client.ts";
import { messageStream } from "./message-stream.ts";
import { createSessions } from "./sessions.ts";

export interface AcpOptions {
  readonly input: ByteSource;
  readonly backend: Backend;
  readonly version: string;
  /** Words for people, never for the wire. */
  warn(words: string): void;
}

/** `tinman acp`: one editor on standard input and output, until it has no more to say. What runs then is ended. */
export async function runAcp(io: Io, { input, backend, version, warn }: AcpOptions): Promise<number> {
  const transport = createStdioTransport(input, io.stdout);
  let client: Client | undefined;
  const sessions = createSessions(backend, () => client ?? createClient(connection.client, {}), warn);
  const app = createAgent({
    backend,
    sessions,
    warn,
    info: { name: "tinman", title: "Tinman", version },
    saidHello: (capabilities) => {
      client = createClient(connection.client, capabilities);
    },
  });
  const connection = app.connect(messageStream(transport));
  let code: ExitCode = exitCodes.success;
  let stop: (code: ExitCode) => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = (because) => {
      if (code === exitCodes.success) code = because;
      resolve();
    };
  });
  const stopListening = onStop(io, stop);
  try {
    await Promise.race([connection.closed, stopped]);
    await sessions.closeAll();
    await backend.close();
    await transport.drained();
    return code;
  } finally {
    connection.close();
    transport.close();
    stopListening();
  }
}
