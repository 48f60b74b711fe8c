import type { ToolCallBlock } from "../message.ts";
import type {
  Access,
  AccessClass,
  Decision,
  DecisionContext,
  PermissionPolicy,
  Preview,
  Ruling,
} from "../permission.ts";
import type { Interactions } from "../session/interactions.ts";
import { failed, type Tool, type ToolBody, type ToolOutput } from "../tool.ts";
import { createInputBudget, withinRequest } from "./shown-calls.ts";

/** One call before it runs: unusable, refused, or ready. */
export interface Prepared {
  readonly call: ToolCallBlock;
  readonly tool?: Tool;
  readonly body?: ToolBody;
  readonly input?: unknown;
  /** The accesses that were decided on. */
  readonly accesses?: readonly Access[];
  readonly decision?: Ruling;
  readonly preview?: Preview;
  /** An early result: the call does not run. */
  readonly result?: ToolOutput;
}

export interface Denial {
  readonly callId: string;
  readonly tool: string;
  readonly class: AccessClass;
  readonly rule: string;
  readonly why: string;
  /** See `Decision`. */
  readonly contained?: boolean;
}

interface AskContext {
  readonly interactions: Interactions;
  readonly policy: PermissionPolicy;
  readonly signal: AbortSignal;
  decisionContext(tool: string): DecisionContext;
}

export function denialOf(call: ToolCallBlock, { class: kind, rule, why, contained }: Decision): Denial {
  const where = contained === undefined ? {} : { contained };
  return { callId: call.id, tool: call.name, class: kind, rule, why, ...where };
}

/** Rejects calls that are too large to show to an approver. */
export function showable(prepared: readonly Prepared[]): readonly Prepared[] {
  const fits = createInputBudget();
  return prepared.map((entry) => {
    if (entry.result !== undefined || entry.decision?.verdict !== "ask") return entry;
    return fits(entry.call.input) ? entry : { ...entry, result: failed(tooMuch) };
  });
}

const tooMuch =
  "Not run: the calls of this reply need permission, and together they are too large to show. Make fewer or smaller calls.";

interface Asked {
  readonly prepared: readonly Prepared[];
  readonly denials: readonly Denial[];
  /** Set if an approver refused, or all approvers have left. */
  readonly end?: "cancelled" | "denied";
}

/** Asks once for all calls that need a yes. */
export async function askForThose(prepared: readonly Prepared[], context: AskContext): Promise<Asked> {
  const asked = prepared.flatMap(({ call, decision, preview, accesses = [], result }) =>
    result === undefined && decision?.verdict === "ask"
      ? [
          {
            accesses,
            shown: {
              call: withoutRaw(call),
              decision: withoutWalls(decision),
              ...(preview === undefined ? {} : { preview }),
            },
          },
        ]
      : [],
  );
  if (asked.length === 0) return { prepared, denials: [] };
  const calls = await withinRequest(asked.map(({ shown }) => shown));
  const answer = await context.interactions.ask({ kind: "permission", calls }, context.signal);
  if (answer?.kind === "allow") return { prepared, denials: [] };
  const isNobody = !context.signal.aborted && !context.interactions.canAsk("permission");
  const why = answer?.kind === "cancel" && answer.why !== undefined ? `: ${answer.why}` : " by user";
  const result: ToolOutput = { text: `Error: Tool execution cancelled${why}`, status: "refused" };
  const cancelled = prepared.map((entry) => {
    if (entry.result !== undefined || isHarmless(entry)) return entry;
    return entry.decision?.verdict === "ask" ? { ...entry, result } : { ...entry, result: turnedDown };
  });
  if (!isNobody) return { prepared: cancelled, denials: [], end: "cancelled" };
  // Decide again without an approver, for the right message.
  const denials = asked.map(({ accesses, shown: { call } }) =>
    denialOf(call, context.policy.decide(accesses, context.decisionContext(call.name))),
  );
  return { prepared: cancelled, denials, end: "denied" };
}

/** Approvers see the normalised call, because that is what runs. */
function withoutRaw({ raw: _, ...call }: ToolCallBlock): ToolCallBlock {
  return call;
}

/** Only the host needs the walls, and they are too long for the log. */
function withoutWalls({ walls: _, ...decision }: Ruling): Decision {
  return decision;
}

export const turnedDown: ToolOutput = {
  text: "Error: Not run, because another call of the same reply was rejected.",
  status: "refused",
};

/** The turn ends here, so only harmless calls still run. */
export function isHarmless({ tool, decision }: Prepared): boolean {
  return decision?.verdict === "allow" && decision.class === "read" && tool?.kind === "read";
}
