import { expect, test } from "vitest";
import { isFullRun } from "../full-run.ts";
import { classOf } from "./class-of.ts";
import { acceptedByBash, eachOf, stubWorld } from "./stub-programs.ts";
import { dangerousCommands, fits, wrappings } from "./wrappings.ts";

const levels = ["read", "low", "medium", "high", "refused"];

/** All commands in all wrappings, or a different few commands in each. */
const inEach = isFullRun ? dangerousCommands.length : 1;
const combinations = wrappings.flatMap((wrapping, at) =>
  dangerousCommands
    .filter((command) => fits(wrapping, command))
    .filter((_, index, { length }) => (index + at * 7) % length < inEach)
    .map((command) => ({ wrapping: wrapping.name, expected: command.class, text: wrapping.wrap(command.text) })),
);

test("has enough commands and wrappings, without duplicates", () => {
  const names = wrappings.map((wrapping) => wrapping.name);
  const texts = dangerousCommands.map((command) => command.text);
  expect([names.length, texts.length]).toEqual([new Set(names).size, new Set(texts).size]);
  expect(names.length).toBeGreaterThanOrEqual(60);
  expect(texts.length).toBeGreaterThanOrEqual(40);
});

test("real bash runs the wrapped command in every wrapping that is not idle", async () => {
  const world = stubWorld(["make", "ls", "cat", "tee"]);
  try {
    const runs = await eachOf(wrappings, 4, async ({ name, wrap }) => ({
      name,
      ...(await world.run(wrap("make all"))),
    }));
    const running = runs.filter(({ ran }) => ran.some(([name, first]) => name === "make" && first === "all"));
    expect(running.map(({ name }) => name)).toEqual(wrappings.filter(({ idle }) => !idle).map(({ name }) => name));
    expect(runs.filter(({ timedOut }) => timedOut)).toEqual([]);
  } finally {
    world.remove();
  }
}, 60_000);

test("no wrapping brings a command below its class", async ({ annotate }) => {
  const accepted = await acceptedByBash(combinations.map(({ text }) => text));
  const valid = combinations.filter((_, index) => accepted[index]);
  await annotate(`${valid.length} of ${combinations.length} combinations are valid bash`);
  expect(valid.length).toBeGreaterThanOrEqual(isFullRun ? 2_400 : 200);
  const found = await eachOf(valid, 8, ({ text }) => classOf(text));
  const below = valid
    .map((combination, index) => ({ ...combination, found: found[index] ?? "nothing" }))
    .filter(({ expected, found }) => levels.indexOf(found) < levels.indexOf(expected));
  expect(below).toEqual([]);
}, 900_000);
