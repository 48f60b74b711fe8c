import type { LimitOptions } from "../../access/limits.ts";
import type { ReasoningEffort, RunOptions } from "../../engine/settings.ts";
import type { ToolExecution } from "../../protocol/interactive.ts";
import { refused, unusable } from "./failures.ts";

/** How long the offline and scripted models can be silent; these models set no limit themselves. */
export const ownSilenceMs = 10_000;

/** Settings of `/ws` from `config.yaml` and the command line. Times in milliseconds. */
export interface InteractiveOptions {
  readonly cwd: string;
  readonly reasoningEffort: ReasoningEffort;
  readonly toolExecution: ToolExecution;
  /** Alternatives that clients can choose. */
  readonly toolExecutionChoices: readonly ToolExecution[];
  /** Without `ai`, providers' models have their own limits. */
  readonly timeouts: { readonly ai?: number; readonly toolResult: number; readonly idleSession: number };
  /** All are published to clients; `access` enforces those per user. */
  readonly limits: LimitOptions & { readonly queuedMessages: number };
  readonly serverVersion: string;
  /** For sessions that name no model. */
  readonly run?: Pick<RunOptions, "modelByDefault" | "unaskedModelNotice">;
}

/** Structured: an event name and its fields. Never message contents. */
export interface ServerLog {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

type Choice = Pick<InteractiveOptions, "toolExecution" | "toolExecutionChoices">;

/** The side that runs a new session's tools. Throws if clients cannot choose. */
export function chosenExecution(wanted: ToolExecution | null | undefined, options: Choice): ToolExecution {
  const { toolExecution: usual, toolExecutionChoices: choices } = options;
  if (wanted === undefined || wanted === null || wanted === usual) return usual;
  if (choices.includes(wanted)) return wanted;
  throw unusable("tool_execution", `This server does not let clients choose who runs the tools; it uses ${usual}.`);
}

/** False for sessions of other wires or of an earlier configuration that need a server which runs tools. */
export function isExecutable(execution: ToolExecution, { toolExecution, toolExecutionChoices }: Choice): boolean {
  return execution === "client" || execution === toolExecution || toolExecutionChoices.includes(execution);
}

export function checkExecutable(execution: ToolExecution, options: Choice): void {
  if (isExecutable(execution, options)) return;
  throw refused("tool_execution", "This server runs no tools for its clients, and this session needs it.");
}
