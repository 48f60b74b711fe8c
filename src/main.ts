#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";

/** Maps argv to one lazily imported command. `--version` loads nothing else, because scripts call it often. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    // A closed pipe means that the reader has read enough. Anything else is an error.
    process.stdout.on("error", (error) => {
      if ("code" in error && error.code === "EPIPE") return;
      process.stderr.write(`tinman: Cannot write standard output: ${error.message}\n`, () => process.exit(1));
    });
    process.stdout.write(`${TINMAN_VERSION}\n`);
    return;
  }
  // Internal: started by the host, and independent of the user's settings.
  if (argv[0] === "pdf-pages") {
    await (await import("./commands/pdf-pages.ts")).runPdfPages(argv.slice(1));
    return;
  }
  // Sessions over a wire need more code than the build's cache for a single prompt has.
  const isWire = argv.some((argument) => argument.endsWith("stream-jsonrpc"));
  const keepCompiled = enableCompileCache(isWire ? "wire" : argv[0]);
  const { runProgram } = await import("./commands/program.ts");
  const exitCode = await runProgram(argv);
  keepCompiled();
  // All output was written by now; an idle pipe or timer must not keep the process alive.
  process.exit(exitCode);
}

/** Last resort: an internal fault is one line and a failure. `TINMAN_DEBUG=1` prints its stack. */
function giveUp(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  // Matched by text: Node's loader gives no code here, only a stack trace.
  if (/\bE[MN]FILE\b/.test(message) && process.env.TINMAN_DEBUG !== "1") {
    const words = "Too many files are open. Raise the limit, for example with: ulimit -n 1024";
    process.stderr.write(`tinman: ${words}\n`, () => process.exit(1));
    return;
  }
  const words = process.env.TINMAN_DEBUG === "1" ? stack : message.split("\n")[0];
  process.stderr.write(`tinman: internal fault: ${words}\n`, () => process.exit(1));
}

process.on("uncaughtException", giveUp);
process.on("unhandledRejection", giveUp);
main(process.argv.slice(2)).catch(giveUp);
