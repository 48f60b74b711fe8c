import type { CommandResult } from "../../engine/ports.ts";
import { failed, succeeded, type ToolOutput } from "../../engine/tool.ts";
import { interrupted } from "../outcome.ts";

/** The result of a command as the model and existing clients read it. */
export function commandReport(result: CommandResult, timeoutSeconds: number): ToolOutput {
  const output = outputOf(result);
  const report = describe(result.end, output, timeoutSeconds);
  return result.fullTextPath === undefined ? report : { ...report, fullTextPath: result.fullTextPath };
}

function describe(end: CommandResult["end"], output: string, timeoutSeconds: number): ToolOutput {
  switch (end.type) {
    case "exit":
      return exited(end.code, output);
    case "signal":
      return failed(`Command terminated by signal: ${end.signal}${titled("Output before it ended", output)}`);
    case "timeout": {
      const advice = "Consider increasing the timeout for long-running commands.";
      const partial = titled("Partial output before timeout", output);
      return failed(`Command timed out after ${timeoutSeconds} seconds. ${advice}${partial}`);
    }
    case "aborted":
      return interrupted(output);
    case "unstartable":
      return failed(`Command could not be started: ${end.message}`);
  }
}

function exited(code: number, output: string): ToolOutput {
  const ending = `\n\n[Process exited with code ${code}]`;
  if (code === 0) return succeeded(`${output === "" ? "Command completed successfully" : output}${ending}`);
  const reason =
    code === 127
      ? "Command not found. The command or program may not be installed or not in PATH."
      : `Command failed (exit code: ${code})`;
  return { ...failed(`${reason}${output === "" ? "" : `\n${output}`}${ending}`), exitCode: code };
}

function titled(title: string, output: string): string {
  return output === "" ? "" : `\n\n${title}:\n${output}`;
}

function outputOf(result: CommandResult): string {
  if (result.skippedBytes === 0) return result.head + result.tail;
  const amount = result.skippedLines > 0 ? counted(result.skippedLines, "line") : counted(result.skippedBytes, "byte");
  const gap = `${result.head.endsWith("\n") ? "" : "\n"}[... ${amount} skipped ...]\n`;
  const whole = `[Whole output, ${counted(result.totalBytes, "byte")}: ${result.fullTextPath ?? "not kept"}]`;
  return `${result.head}${gap}${result.tail}${result.tail.endsWith("\n") ? "" : "\n"}\n${whole}`;
}

function counted(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? "" : "s"}`;
}
