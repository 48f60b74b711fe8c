import { expect, it } from "vitest";
import { decodeRecord } from "../../../src/store/records/records.ts";

const usage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, thinking: 0 };
const ended = { seq: 9, at: 5, turnId: "t1", type: "turn.ended", reason: "interrupted", usage, durationMs: 3 };
const oldFailure = { code: "interrupted", message: "The process that ran this turn ended." };

it("adds the cause to a turn that ended with its process, which older records state only in words", () => {
  const line = JSON.stringify({ ...ended, failure: oldFailure });
  expect(decodeRecord(line, "s1")).toEqual({
    kind: "event",
    event: { ...ended, sessionId: "s1", failure: oldFailure, cause: "process_ended" },
  });
});

it.each([
  ["another failure", { ...ended, failure: { code: "interrupted", message: "The run was interrupted." } }],
  ["another reason", { ...ended, reason: "failed", failure: oldFailure }],
  ["no failure", ended],
  ["a cause", { ...ended, failure: { code: "interrupted", message: "Reworded." }, cause: "process_ended" }],
])("leaves a turn's end with %s unchanged", (_, record) => {
  expect(decodeRecord(JSON.stringify(record), "s1")).toEqual({ kind: "event", event: { ...record, sessionId: "s1" } });
});
