import { once } from "node:events";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { processesWith, thatStay } from "./processes.ts";
import { type Bench, createBench, madeUp } from "./tinman.ts";
import { toolResults } from "./tool-results.ts";

/*
 * `npm run` puts `node_modules/.bin` first on the PATH, and direnv adds folders of the workspace. Programs there are
 * the repository's, and must not replace those that Tinman needs.
 */
const needed = ["mkfifo", "ps", "perl", "git", "rg", "grep", "sleep", "kill", "sh", "bash", "env", "node", "npm"];
const key = `sk-${madeUp()}`;
let bench: Bench;
let env: Record<string, string>;

beforeAll(async () => {
  bench = await createBench();
  await bench.shell("git init -q && echo text > a.txt && git add .");
  const folders = ["node_modules/.bin", "bin"];
  for (const folder of folders) {
    for (const name of needed) {
      // Records its arguments, then runs the real program.
      const body = `#!/bin/bash\necho "${name} $(/usr/bin/env | /bin/grep -c ${key})" >> ${bench.root}/ran\nPATH=\${PATH#*:*:} exec ${name} "$@"\n`;
      await chmod(await bench.file(`${folder}/${name}`, body), 0o755);
    }
  }
  env = {
    PATH: `${folders.map((folder) => join(bench.cwd, folder)).join(":")}:${bench.env.PATH}`,
    OPENAI_API_KEY: key,
  };
});
afterAll(() => bench.remove());

const ran = (): Promise<string> =>
  bench.shell(`cat ${bench.root}/ran; rm -f ${bench.root}/ran`).then((run) => run.stdout);

test("a repository's programs on the PATH do not replace those that a run needs", async () => {
  const planted = { ...bench, tinman: (args: readonly string[]) => bench.tinman(args, { env }) };
  const results = await toolResults(
    planted,
    bench.cwd,
    [],
    [["Execute", { command: "echo said > /dev/stderr" }]],
    [["Grep", { pattern: "text", path: "." }]],
    [["Glob", { patterns: ["*.txt"] }]],
  );
  expect(results).toEqual(["said\n\n\n[Process exited with code 0]", "./a.txt", "./a.txt"]);
  expect(await ran()).toBe("");
});

test("a repository's programs do not replace those that inspect the machine or clean up after a killed run", async () => {
  expect((await bench.tinman(["doctor"], { env })).code).toBe(0);
  expect(await ran()).toBe("");
  const word = madeUp();
  const model = await bench.script([
    { tool_calls: [{ name: "Execute", input: { command: `: ${word}; while :; do :; done` } }] },
  ]);
  const child = bench.start(["exec", "--auto", "high", "-m", model, "go"], { env });
  while ((await processesWith(`: ${word}; while`)).length === 0) await new Promise((go) => setTimeout(go, 50));
  child.kill("SIGKILL");
  await once(child, "close");
  expect(await thatStay(`: ${word}; while`)).toEqual([]);
  expect(await ran()).toBe("");
});
