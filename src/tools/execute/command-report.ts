import type { Containment } from "../../engine/containment.ts";
import type { CommandResult } from "../../engine/ports.ts";
import { failed, succeeded, type ToolOutput } from "../../engine/tool.ts";
import { textEnd, textStart } from "../../text/text-cut.ts";
import { interrupted } from "../outcome.ts";
import { sandboxNote } from "./sandbox-note.ts";

/** Characters of a long output for the model, mostly from its end, where errors and summaries are. */
const modelHead = 6000;
const modelTail = 10_000;

/** A command's result in the form that existing clients read, and the shorter one for the model. */
export function commandReport(result: CommandResult, timeoutSeconds: number, walls?: Containment): ToolOutput {
  const report = reportOf(result, timeoutSeconds);
  const note =
    walls === undefined || report.status === "ok" ? undefined : sandboxNote(result.head + result.tail, walls);
  return note === undefined ? report : { ...report, forModel: `${report.forModel ?? report.text}\n${note}` };
}

function reportOf(result: CommandResult, timeoutSeconds: number): ToolOutput {
  const report = describe(result, timeoutSeconds);
  const shorter = result.fullTextPath === undefined ? undefined : shortened(result);
  if (shorter !== undefined) return { ...report, forModel: describe(shorter, timeoutSeconds).text, ...fileOf(result) };
  return result.skippedBytes === 0 ? report : { ...report, ...fileOf(result) };
}

function fileOf({ fullTextPath }: CommandResult): Pick<ToolOutput, "fullTextPath"> {
  return fullTextPath === undefined ? {} : { fullTextPath };
}

/** `undefined` if the output is short enough for the model. */
function shortened(result: CommandResult): CommandResult | undefined {
  const shown = result.head + result.tail;
  if (shown.length <= modelHead + modelTail) return undefined;
  const head = wholeLines(textStart(result.head, modelHead), (text) => text.slice(0, text.lastIndexOf("\n") + 1));
  const rest = result.skippedBytes === 0 ? shown : result.tail;
  const tail = wholeLines(textEnd(rest, modelTail), (text) => text.slice(text.indexOf("\n") + 1));
  const left = shown.slice(head.length, shown.length - tail.length);
  return {
    ...result,
    head,
    tail,
    skippedBytes: result.skippedBytes + Buffer.byteLength(left),
    skippedLines: result.skippedLines + left.split("\n").length - 1,
  };
}

/** The text without a partial line, unless that would remove most of it. */
function wholeLines(text: string, withoutPart: (text: string) => string): string {
  const whole = withoutPart(text);
  return whole.length < text.length / 2 ? text : whole;
}

function describe(result: CommandResult, timeoutSeconds: number): ToolOutput {
  const { end } = result;
  const output = outputOf(result);
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
