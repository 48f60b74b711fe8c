import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bench } from "../e2e/tinman.ts";
import type { Random } from "../fakes/seeded-random.ts";
import { randomFrom } from "../fakes/seeded-random.ts";
import { givenSeed, isFullRun } from "../full-run.ts";

/** Longer than any test takes, even on a busy machine, so that only a hang fails. */
export const hangMs = 1_800_000;

/** Named by every failure. */
export const seed = givenSeed ?? Math.floor(Math.random() * 1e9);

/** A random generator for one of many items: the same for the same seed, whatever happens to the others. */
export function drawsFor(nth: number): Random {
  return randomFrom(seed + nth * 7919);
}

const atOnce = 4;

/** Runs it for 0, 1, 2 … below `count`, four at a time. */
export async function forEach(count: number, work: (nth: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await work(next - 1);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** Results of a full run, for people. */
export function figures(name: string, values: object): void {
  if (isFullRun) process.stdout.write(`${name}: ${JSON.stringify({ ...values, seed })}\n`);
}

/** The environment in which the program first loads one of the files in `preload/`. */
export function preloaded(name: string, more: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const file = fileURLToPath(new URL(`preload/${name}.cjs`, import.meta.url));
  return { NODE_OPTIONS: `--require ${JSON.stringify(file)}`, ...more };
}

/** The folder in which a bench's program keeps its sessions. */
export function ownHome(bench: Bench): string {
  return join(bench.home, ".tinman");
}
