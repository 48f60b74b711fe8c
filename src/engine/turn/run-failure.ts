import type { Failure } from "../errors.ts";
import type { ToolResultBlock } from "../message.ts";
import type { TurnOutcome } from "./turn-outcome.ts";

/** Why a run failed; `undefined` if it succeeded. A run can fail although its turn completed. */
export function runFailure(outcome: TurnOutcome): Failure | undefined {
  const { reason, failure, denials, failedTool } = outcome;
  if (denials.length > 0 && (reason === "denied" || failure === undefined)) {
    return { code: "denied", message: [...new Set(denials.map(({ why }) => why))].join(" ") };
  }
  if (failure !== undefined) return failure;
  if (reason === "cancelled") return { code: "cancelled", message: "A tool call was rejected." };
  if (failedTool === undefined) return undefined;
  const words = firstLine(failedTool.text.replace(/^Error: /, ""));
  return { code: "tool_failed", message: `The run ended on a failed ${failedTool.name} call: ${words}` };
}

function firstLine(text: string): string {
  const line = text.split(/[\r\n]/).find((part) => part.trim() !== "") ?? "";
  return line.slice(0, 2_000).toWellFormed();
}

/** Whether a tool could not do its job. A completed command did its job: its exit code is the result. */
export function isToolError({ status, exitCode }: ToolResultBlock): boolean {
  if (status !== "failed") return false;
  return exitCode === undefined || exitCode === notExecutable || exitCode === notFound || isKill(exitCode);
}

const notExecutable = 126;
const notFound = 127;

/**
 * Shells report a child killed by signal n as 128 + n, up to the last real-time signal, 64. SIGPIPE (13) is how a
 * pipeline ends early.
 */
function isKill(exitCode: number): boolean {
  return exitCode > 128 && exitCode <= 192 && exitCode !== 141;
}
