import { expect, test } from "vitest";
import { createLog, logLevels } from "../../src/server/log.ts";

function output() {
  const written: string[] = [];
  const releases: (() => void)[] = [];
  return {
    written,
    release: () => {
      for (const release of releases.splice(0)) release();
    },
    isTerminal: false,
    columns: 80,
    gone: new AbortController().signal,
    write(text: string): Promise<void> {
      written.push(text);
      return new Promise((resolve) => void releases.push(resolve));
    },
  };
}

const time = "2026-01-02T03:04:05.678Z";
const now = (): number => Date.parse(time);

test("every line is one JSON object with its time, its level and its event", () => {
  const out = output();
  createLog(out, "info", now).info("session.started", { user: "ann", count: 1, left: undefined });
  expect(out.written).toEqual([`{"time":"${time}","level":"info","event":"session.started","user":"ann","count":1}\n`]);
});

test.each([
  ["off", []],
  ["error", ["error"]],
  ["warn", ["error", "warn"]],
  ["info", ["error", "warn", "info"]],
  ["debug", ["error", "warn", "info", "debug"]],
] as const)("level %s", (level, expected) => {
  const out = output();
  const log = createLog(out, level, now);
  for (const one of logLevels) if (one !== "off") log[one](one);
  expect(out.written.map((line) => (JSON.parse(line) as { event: string }).event)).toEqual(expected);
});

test("untrusted text is cut, stays on its line, and cannot control a terminal", () => {
  const out = output();
  createLog(out, "info", now).info("x", { path: `/\n\x1b[31m\x9b\u202e\u2028${"é".repeat(2_000)}` });
  const [line = ""] = out.written;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  expect(line.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u202e]/);
  const { path } = JSON.parse(line) as { path: string };
  expect([path.slice(0, 10), path.length]).toEqual(["/\n\x1b[31m\x9b\u202e\u2028é".slice(0, 10), 1_001]);
});

test("unread lines are counted instead of kept", async () => {
  const out = output();
  const log = createLog(out, "info", now);
  for (let count = 0; count < 10_007; count += 1) log.info("x");
  expect(out.written.length).toBe(10_000);
  out.release();
  await new Promise((resolve) => setImmediate(resolve));
  expect(out.written.slice(10_000)).toEqual([`{"time":"${time}","level":"warn","event":"log.dropped","lines":7}\n`]);
});
