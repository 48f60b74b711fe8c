import type { OutputFormat } from "../frontends/exec/report.ts";
import { printReport, reportFailure } from "../frontends/exec/report.ts";
import { exitCodes } from "../frontends/exit-codes.ts";
import type { Io } from "../frontends/front-end.ts";
import { terminalLine } from "../text/terminal-text.ts";

/** Reports a usage error in one line, in the run's output format if the command line names one. */
export async function reportUsage(argv: readonly string[], message: string, io: Io): Promise<number> {
  if (argv[0] === "exec") {
    const report = reportFailure({ code: "usage", message }, { durationMs: Math.round(process.uptime() * 1_000) });
    await printReport(formatIn(argv), report, io, Date.now());
    return report.exitCode;
  }
  await io.stderr.write(`tinman: ${terminalLine(message)}\n`);
  return exitCodes.usage;
}

/** The output format of a command line that failed to parse. */
function formatIn(argv: readonly string[]): OutputFormat {
  const values = argv.flatMap((word, index) => {
    if (word === "-o" || word === "--output-format") return [argv[index + 1]];
    if (word.startsWith("--output-format=")) return [word.slice("--output-format=".length)];
    return word.startsWith("-o") ? [word.slice(2).replace(/^=/, "")] : [];
  });
  const format = values.at(-1);
  return format === "json" || format === "stream-json" ? format : "text";
}
