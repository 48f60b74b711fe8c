#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";

/** argv -> one lazily imported command. `--version` alone loads nothing else: scripts ask it often. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    process.stdout.write(`${TINMAN_VERSION}\n`);
    return;
  }
  await enableCompileCache();
  const { runProgram } = await import("./commands/program.ts");
  // Everything was written and drained by then; what is left open (an idle pipe, a timer) must not keep us.
  process.exit(await runProgram(argv));
}

void main(process.argv.slice(2));
