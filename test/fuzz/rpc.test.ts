import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBench } from "../e2e/tinman.ts";
import { isFullRun } from "../full-run.ts";
import { firstSeed } from "./mutate.ts";
import type { Told } from "./rpc-run.ts";
import { fuzzProgram } from "./rpc-run.ts";

const lines = isFullRun ? 25_000 : 200;
const mebibyte = 1024 * 1024;

const calls = (name: string, input: object): object => ({ tool_calls: [{ name, input }], times: "any" });
const words = [{ times: "any", text: ["O", "K"] }];
/** Calls that change nothing in any folder, because mutated lines choose the session's folder. */
const tools = [
  { when: { after_tool: "LS" }, ...calls("Execute", { command: "no-such-program -x" }) },
  {
    when: { after_tool: "Execute" },
    ...calls("AskUser", { questionnaire: "1. [question] Which?\n[option] This\n[option] That" }),
  },
  { when: { after_tool: "AskUser" }, times: "any", text: "Thanks." },
  { when: { after_tool: "ExitSpecMode" }, times: "any", text: "Good." },
  { when: { system: "Spec mode is on" }, ...calls("ExitSpecMode", { plan: "# Plan\n\n1. Nothing" }) },
  calls("LS", {}),
];

test.concurrent.each([
  ["that only replies with text", words, true, 0],
  ["that calls tools", tools, true, 1],
  ["that only replies with text, in the early dialect", words, false, 2],
  ["that calls tools, in the early dialect", tools, false, 3],
])(
  `${lines} mutated lines are each answered once, with a model %s`,
  { timeout: 900_000 },
  async (what, replies, later, nth) => {
    const bench = await createBench();
    try {
      const model = await bench.script(replies);
      const began = performance.now();
      const told = await fuzzProgram(bench, { seed: firstSeed + nth, lines, later, model });
      if (isFullRun) process.stdout.write(reportOf(what, told, (lines / (performance.now() - began)) * 1_000));
      const { code, lastTurn, open } = told;
      const stderr = told.stderr.replace(
        /^tinman: (?:A line from the client is not valid UTF-8|The prompt contains half a|The conversation is compacted).*\n/gm,
        "",
      );
      expect({ code, stderr, lastTurn }).toEqual({ code: 0, stderr: "", lastTurn: "completed" });
      const seen = ["result", "-32700", "-32603", "-32602", "silence: blank", "silence: notification"];
      // A short run may not cover all of them.
      if (isFullRun) expect([...told.tally.keys()]).toEqual(expect.arrayContaining(seen));
      if (replies === tools) expect(told.tally.get("silence: response to what is open")).toBeGreaterThan(0);
      // Nothing is left of earlier sessions, and nothing was written elsewhere.
      expect(await readdir(join(bench.home, ".tinman", "locks"))).toEqual([]);
      expect([await readdir(bench.root), await readdir(bench.cwd)]).toEqual([
        ["bin", "home", "project", "script-1.json"],
        [],
      ]);
      expect(Math.max(...open)).toBeLessThan(60);
      // Resident memory changes in steps, so only its maximum is meaningful.
      expect(Math.max(...told.resident)).toBeLessThan(128 * mebibyte);
      if (isFullRun) {
        expect(growthPerLine(told.live)).toBeLessThan(150);
        // Memory outside the heap shows only here.
        expect(Math.min(...told.resident.slice(-Math.floor(told.resident.length / 5)))).toBeLessThan(100 * mebibyte);
      }
    } finally {
      await bench.remove();
    }
  },
);

/** Growth from the second fifth of a run to the last, by minimum use: the first lines also compile code. */
function growthPerLine(bytes: readonly number[]): number {
  const fifth = Math.floor(bytes.length / 5);
  const [early, late] = [bytes.slice(fifth, 2 * fifth), bytes.slice(-fifth)];
  return (Math.min(...late) - Math.min(...early)) / (lines * 0.6);
}

function reportOf(what: string, told: Told, perSecond: number): string {
  const inMebibytes = (bytes = 0): string => (bytes / mebibyte).toFixed(0);
  const { resident, live, tally } = told;
  const sizes = [resident[0], resident[Math.floor(resident.length / 5)], resident.at(-1)].map(inMebibytes);
  return [
    `${lines} lines from seed ${firstSeed} on, a model ${what}: ${perSecond.toFixed(0)} lines a second`,
    `resident at the start, after a fifth, at the end: ${sizes.join(", ")} MiB`,
    `growth a line: ${growthPerLine(live).toFixed(0)} bytes in use, ${growthPerLine(resident).toFixed(0)} resident`,
    ...[...tally].sort().map(([kind, count]) => `  ${kind}: ${count}`),
    "",
  ].join("\n");
}
