import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench, lines } from "./tinman.ts";

/**
 * Faults seen in `droid exec`. Each test shows that we don't have it. (Orphans and signal codes: exec-faults.test.ts.)
 */

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

test("no failure is silent: no prompt, a missing file and an unknown session each print the reason", async () => {
  for (const args of [[], [""], ["-f", "missing.md"], ["-s", "00000000-0000-4000-8000-000000000000", "x"]]) {
    const run = await bench.tinman(["exec", ...args]);
    expect(run.code).not.toBe(0);
    expect(run.stderr).toMatch(/^tinman: \S[^\n]+\n$/);
  }
});

test("the model's own risk estimate is not trusted, at any level below the real one", async () => {
  for (const command of [
    "rm -rf ./zzz",
    "git push",
    "touch made.txt",
    "ls > made.txt",
    "npm install --offline",
    "sudo ls",
  ]) {
    const model = await bench.script([
      { tool_calls: [{ name: "Execute", input: { command, riskLevel: "low" } }] },
      { text: "ran" },
    ]);
    expect([command, (await bench.tinman(["exec", "-m", model, "go"])).code]).toEqual([command, 5]);
  }
  expect((await bench.shell("ls")).stdout).not.toContain("made.txt");
});

test("a denied call is an error, and so is the run", async () => {
  const model = await bench.script([
    { tool_calls: [{ name: "Create", input: { file_path: "x", content: "" } }] },
    { text: "fine" },
  ]);
  for (const flags of [[], ["--on-denied", "continue"]]) {
    const run = await bench.tinman(["exec", ...flags, "-o", "stream-json", "-m", model, "go"]);
    expect(lines(run.stdout).find(({ type }) => type === "tool_result")).toMatchObject({ isError: true });
    expect(run.code).toBe(5);
  }
});

test("a made-up tool name is an error the model reads", async () => {
  const model = await bench.script([{ tool_calls: [{ name: "Teleport", input: {} }] }, { text: "no such tool" }]);
  const run = await bench.tinman(["exec", "-o", "stream-json", "-m", model, "go"]);
  expect(lines(run.stdout).find(({ type }) => type === "tool_result")).toMatchObject({
    isError: true,
    value: expect.stringContaining("Unknown tool: Teleport"),
  });
});

test("sends reasoning once", async () => {
  const model = await bench.script([{ reasoning: ["Let ", "me ", "think."], text: "Thought." }]);
  const events = lines((await bench.tinman(["exec", "-o", "stream-json", "-m", model, "go"])).stdout);
  expect(events.filter(({ type }) => type === "reasoning").map(({ text }) => text)).toEqual(["Let me think."]);
});

test("an answer truncated at the output limit is continued three times, not forever", async () => {
  const model = await bench.script([{ text: "more ", stop: "length", times: "any" }]);
  const run = await bench.tinman(["exec", "-o", "stream-json", "-m", model, "go"]);
  const said = lines(run.stdout).filter(({ type, role }) => type === "message" && role === "assistant");
  expect([said.length, run.code]).toEqual([4, 3]);
});

test("a rejected key fails at once, with the cause in every format", async () => {
  const model = await bench.script([{ error: { status: 401, message: "key sk-…123 is not valid" }, times: "any" }]);
  for (const format of ["text", "json", "stream-json"]) {
    const run = await bench.tinman(["exec", "-o", format, "--log-level", "info", "-m", model, "go"]);
    expect(run.code).toBe(1);
    expect(run.stderr).not.toContain("try 1");
    expect(format === "text" ? run.stderr : run.stdout).toContain("is not valid");
  }
});

test("a server error is retried a few times and then reported", async () => {
  const passing = await bench.script([
    { error: { status: 500, message: "oops", retry_after_ms: 1 } },
    { text: "recovered" },
  ]);
  const failing = await bench.script([{ error: { status: 500, message: "oops", retry_after_ms: 1 }, times: "any" }]);
  const recovered = await bench.tinman(["exec", "--log-level", "info", "-m", passing, "go"]);
  expect([recovered.code, recovered.stdout]).toEqual([0, "recovered\n"]);
  expect(recovered.stderr).toContain("oops");
  const run = await bench.tinman(["exec", "-o", "json", "-m", failing, "go"]);
  expect(run.code).toBe(1);
  expect(JSON.parse(run.stdout).result).toContain("oops");
});

test("needs no key", async () => {
  const run = await bench.tinman(["exec", "Just reply OK."], { env: { FACTORY_API_KEY: undefined } });
  expect([run.code, run.stdout]).toEqual([0, "OK\n"]);
});

test("-m is never ignored, and a wrong --input-format is never accepted", async () => {
  const model = await bench.script([{ text: "from the script" }]);
  expect((await bench.tinman(["exec", "-m", model, "go"])).stdout).toBe("from the script\n");
  expect((await bench.tinman(["exec", "-m", "no-such-model", "go"])).code).toBe(2);
  for (const format of ["bogus", "stream-json", ""]) {
    expect((await bench.tinman(["exec", "--input-format", format, "go"])).code).toBe(2);
  }
});

test("the completion is last, exactly once, on every kind of end", async () => {
  const ends: [string, object[], string[]][] = [
    ["success", [{ text: "ok" }], []],
    ["failure", [{ error: { status: 400 } }], []],
    ["denial", [{ tool_calls: [{ name: "Create", input: { file_path: "x", content: "" } }] }], []],
    ["empty", [{ empty: true }], []],
    ["cut", [{ text: "half", error: "cut", times: "any" }], []],
    ["timeout", [{ text: "late", delay_ms: 20_000 }], ["--timeout", "200ms"]],
    ["exhausted", [{ tool_calls: [{ name: "LS", input: {} }] }], []],
  ];
  for (const [name, replies, flags] of ends) {
    const events = lines(
      (await bench.tinman(["exec", "-o", "stream-json", ...flags, "-m", await bench.script(replies), "go"])).stdout,
    );
    const completions = events.filter(({ type }) => type === "completion");
    expect([name, completions.length, events.at(-1)?.type]).toEqual([name, 1, "completion"]);
    expect([name, completions[0]?.isError]).toEqual([name, name !== "success"]);
  }
});

test("reports the reason for an unknown model once, on one line", async () => {
  const run = await bench.tinman(["exec", "-m", "nope", "go"]);
  expect(run.stderr.match(/offline/g)).toHaveLength(1);
});
