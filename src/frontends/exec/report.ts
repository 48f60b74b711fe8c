import type { Denial } from "../../engine/calls/ask-for-calls.ts";
import type { Failure } from "../../engine/errors.ts";
import { noUsage, type Usage } from "../../engine/message.ts";
import { runFailure } from "../../engine/turn/run-failure.ts";
import type { TurnOutcome } from "../../engine/turn/turn-outcome.ts";
import type {
  CompletionLine,
  DenialEntry,
  ResultObject,
  StreamJsonLine,
  UsageObject,
} from "../../protocol/stream-json.ts";
import { terminalJson, terminalLine, terminalText } from "../../text/terminal-text.ts";
import { textStart, withoutTrailing } from "../../text/text-cut.ts";
import { type ExitCode, exitCodeOf, exitCodes } from "../exit-codes.ts";
import type { Io, Output } from "../front-end.ts";

export type OutputFormat = "text" | "json" | "stream-json";

/** A run's outcome, shared by all formats. */
export interface RunReport {
  readonly exitCode: ExitCode;
  readonly stopReason: string;
  readonly finalText: string;
  readonly failure?: Failure;
  readonly denials: readonly DenialEntry[];
  readonly usage: Usage;
  readonly cost?: number;
  readonly turns: number;
  readonly durationMs: number;
  readonly sessionId: string;
  /** The model used. Absent if the run failed before it was known. */
  readonly model?: string;
}

/** The outcome of a turn that ended. `signalCode` is set if a signal ended it. */
export function reportOutcome(
  outcome: TurnOutcome,
  run: {
    readonly sessionId: string;
    readonly model?: string;
    readonly durationMs: number;
    readonly signalCode: ExitCode | undefined;
  },
): RunReport {
  const denials = outcome.denials.map(denialEntry);
  const failure = withOptions(runFailure(outcome), denials);
  const exitCode = run.signalCode ?? (failure === undefined ? exitCodes.success : exitCodeOf(failure.code));
  return {
    exitCode,
    stopReason: outcome.reason,
    finalText: outcome.finalText,
    ...(failure === undefined ? {} : { failure }),
    denials,
    usage: outcome.usage,
    ...(outcome.cost === undefined ? {} : { cost: outcome.cost }),
    turns: 1,
    durationMs: run.durationMs,
    sessionId: run.sessionId,
    ...(run.model === undefined ? {} : { model: run.model }),
  };
}

/** The outcome of a run that failed before its turn began. */
export function reportFailure(
  failure: Failure,
  run: { readonly sessionId?: string; readonly model?: string; readonly durationMs: number },
): RunReport {
  return {
    exitCode: exitCodeOf(failure.code),
    stopReason: failure.code,
    finalText: "",
    failure,
    denials: [],
    usage: noUsage,
    turns: 0,
    durationMs: run.durationMs,
    sessionId: run.sessionId ?? "",
    ...(run.model === undefined ? {} : { model: run.model }),
  };
}

/** A denial also names the options that would have allowed its calls. */
function withOptions(failure: Failure | undefined, denials: readonly DenialEntry[]): Failure | undefined {
  if (failure?.code !== "denied" || denials.length === 0) return failure;
  const words = denials.map(({ reason, allowWith }) =>
    allowWith === undefined ? reason : `${reason} Allow it with ${allowWith}.`,
  );
  return { ...failure, message: [...new Set(words)].join(" ") };
}

function denialEntry(denial: Denial): DenialEntry {
  const { callId: toolCallId, tool: toolName, rule, why: reason, contained } = denial;
  const entry = { toolCallId, toolName, rule, reason, ...(contained === undefined ? {} : { contained }) };
  // No option overrides a rule.
  if (rule === "deny-rule") return entry;
  const allowWith = /^(protected-place|catastrophic)$/.test(rule)
    ? "--skip-permissions-unsafe"
    : `--auto ${denial.class}`;
  return { ...entry, allowWith };
}

/** Prints the outcome in the run's format, as the last output on stdout. */
export async function printReport(format: OutputFormat, report: RunReport, io: Io, now: number): Promise<void> {
  const { failure } = report;
  if (format === "text" && report.finalText !== "" && hasAnswer(report)) {
    const text = withoutTrailing(report.finalText, "\r\n");
    // Scripts get the raw text.
    await io.stdout.write(`${io.stdout.isTerminal ? terminalText(text) : text}\n`);
  }
  if (format === "json") await printJson(resultOf(report), io.stdout);
  if (format === "stream-json") {
    for (const line of lastLines(report, now)) await printJson(line, io.stdout);
  }
  if (failure !== undefined && report.exitCode !== exitCodes.brokenPipe) {
    await io.stderr.write(`tinman: ${firstLine(failure.message)}\n`);
  }
}

/** One line of JSON. On a terminal, invisible characters are escaped. */
export function printJson(value: unknown, output: Output): Promise<void> {
  const json = JSON.stringify(value);
  return output.write(`${output.isTerminal ? terminalJson(json) : json}\n`);
}

/** Whether the text is the model's last word, not an interim remark. */
function hasAnswer({ stopReason }: RunReport): boolean {
  return ["completed", "planned", "length", "refused"].includes(stopReason);
}

function resultOf(report: RunReport): ResultObject {
  const { failure, denials } = report;
  return {
    type: "result",
    subtype: failure === undefined ? "success" : "failure",
    is_error: failure !== undefined,
    duration_ms: report.durationMs,
    num_turns: report.turns,
    result: resultText(report),
    session_id: report.sessionId,
    usage: usageObject(report.usage),
    stop_reason: report.stopReason,
    exit_code: report.exitCode,
    ...(report.model === undefined ? {} : { model: report.model }),
    ...(report.cost === undefined ? {} : { total_cost_usd: report.cost }),
    ...(failure === undefined ? {} : { error: errorObject(failure) }),
    ...(denials.length === 0 ? {} : { denials: [...denials] }),
  };
}

/** The model's text, or our error message if there is none. */
function resultText({ finalText, failure }: RunReport): string {
  return finalText === "" && failure !== undefined ? failure.message : finalText;
}

function lastLines(report: RunReport, now: number): readonly StreamJsonLine[] {
  const { failure, denials } = report;
  const completion: CompletionLine = {
    type: "completion",
    finalText: report.finalText,
    numTurns: report.turns,
    durationMs: report.durationMs,
    session_id: report.sessionId,
    timestamp: now,
    usage: usageObject(report.usage),
    isError: failure !== undefined,
    stopReason: report.stopReason,
    exitCode: report.exitCode,
    ...(report.model === undefined ? {} : { model: report.model }),
    ...(report.cost === undefined ? {} : { totalCostUsd: report.cost }),
    ...(failure === undefined ? {} : { error: errorObject(failure) }),
    ...(denials.length === 0 ? {} : { denials: [...denials] }),
  };
  if (failure === undefined) return [completion];
  const source = report.turns === 0 ? "cli" : "agent_loop";
  const { code, message } = failure;
  return [{ type: "error", source, message, timestamp: now, session_id: report.sessionId, code }, completion];
}

/** The failure in every format's terms. */
function errorObject({ code, message }: Failure): NonNullable<ResultObject["error"]> {
  return { code, message };
}

function usageObject(usage: Usage): UsageObject {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheWrite,
    thinking_tokens: usage.thinking,
  };
}

function firstLine(text: string): string {
  const line = text.split(/[\r\n]/).find((part) => part.trim() !== "") ?? "";
  return terminalLine(textStart(line, 2_000));
}
