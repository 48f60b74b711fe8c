import { describe, expect, test } from "vitest";
import type { EndReason } from "../../src/engine/event.ts";
import { noUsage } from "../../src/engine/message.ts";
import type { TurnOutcome } from "../../src/engine/turn/turn-outcome.ts";
import { reportOutcome } from "../../src/frontends/exec/report.ts";

const outcome: TurnOutcome = {
  turnId: "t",
  reason: "completed",
  finalText: "Done.",
  usage: noUsage,
  modelCalls: 1,
  denials: [],
  durationMs: 5,
};
const denial = { callId: "c", tool: "Create", class: "low", rule: "write-workspace", why: "Create writes x." } as const;
const failedTool = {
  type: "tool_result",
  callId: "c",
  name: "Execute",
  status: "failed",
  text: "Error: exit 1\nmore",
} as const;
const report = (changes: Partial<TurnOutcome>, signalCode?: 130) =>
  reportOutcome({ ...outcome, ...changes }, { sessionId: "s", durationMs: 9, signalCode });

describe("exit codes", () => {
  test.each<[string, Partial<TurnOutcome>, number]>([
    ["a good end", {}, 0],
    ["a plan", { reason: "planned" }, 0],
    ["a failed tool at the end", { failedTool }, 1],
    ["a model failure", { reason: "failed", failure: { code: "model_failed", message: "500" } }, 1],
    ["a full log", { reason: "failed", failure: { code: "storage_failed", message: "disk" } }, 1],
    ["a limit", { reason: "limit", failure: { code: "limit_turns", message: "2 calls" } }, 3],
    ["a timeout", { reason: "limit", failure: { code: "timeout", message: "2 s" } }, 3],
    ["a full window", { reason: "context_full", failure: { code: "context_full", message: "window" } }, 3],
    ["a truncated answer", { reason: "length", failure: { code: "output_limit", message: "cut" } }, 3],
    ["a denial", { reason: "denied", failure: { code: "denied", message: "no" }, denials: [denial] }, 5],
    ["a denial that the model recovered from", { denials: [denial] }, 5],
    ["a no", { reason: "cancelled" }, 5],
    ["an interrupt", { reason: "interrupted", failure: { code: "interrupted", message: "stopped" } }, 130],
    [
      "a denial before a model failure",
      { reason: "failed", failure: { code: "model_failed", message: "500" }, denials: [denial] },
      1,
    ],
  ])("%s", (_, changes, code) => {
    expect(report(changes).exitCode).toBe(code);
  });

  test("a signal takes precedence", () => {
    expect(report({}, 130).exitCode).toBe(130);
  });

  test("every end of a turn except success has a message", () => {
    const reasons: EndReason[] = ["interrupted", "denied", "limit", "length", "context_full", "failed"];
    for (const reason of reasons) {
      expect(report({ reason, failure: { code: "internal", message: "words" } }).failure?.message).toBe("words");
    }
    expect(report({}).failure).toBeUndefined();
  });
});

test("a denial names the option that would allow it, once per reason", () => {
  const { failure, denials } = report({ reason: "denied", denials: [denial, { ...denial, callId: "d" }] });
  expect(failure).toEqual({ code: "denied", message: "Create writes x. Allow it with --auto low." });
  expect(denials.map(({ allowWith }) => allowWith)).toEqual(["--auto low", "--auto low"]);
  const outside = report({ reason: "denied", denials: [{ ...denial, contained: false }] });
  expect(outside.denials).toMatchObject([{ contained: false, allowWith: "--auto low" }]);
  const guarded = report({ reason: "denied", denials: [{ ...denial, class: "high", rule: "protected-place" }] });
  expect(guarded.denials[0]?.allowWith).toBe("--skip-permissions-unsafe");
});

test("a run that ended on a tool error names it, and keeps the answer", () => {
  expect(report({ failedTool })).toMatchObject({
    failure: { code: "tool_failed", message: "The run ended on a failed Execute call: exit 1" },
    finalText: "Done.",
  });
});
