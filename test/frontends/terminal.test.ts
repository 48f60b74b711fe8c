import { describe, expect, test } from "vitest";
import type { EngineEvent } from "../../src/engine/event.ts";
import { noUsage } from "../../src/engine/message.ts";
import { createLogger } from "../../src/frontends/exec/log.ts";
import { type OutputFormat, printReport, type RunReport } from "../../src/frontends/exec/report.ts";
import type { Output } from "../../src/frontends/front-end.ts";

const evil = "Hi\x1b]0;owned\x07\x9b2J\u202e\tthere\r\nand ❤️";
const shown = "Hi\\u{1b}]0;owned\\u{7}\\u{9b}2J\\u{202e}\tthere\nand ❤️";

const base: RunReport = {
  exitCode: 0,
  stopReason: "completed",
  finalText: `${evil}\n\n`,
  denials: [],
  usage: noUsage,
  turns: 1,
  durationMs: 5,
  sessionId: "s",
};

function recorder(isTerminal: boolean): Output & { readonly texts: string[] } {
  const texts: string[] = [];
  const write = async (text: string): Promise<void> => void texts.push(text);
  return { texts, isTerminal, columns: 80, write, gone: new AbortController().signal };
}

async function printed(format: OutputFormat, isTerminal: boolean, changes: Partial<RunReport> = {}) {
  const stdout = recorder(isTerminal);
  const stderr = recorder(isTerminal);
  await printReport(format, { ...base, ...changes }, { stdout, stderr, onSignal: () => () => undefined }, 7);
  return { stdout: stdout.texts.join(""), stderr: stderr.texts.join("") };
}

describe("the answer", () => {
  test("on a terminal contains nothing that controls it", async () => {
    expect(await printed("text", true)).toEqual({ stdout: `${shown}\n`, stderr: "" });
  });

  test("in a pipe or a file is the model's text unchanged", async () => {
    expect(await printed("text", false)).toEqual({ stdout: `${evil}\n`, stderr: "" });
  });

  test.each(["json", "stream-json"] as const)(
    "as %s on a terminal is escaped, with the same meaning",
    async (format) => {
      const failure = { code: "tool_failed", message: evil } as const;
      const onTerminal = await printed(format, true, { failure });
      const inPipe = await printed(format, false, { failure });
      expect(inPipe.stdout).toMatch(/[\x9b\u202e]/);
      expect(onTerminal.stdout).not.toMatch(/(?!\n)[\p{Cc}\u202e]/u);
      const values = (text: string): readonly unknown[] =>
        text
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line));
      expect(values(onTerminal.stdout)).toEqual(values(inPipe.stdout));
    },
  );
});

test.each(["json", "stream-json"] as const)("%s has code and message of a failure, and no more", async (format) => {
  const plain = { code: "model_overloaded", message: "busy" } as const;
  const { stdout } = await printed(format, false, { failure: { ...plain, cause: "rate_limited" } });
  expect(stdout).toBe((await printed(format, false, { failure: plain })).stdout);
  expect(stdout).toContain('"error":{"code":"model_overloaded","message":"busy"}');
});

test.each([
  ["holds the model's words on success", {}, "Done."],
  ["holds the model's words on failure", { failure: { code: "denied", message: "No." } }, "Done."],
  [
    "holds the error text when the model said nothing",
    { failure: { code: "denied", message: "No." }, finalText: "" },
    "No.",
  ],
] as const)("`result` %s", async (_, changes, expected) => {
  const { stdout } = await printed("json", false, { finalText: "Done.", ...changes });
  const { result, error } = JSON.parse(stdout);
  expect([result, error?.message]).toEqual([expected, "failure" in changes ? "No." : undefined]);
});

describe("messages on stderr", () => {
  test.each([true, false])("about a failure are one clean line (terminal: %s)", async (isTerminal) => {
    const failure = { code: "model_failed", message: `\n \r\n${evil}` } as const;
    const { stderr } = await printed("text", isTerminal, { failure, exitCode: 1, stopReason: "failed" });
    expect(stderr).toBe("tinman: Hi\\u{1b}]0;owned\\u{7}\\u{9b}2J\\u{202e} there\n");
  });

  test("about notices, retries and events are clean lines", async () => {
    const output = recorder(false);
    const log = createLogger(output, "debug");
    const line = "Hi\\u{1b}]0;owned\\u{7}\\u{9b}2J\\u{202e} there  and ❤️";
    const result = { type: "tool_result", callId: "c", name: evil, status: "ok", text: "" } as const;
    const live = { at: 7, sessionId: "s" };
    const durable = { ...live, seq: 1 };
    const events: readonly EngineEvent[] = [
      { ...live, type: "notice", level: "warning", text: evil },
      { ...live, type: "notice", level: "info", text: evil },
      {
        ...live,
        type: "retry.scheduled",
        attempt: 1,
        delayMs: 500,
        failure: { code: "model_failed", message: evil },
      },
      { ...durable, type: "tool.started", callId: "c", name: evil },
      { ...durable, type: "tool.ended", messageId: "m", result },
    ];
    await log.warn(evil);
    for (const event of events) await log.event(event);
    expect(output.texts).toEqual([
      `tinman: ${line}\n`,
      `tinman: ${line}\n`,
      `tinman: ${line}\n`,
      `tinman: ${line} Trying again in 0.5 s (retry 1).\n`,
      `tinman: ${line} started\n`,
      `tinman: ${line} ended: ok\n`,
    ]);
  });
});
