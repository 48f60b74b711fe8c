import { compose } from "../../compose.ts";
import type { Io } from "../../frontends/front-end.ts";
import type { Quirks } from "../../frontends/stream-jsonrpc/quirks.ts";
import { runStreamJsonRpc } from "../../frontends/stream-jsonrpc/stream-jsonrpc.ts";
import type { GivenExec } from "../exec/exec-options.ts";
import { refuseOptionsOfOneRun } from "../exec/one-run.ts";
import { connectionOptions } from "./connection-options.ts";

/** `tinman exec --input-format stream-jsonrpc`. The command line sets what sessions begin with. */
export async function serveStreamJsonRpc(
  given: GivenExec,
  words: readonly string[] | undefined,
  io: Io,
): Promise<number> {
  refuseOptionsOfOneRun(given, words, "--input-format stream-jsonrpc");
  const quirks = given.quirks === undefined ? undefined : await quirksNamed(given.quirks);
  const composition = await compose(process.env, { sandboxMode: given.sandbox, serverWaitMs: given.mcpWait });
  const options = await connectionOptions(given, composition, io);
  if (quirks !== undefined) {
    await io.stderr.write(`tinman: this server misbehaves on purpose (--quirks): ${quirks.names.join(", ")}.\n`);
  }
  return runStreamJsonRpc(composition.engine, io, {
    ...options,
    input: process.stdin,
    ...(quirks === undefined ? {} : { over: quirks.over }),
  });
}

/** Loaded only if asked for. */
async function quirksNamed(names: readonly string[]): Promise<Quirks> {
  return (await import("../../frontends/stream-jsonrpc/quirks.ts")).createQuirks(names);
}
