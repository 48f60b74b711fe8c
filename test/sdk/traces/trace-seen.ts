import type { TurnEvent } from "../../../src/sdk/types.ts";
import type { Run } from "../../replay/trace.ts";
import type { ExpectedTurn } from "./trace-oracle.ts";
import { expectedKnown, expectedMessages, expectedOutcomes, expectedTurns, expectedWithdrawn } from "./trace-oracle.ts";
import type { PlayedRun, PlayedTurn } from "./trace-player.ts";
import type { Scene } from "./trace-script.ts";

export interface Seen {
  readonly turns: readonly ExpectedTurn[];
  /** Of tool calls and results, in each turn. */
  readonly counts: readonly (readonly number[])[];
  /** The number of ends of each turn, and whether its last event is one. */
  readonly ends: readonly (readonly [number, boolean])[];
  readonly allEnds: number;
  readonly messages: readonly string[];
  readonly outcomes: PlayedRun["outcomes"];
  readonly known: Readonly<Record<string, unknown>>;
  readonly withdrawn: readonly string[];
  readonly left: readonly string[];
  readonly end: PlayedRun["end"];
}

/** The parts that can be compared with a trace's lines. */
export function seenIn({ turns, outcomes, events, known, withdrawn, left, end }: PlayedRun): Seen {
  return {
    turns: turns.map(({ events: own, outcome }) => ({
      error: "error" in outcome ? outcome.error : undefined,
      status: "result" in outcome ? outcome.result.status : undefined,
      text: "result" in outcome ? outcome.result.text : undefined,
      calls: Object.fromEntries(each(own, "tool_call").map(({ id, name, input }) => [id, [name, input]])),
      results: Object.fromEntries(each(own, "tool_result").map(({ id, isError }) => [id, isError])),
    })),
    counts: turns.map(({ events: own }) => [each(own, "tool_call").length, each(own, "tool_result").length]),
    ends: turns.map(({ events: own }) => [each(own, "end").length, own.at(-1)?.type === "end"]),
    allEnds: each(events, "end").length,
    messages: each(events, "message").map(({ message }) => message.id),
    outcomes,
    known: {
      modelId: known?.settings.modelId,
      reasoningEffort: known?.settings.reasoningEffort,
      interactionMode: known?.settings.interactionMode,
      autonomyLevel: known?.settings.autonomyLevel,
      title: known?.title,
      usage: known?.usage,
    },
    withdrawn,
    left,
    end,
  };
}

export function expectedOf(run: Run, scenes: readonly Scene[]): Seen {
  const turns = expectedTurns(run);
  const ended = turns.map(({ error }) => error === undefined);
  return {
    turns,
    counts: turns.map(({ calls, results }) => [Object.keys(calls).length, Object.keys(results).length]),
    ends: ended.map((isEnded) => [isEnded ? 1 : 0, isEnded]),
    allEnds: ended.filter((isEnded) => isEnded).length,
    messages: expectedMessages(run),
    outcomes: expectedOutcomes(scenes),
    known: expectedKnown(run),
    withdrawn: expectedWithdrawn(scenes),
    left: [],
    end: { reason: "The other side has ended the connection.", after: "BackendGoneError" },
  };
}

function each<T extends TurnEvent["type"]>(events: readonly TurnEvent[], type: T): Extract<TurnEvent, { type: T }>[] {
  return events.filter((event): event is Extract<TurnEvent, { type: T }> => event.type === type);
}

/** Messages whose deltas since the last reset do not add up to their text. */
export function brokenPieces({ events }: PlayedTurn): readonly string[] {
  const shown = new Map<string, string>();
  const broken: string[] = [];
  for (const event of events) {
    if (event.type === "text") shown.set(event.messageId, `${shown.get(event.messageId) ?? ""}${event.text}`);
    if (event.type === "text_reset") shown.delete(event.messageId);
    if (event.type === "message" && event.message.role === "assistant") {
      if ((shown.get(event.message.id) ?? "") !== event.text) broken.push(event.message.id);
    }
  }
  return broken;
}
