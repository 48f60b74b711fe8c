import type { LimitOptions } from "../../access/limits.ts";
import type { ReasoningEffort, RunOptions } from "../../engine/settings.ts";
import type { ToolExecution } from "../../protocol/interactive.ts";
import { refused, unusable } from "./failures.ts";

/** How long the offline and scripted models, which do not bound their silence themselves, may say nothing. */
export const ownSilenceMs = 10_000;

/** What `config.yaml` and the command line say about `/ws`. Times in milliseconds. */
export interface InteractiveOptions {
  /** The folder that sessions work in. */
  readonly cwd: string;
  readonly reasoningEffort: ReasoningEffort;
  readonly toolExecution: ToolExecution;
  /** What a client may choose instead. */
  readonly toolExecutionChoices: readonly ToolExecution[];
  /** Without `ai`, models of providers have patience of their own. */
  readonly timeouts: { readonly ai?: number; readonly toolResult: number; readonly idleSession: number };
  /** Clients are told of all of them; those of a user are the access room's. */
  readonly limits: LimitOptions & { readonly queuedMessages: number };
  readonly serverVersion: string;
  /** What holds for sessions that name no model. */
  readonly run?: Pick<RunOptions, "modelByDefault" | "unaskedModelNotice">;
}

/** Structured: a name, and what belongs to it. Never the contents of messages. */
export interface ServerLog {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

type Choice = Pick<InteractiveOptions, "toolExecution" | "toolExecutionChoices">;

/** Who runs the tools of a new session. Throws where the server leaves no choice. */
export function chosenExecution(wanted: ToolExecution | null | undefined, options: Choice): ToolExecution {
  const { toolExecution: usual, toolExecutionChoices: choices } = options;
  if (wanted === undefined || wanted === null || wanted === usual) return usual;
  if (choices.includes(wanted)) return wanted;
  throw unusable("tool_execution", `This server does not let clients choose who runs the tools; it is ${usual}.`);
}

/** Sessions of other front ends, and of an earlier configuration, may need a server that runs tools. */
export function isExecutable(execution: ToolExecution, { toolExecution, toolExecutionChoices }: Choice): boolean {
  return execution === "client" || execution === toolExecution || toolExecutionChoices.includes(execution);
}

export function checkExecutable(execution: ToolExecution, options: Choice): void {
  if (isExecutable(execution, options)) return;
  throw refused("tool_execution", "This server runs no tools for its clients, and this session needs it.");
}
