#!/usr/bin/env node
import { enableCompileCache } from "./compile-cache.ts";

/** argv -> one lazily imported command. `--version` alone loads nothing else: scripts ask it often. */
async function main(argv: readonly string[]): Promise<void> {
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    // Whoever closes the pipe has read enough; any other fault is one.
    process.stdout.on("error", (error) => {
      if ("code" in error && error.code === "EPIPE") return;
      process.stderr.write(`tinman: Standard output cannot be written: ${error.message}\n`, () => process.exit(1));
    });
    process.stdout.write(`${TINMAN_VERSION}\n`);
    return;
  }
  // Not for people: the host starts it, and it neither reads nor keeps anything of the user's.
  if (argv[0] === "pdf-pages") {
    await (await import("./commands/pdf-pages.ts")).runPdfPages(argv.slice(1));
    return;
  }
  // Sessions over a wire need much that one prompt does not: what the build compiled for that is not enough for them.
  const isWire = argv.some((argument) => argument.endsWith("stream-jsonrpc"));
  const keepCompiled = enableCompileCache(isWire ? "wire" : argv[0]);
  const { runProgram } = await import("./commands/program.ts");
  const exitCode = await runProgram(argv);
  keepCompiled();
  // Everything was written and drained by then; what is left open (an idle pipe, a timer) must not keep us.
  process.exit(exitCode);
}

/** The last resort: a fault of ours is one line too, and a failure. `TINMAN_DEBUG=1` shows where it happened. */
function giveUp(error: unknown): void {
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  // Foreign prose: Node's loader gives no code, and its own words are a stack trace.
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
