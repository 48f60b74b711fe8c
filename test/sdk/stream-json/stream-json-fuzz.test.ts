import { expect, it } from "vitest";
import { sdkTypes } from "../../../src/protocol/sdk-types.ts";
import type { StreamJsonEvent } from "../../../src/sdk/types.ts";
import type { Random } from "../../fakes/seeded-random.ts";
import { randomFrom } from "../../fakes/seeded-random.ts";
import { isFullRun } from "../../full-run.ts";
import { firstSeed, mutateBytes, mutateJson, sharedByAll } from "../../fuzz/mutate.ts";
import { eventsOf, runs } from "./stream-json-runs.ts";

const rounds = isFullRun ? 10_000 : 500;

const isObject = (line: string): boolean => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/** Numbers are kept as they are, even invalid counts. */
function faultsOf(event: StreamJsonEvent): readonly string[] {
  const { error } = sdkTypes.StreamJsonEvent.safeParse(event);
  const valueAt = (path: readonly PropertyKey[]) =>
    path.reduce<unknown>((value, key) => (value as Readonly<Record<PropertyKey, unknown>>)[key], event);
  const faults = error?.issues.filter(({ path }) => typeof valueAt(path) !== "number") ?? [];
  return faults.map(({ path, message }) => `${event.type}.${path.join(".")}: ${message}`);
}

function damaged(random: Random, lines: readonly object[]): Buffer {
  const texts = lines.map((line) => JSON.stringify(line));
  const at = random.below(texts.length);
  const kind = random.below(10);
  if (kind < 7) texts[at] = mutateJson(random, lines[at]);
  else if (kind < 8) texts.splice(at, 1);
  else if (kind < 9) texts.splice(at, 0, texts[random.below(texts.length)] ?? "");
  const whole = Buffer.from(texts.join("\n"));
  return kind === 9 ? mutateBytes(random, whole) : whole;
}

it("reads damaged runs without throwing, into events of the union, and misses no line that is an object", async () => {
  const before = sharedByAll();
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
    const random = randomFrom(seed);
    const bytes = damaged(random, random.pick(Object.values(runs)));
    const events = await eventsOf(bytes);
    const stray = events.flatMap((event) => (event.type === "other" && event.name === "text" ? [event.given] : []));
    // Lines nested too deeply to be written again cannot be read or checked here.
    const isDeep = (line: unknown) => /[[{"a:]{5000}/.test(String(line));
    expect({ seed, stray: stray.filter((line) => isObject(String(line)) && !isDeep(line)) }).toEqual({
      seed,
      stray: [],
    });
    const shallow = events.filter((event) => event.type !== "other");
    expect({ seed, faults: shallow.flatMap(faultsOf) }).toEqual({ seed, faults: [] });
  }
  expect(sharedByAll()).toEqual(before);
});

it("survives invalid lines, wherever they are", async () => {
  for (let seed = firstSeed; seed < firstSeed + rounds; seed += 1) {
    const random = randomFrom(seed);
    const run = random.pick(Object.values(runs));
    const texts = run.map((line) => JSON.stringify(line));
    const garbage = mutateBytes(random, Buffer.from(random.pick(texts)))
      .toString()
      .replace(/[\n\uFEFF]/g, " ");
    if (isObject(garbage) || garbage.trim() === "") continue;
    const at = random.below(texts.length + 1);
    const [first, second] = [texts.slice(0, at), texts.slice(at)];
    const events = await eventsOf([...first, garbage, ...second].join("\n"));
    const known = events.filter(({ type }) => type !== "other");
    expect({ seed, known, others: events.length - known.length }).toEqual({
      seed,
      known: await eventsOf(texts.join("\n")),
      others: 1,
    });
  }
});
