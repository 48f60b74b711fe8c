import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createBench } from "../tinman.ts";

/** A start fault prints one line with its cause. */

test("reports a missing configuration", async () => {
  const bench = await createBench();
  onTestFinished(bench.remove);
  expect(await bench.tinman(["serve", "--port", "0", "--config", "none.yaml"])).toEqual({
    code: 2,
    signal: null,
    stdout: "",
    stderr: `tinman: ${join(bench.cwd, "none.yaml")}: the file does not exist\n`,
  });
});

test("reports a read-only home", async () => {
  const bench = await createBench();
  onTestFinished(bench.remove);
  const home = join(await bench.file("file", ""), "home");
  expect(await bench.tinman(["serve", "--port", "0"], { env: { TINMAN_HOME: home } })).toEqual({
    code: 1,
    signal: null,
    stdout: "",
    stderr: `tinman: Cannot create ${join(home, "serve-token")}: not a directory.\n`,
  });
});
