import { setTimeout as sleep } from "node:timers/promises";
import { type ByteSource, createStdioTransport } from "../../rpc/stdio.ts";
import { type Io, runStoppable } from "../front-end.ts";
import { createAgent } from "./agent.ts";
import type { Backend } from "./backend.ts";
import { type Client, createClient } from "./client.ts";
import { messageStream } from "./message-stream.ts";
import { createSessions } from "./session/sessions.ts";

const goodbyeMs = 5_000;

interface AcpOptions {
  readonly input: ByteSource;
  readonly backend: Backend;
  readonly version: string;
  /** Messages for people, never sent on the wire. */
  warn(words: string): void;
}

/** `tinman acp`: serves one editor on standard input and output until it disconnects, then ends what runs. */
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
  try {
    return await runStoppable(io, async (stopped) => {
      await Promise.race([connection.closed, stopped]);
      await sessions.closeAll();
      await backend.close();
      // The editor may have stopped reading.
      await Promise.race([transport.drained(), sleep(goodbyeMs)]);
    });
  } finally {
    connection.close();
    transport.close();
  }
}
