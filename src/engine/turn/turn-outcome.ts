import type { Denial } from "../calls/tool-calls.ts";
import type { Failure } from "../errors.ts";
import type { EndReason } from "../event.ts";
import type { ToolResultBlock, Usage } from "../message.ts";

/** What came of a turn, for those who sent its prompts. */
export interface TurnOutcome {
  readonly turnId: string;
  readonly reason: EndReason;
  readonly failure?: Failure;
  /** The last words of the model in this turn, or its plan. */
  readonly finalText: string;
  readonly usage: Usage;
  /** Dollars. Absent when a model was called whose prices are not known. */
  readonly cost?: number;
  readonly modelCalls: number;
  readonly denials: readonly Denial[];
  /** The first result of the last reply that called tools whose tool could not do its job. */
  readonly failedTool?: ToolResultBlock;
  readonly durationMs: number;
}
