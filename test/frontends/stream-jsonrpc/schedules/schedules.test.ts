import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { givenSeed, isFullRun } from "../../../full-run.ts";
import { check } from "../connection/served.ts";
import { brokenEventRules } from "./event-rules.ts";
import { brokenHistoryRules } from "./history-rules.ts";
import { type Played, play } from "./play.ts";
import type { Schedule } from "./steps.ts";
import { schedule } from "./steps.ts";
import { brokenWireRules } from "./wire-rules.ts";
import { type Loaded, loadOnce } from "./world.ts";

const runs = isFullRun ? 10_000 : 60;
/** The facts that a failure report names besides the seed. */
const { TINMAN_TEST_PATH: path } = process.env;

let loaded: Loaded;
beforeAll(async () => {
  loaded = await loadOnce();
});
afterAll(() => loaded.machineClock.release());

const property = fc.asyncProperty(schedule, async (drawn: Schedule) => {
  const played = await play(drawn, loaded);
  const broken = [...brokenWireRules(played), ...brokenEventRules(played), ...brokenHistoryRules(played)];
  checkLines(played);
  if (broken.length > 0) throw new Error(`${broken.length} rule(s) broken:\n  ${broken.slice(0, 12).join("\n  ")}`);
});

/** Limits the time for shrinking: a nearly minimal schedule is good enough. */
const shrinkingMs = 30_000;

test(`${runs} random schedules keep every promise`, { timeout: 1_200_000 }, async () => {
  const chosen = { ...(givenSeed === undefined ? {} : { seed: givenSeed }), ...(path === undefined ? {} : { path }) };
  const found = await fc.check(property, { ...chosen, numRuns: runs, endOnFailure: true });
  if (!found.failed) return;
  const again = { seed: found.seed, path: found.counterexamplePath ?? "" };
  const shrunk = await fc.check(property, { ...again, interruptAfterTimeLimit: shrinkingMs });
  const told = shrunk.failed ? shrunk : found;
  const { message } = told.errorInstance as Error;
  expect.fail(`Schedule ${found.numRuns} of ${runs}: ${message}\n${fc.defaultReportMessage(told)}`);
});

function checkLines({ clients }: Played): void {
  for (const { asked, received } of clients) {
    const methods = new Map([...asked].map(([id, { method }]) => [id, method]));
    for (const line of received) if (line.result === undefined || methods.has(String(line.id))) check(line, methods);
  }
}
