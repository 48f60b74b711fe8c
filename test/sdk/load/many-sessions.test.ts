import { execFile, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { createBench, mainFile } from "../../e2e/tinman.ts";
import { isFullRun } from "../../full-run.ts";
import { isAlive } from "../fakes/stand-ins.ts";
import { bridgeWebSockets } from "../fakes/web-socket-bridge.ts";

const load = fileURLToPath(new URL("many-sessions.mjs", import.meta.url));
const count = isFullRun ? 1_000 : 24;
/** Sessions leave nothing behind. The engine compiles much code in the first ones, and then no more. */
const mostBytesEach = isFullRun ? 1_000 : 60_000;

interface Left {
  readonly lived: number;
  readonly failures: readonly string[];
  readonly outcomes: Readonly<Record<string, readonly string[]>>;
  readonly before: object;
  readonly after: object;
  readonly bytesPerSession: number;
}

const outcomes = {
  closed: ["The connection to noted was closed.", "The connection was closed."],
  "closed after a turn": ["quick answer"],
  "closed in a turn": ["ClosedError"],
  "killed in a turn": ["BackendGoneError", "ClosedError"],
  "given up while it opens": ["Error"],
  "a turn that is given up": ["Error, 0 listeners"],
  "a query": ["quick answer"],
};

it(`leaves nothing behind of ${count} sessions, however they end`, { timeout: 900_000 }, async () => {
  const bench = await createBench();
  const pids = join(bench.root, "pids");
  mkdirSync(pids);
  const model = await bench.script([
    { when: { user: "quick" }, times: "any", text: ["quick ", "answer"] },
    { when: { user: "slow" }, times: "any", text: Array.from({ length: 500 }, () => "word "), chunk_delay_ms: 20 },
  ]);
  const executable = join(bench.root, "noted");
  const noted = '[ -z "$PID_FILE" ] || echo $$ >>"$PID_FILE"';
  writeFileSync(executable, `#!/bin/sh\n${noted}\nexec "${process.execPath}" "${mainFile}" "$@"\n`, { mode: 0o755 });
  const env = { ...bench.env, TINMAN_MODEL: model };
  const formats = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
  const bridge = await bridgeWebSockets(bench, { start: () => spawn(executable, formats, { cwd: bench.cwd, env }) });

  const wanted = JSON.stringify({ executable, address: bridge.address, folder: pids, cwd: bench.cwd, count });
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", load, wanted], { env });
  const { before, after, bytesPerSession, ...left } = JSON.parse(stdout) as Left;
  const openSockets = bridge.openCount;
  await bridge.close();
  const started = readdirSync(pids).flatMap((file) => readFileSync(join(pids, file), "utf8").trim().split("\n"));
  await bench.remove();

  expect(left).toEqual({ lived: count, failures: [], outcomes });
  expect({ after, openSockets }).toEqual({ after: before, openSockets: 0 });
  expect([...started.map(Number), ...bridge.pids].filter(isAlive)).toEqual([]);
  expect(started.length).toBeGreaterThan(count / 2);
  expect(bytesPerSession).toBeLessThan(mostBytesEach);
});
