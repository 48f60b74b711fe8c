import { afterAll, expect, test } from "vitest";
import { isFullRun } from "../full-run.ts";
import { classOf } from "./class-of.ts";
import { mutantOf, programOf } from "./shell-fuzz.ts";
import { classOfInvocation, stubNames } from "./shell-pool.ts";
import { soupOf } from "./shell-soup.ts";
import { acceptedByBash, eachOf, stubWorld } from "./stub-programs.ts";

const levels: readonly string[] = ["read", "low", "medium", "high", "refused"];
const world = stubWorld(stubNames);
afterAll(() => world.remove());

type Judge = (program: string) => Promise<string>;
type Make = (seed: number) => string;

interface Outcome {
  /** It ran something that changes files, and was not simply judged `high`. */
  readonly informative: boolean;
  readonly fault?: {
    readonly seed: number;
    readonly program: string;
    readonly verdict: string;
    readonly found: readonly string[];
  };
}

/** Judges the program of a seed, runs it, and checks that nothing that ran is above the judgement. */
async function compare(seed: number, make: Make, judge: Judge): Promise<Outcome> {
  const program = make(seed);
  const verdict = await judge(program).catch((error: unknown) => `rejected: ${error}`);
  const most = levels.indexOf(verdict);
  if (most < 0) return { informative: false, fault: { seed, program, verdict, found: [] } };
  // Nothing can exceed it, so a run would prove nothing.
  if (most >= levels.indexOf("high")) return { informative: false };
  const short = await world.run(program);
  // Generated programs end, unless bash reads them differently than intended. But the machine may be slow.
  const { ran, written, timedOut } = short.timedOut ? await world.run(program, 30_000) : short;
  const calls = ran.map((words) => ({ words, level: levels.indexOf(classOfInvocation(words) ?? "unknown") }));
  const informative = written.length > 0 || calls.some(({ level }) => level > 0);
  const found = [
    ...calls.filter(({ level }) => level < 0 || level > most).map(({ words }) => `ran ${words.join(" ")}`),
    ...(most < levels.indexOf("low") ? written.map((name) => `wrote ${name}`) : []),
    ...(timedOut ? ["did not end"] : []),
  ];
  return found.length === 0 ? { informative } : { informative, fault: { seed, program, verdict, found } };
}

const seedsFrom = (first: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) => first + at);

async function acceptedSeeds(seeds: readonly number[], make: Make): Promise<readonly number[]> {
  const accepted = await acceptedByBash(seeds.map(make));
  return seeds.filter((_, index) => accepted[index]);
}

test("the comparison detects a judge that accepts everything, and one that fails", async () => {
  const seeds = await acceptedSeeds(seedsFrom(1, 80), programOf);
  const trusting = await eachOf(seeds, 4, (seed) => compare(seed, programOf, async () => "read"));
  const found = trusting.flatMap(({ fault }) => fault?.found ?? []);
  expect(new Set(found.map((fault) => fault.split(" ")[0]))).toEqual(new Set(["ran", "wrote"]));
  const failing = await compare(1, programOf, () => Promise.reject(new Error("no")));
  const fault = { seed: 1, program: programOf(1), verdict: "rejected: Error: no", found: [] };
  expect(failing).toEqual({ informative: false, fault });
}, 60_000);

test.each<[string, Make, { count: number; valid: number; informative: number }]>([
  ["program", programOf, { count: isFullRun ? 20_000 : 60, valid: 0.9, informative: 0.1 }],
  ["soup of pieces", soupOf, { count: isFullRun ? 20_000 : 150, valid: 0.25, informative: isFullRun ? 0.05 : 0.03 }],
])(
  "a generated %s runs nothing above its judged class",
  async (_, make, least) => {
    const seeds = await acceptedSeeds(seedsFrom(1, least.count), make);
    const outcomes = await eachOf(seeds, 4, (seed) => compare(seed, make, classOf));
    expect(outcomes.flatMap(({ fault }) => fault ?? [])).toEqual([]);
    const informative = outcomes.filter((outcome) => outcome.informative).length;
    expect(seeds.length / least.count).toBeGreaterThan(least.valid);
    expect(informative / least.count).toBeGreaterThan(least.informative);
  },
  1_800_000,
);

test("judges every mutant without failing, whether or not bash accepts it", async ({ annotate }) => {
  const seeds = seedsFrom(1, isFullRun ? 20_000 : 25);
  const mutants = seeds.map(mutantOf);
  const accepted = new Set(await acceptedSeeds(seeds, mutantOf));
  const failed: object[] = [];
  for (const [index, program] of mutants.entries()) {
    const verdict = await classOf(program).catch((error: unknown) => `rejected: ${error}`);
    if (!levels.includes(verdict)) failed.push({ seed: seeds[index], program, verdict });
  }
  await annotate(`bash accepts ${accepted.size} of ${seeds.length} mutants`);
  expect(failed).toEqual([]);
  expect(accepted.size).toBeGreaterThan(seeds.length * 0.2);
  expect(accepted.size).toBeLessThan(seeds.length * 0.9);
}, 600_000);
