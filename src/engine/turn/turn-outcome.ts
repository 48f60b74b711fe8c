import type { Denial } from "../calls/ask-for-calls.ts";
import type { Failure } from "../errors.ts";
import type { EndReason } from "../event.ts";
import type { ToolResultBlock, Usage } from "../message.ts";

/** A turn's outcome, for the senders of its prompts. */
export interface TurnOutcome {
  readonly turnId: string;
  readonly reason: EndReason;
  readonly failure?: Failure;
  /** The model's last text in this turn, or its plan. */
  readonly finalText: string;
  readonly usage: Usage;
  /** Dollars. Absent if the prices of a called model are unknown. */
  readonly cost?: number;
  readonly modelCalls: number;
  readonly denials: readonly Denial[];
  /** In the last reply with tool calls, the first result of a tool that could not do its job. */
  readonly failedTool?: ToolResultBlock;
  readonly durationMs: number;
}
