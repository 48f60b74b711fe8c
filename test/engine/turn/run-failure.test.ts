import { describe, expect, test } from "vitest";
import type { CommandResult } from "../../../src/engine/ports.ts";
import { runFailure } from "../../../src/engine/turn/run-failure.ts";
import { ask, calls, createKit, type FakeReply, says } from "../../fakes/kit.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";

async function failureAfter(replies: readonly FakeReply[], end: CommandResult["end"] = { type: "exit", code: 0 }) {
  const host = createMemoryHost({ "/ws/readme.md": "hello\n" }, { onCommand: () => ({ end, head: "output\n" }) });
  const session = await createKit(replies, { host }).open();
  return runFailure(await ask(session, "go"));
}
const command = calls(["Execute", { command: "make" }]);
const toolFailed = (words: string) => ({ code: "tool_failed", message: `The run ended on a failed ${words}` });

describe("a run that ends on a command", () => {
  test.each([0, 1, 2, 5, 100, 124, 125, 128, 141, 193, 255])("succeeds with exit code %i", async (code) => {
    expect(await failureAfter([command, says("Done.")], { type: "exit", code })).toBeUndefined();
  });

  test.each([126, 129, 130, 134, 137, 138, 139, 140, 143, 162, 192])("fails with exit code %i", async (code) => {
    expect(await failureAfter([command, says("Done.")], { type: "exit", code })).toEqual(
      toolFailed(`Execute call: Command failed (exit code: ${code})`),
    );
  });

  test.each<[string, CommandResult["end"], string]>([
    ["was not found", { type: "exit", code: 127 }, "Command not found."],
    ["was killed by a signal", { type: "signal", signal: "SIGSEGV" }, "Command terminated by signal: SIGSEGV"],
    ["timed out", { type: "timeout" }, "Command timed out after 60 seconds."],
    ["could not be started", { type: "unstartable", message: "EAGAIN" }, "Command could not be started: EAGAIN"],
  ])("fails when it %s", async (_, end, words) => {
    const failure = await failureAfter([command, says("Done.")], end);
    expect(failure?.code).toBe("tool_failed");
    expect(failure?.message).toContain(words);
  });
});

describe("a run that ends on another tool", () => {
  test.each<[string, string, object]>([
    ["a missing file", "Read", { file_path: "missing.txt" }],
    ["bad arguments", "Read", {}],
    ["an unknown tool", "Fly", {}],
  ])("fails on %s", async (_, name, input) => {
    expect(await failureAfter([calls([name, input]), says("Done.")])).toMatchObject({ code: "tool_failed" });
  });

  test("succeeds on a search without a match", async () => {
    expect(await failureAfter([calls(["Grep", { pattern: "zebra" }]), says("None.")])).toBeUndefined();
  });
});

test("a failed tool fails the run even beside successful calls", async () => {
  const both = calls(["Read", { file_path: "readme.md" }], ["Read", { file_path: "missing.txt" }]);
  expect(await failureAfter([both, says("Done.")])).toMatchObject({ code: "tool_failed" });
});

test("only the last reply with tool calls counts", async () => {
  const bad = calls(["Read", { file_path: "missing.txt" }]);
  expect(await failureAfter([bad, command, says("Done.")])).toBeUndefined();
});
