import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tinman-summary-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the summary over files with the given status and tests' statuses. */
function summary(files: Readonly<Record<string, readonly [string, ...string[]]>> | undefined, exitCode = "0") {
  const report = join(folder, "report.json");
  if (files) {
    const testResults = Object.entries(files).map(([name, [status, ...tests]]) => ({
      name,
      status,
      assertionResults: tests.map((test, index) => ({ fullName: `${name} ${index}`, status: test })),
    }));
    writeFileSync(report, JSON.stringify({ testResults }));
  }
  const run = spawnSync(process.execPath, ["scripts/ci-summary.mjs", report, exitCode], { encoding: "utf8" });
  return { status: run.status, lines: run.stdout.trimEnd().split("\n") };
}

describe("the summary of a CI run", () => {
  it("counts what passed", () => {
    expect(summary({ a: ["passed", "passed", "passed"], b: ["passed", "passed"] })).toEqual({
      status: 0,
      lines: ["3 passed, 0 failed"],
    });
  });

  it("names what failed", () => {
    expect(summary({ a: ["failed", "passed", "failed"] }, "1")).toEqual({
      status: 1,
      lines: ["failed: a 1", "1 passed, 1 failed"],
    });
  });

  it("treats a skipped test as a failure", () => {
    expect(summary({ a: ["passed", "passed", "pending"], b: ["passed", "todo"] })).toEqual({
      status: 1,
      lines: ["pending: a 1", "todo: b 0", "1 passed, 2 failed"],
    });
  });

  it("reports a file that did not load", () => {
    expect(summary({ a: ["passed", "passed"], b: ["failed"] }, "1")).toEqual({
      status: 1,
      lines: ["failed: b as a whole", "1 passed, 1 failed"],
    });
  });

  it("reports a run that failed although every test passed", () => {
    expect(summary({ a: ["passed", "passed"] }, "1")).toEqual({
      status: 1,
      lines: ["failed: the run ended with 1", "1 passed, 1 failed"],
    });
  });

  it("fails without a report", () => {
    expect(summary(undefined, "2")).toEqual({
      status: 1,
      lines: ["failed: no test was run", "0 passed, 1 failed"],
    });
  });
});
