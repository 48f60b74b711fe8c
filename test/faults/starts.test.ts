import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { resultObject } from "../../src/protocol/stream-json.ts";
import { line, talk, wellEnded } from "../e2e/rpc/raw-client.ts";
import type { Bench, Finished } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { isFullRun } from "../full-run.ts";
import { figures, forEach, hangMs, ownHome } from "./form.ts";

const starts = isFullRun ? 1_000 : 12;
const firstStarts = isFullRun ? 10 : 1;

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  mkdirSync(ownHome(bench), { mode: 0o700 });
});
afterAll(() => bench.remove());

/** One run, and its faults. */
async function startExec(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const run: Finished = await bench.tinman(["exec", "-o", "json", "Just reply OK."], { env });
  const isWell = run.code === 0 && run.stderr === "" && resultObject.parse(JSON.parse(run.stdout)).result === "OK";
  return isWell ? undefined : JSON.stringify(run);
}

async function startServer(env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const opening = line("later", "1", "initialize_session", { machineId: "m", cwd: bench.cwd });
  const { received, end } = await talk(bench, [opening], { env });
  const isWell = received.at(-1)?.result?.sessionId !== undefined && JSON.stringify(end) === JSON.stringify(wellEnded);
  return isWell ? undefined : JSON.stringify({ received, end });
}

/** Files that our other programs may leave in a home. */
function leftovers(home: string): readonly string[] {
  const names = readdirSync(home, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.startsWith("locks/") || /cache\/.*\.\d+(-\w+)?$/.test(name));
}

test(`${starts} starts in one home, four at a time, without a failure`, { timeout: hangMs }, async () => {
  const failures: string[] = [];
  await bench.shell("printf 'models:\\n  aliases:\\n    calm: offline\\n' > ~/.tinman/config.yaml");
  await forEach(starts, async (nth) => {
    const failure = await (nth % 2 === 0 ? startExec({}) : startServer({})).catch(String);
    if (failure !== undefined) failures.push(`start ${nth}: ${failure}`);
  });
  figures("starts", { starts, failures: failures.length });
  expect(failures).toEqual([]);
  expect(leftovers(ownHome(bench))).toEqual([]);
  const sessions = JSON.parse((await bench.tinman(["sessions", "list", "--json", "-n", "2000"])).stdout) as unknown[];
  expect(sessions).toHaveLength(starts);
});

test("several simultaneous first starts in a missing home", { timeout: hangMs }, async () => {
  const failures: string[] = [];
  for (let round = 0; round < firstStarts; round += 1) {
    const home = join(bench.root, `new-${round}`, "home");
    const env = { TINMAN_HOME: home };
    const runs = [startExec, startServer, startExec, startServer, startExec, startServer].map((start) => start(env));
    failures.push(...(await Promise.all(runs)).filter((failure) => failure !== undefined));
    expect(leftovers(home)).toEqual([]);
  }
  figures("first starts at once", { rounds: firstStarts, atOnce: 6, failures: failures.length });
  expect(failures).toEqual([]);
});
