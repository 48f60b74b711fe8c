import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createIds, monotonicMs } from "../../src/host/clock-and-ids.ts";
import { tempFolder } from "./support.ts";

const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test("ids are unique random UUIDs", () => {
  const ids = createIds();
  const many = Array.from({ length: 10_000 }, () => ids.next());
  expect(many.filter((id) => !version4.test(id))).toEqual([]);
  expect(new Set(many).size).toBe(many.length);
});

test("works without the system's random source, or if it dries up", async () => {
  const dry = join(await tempFolder(), "dry");
  await writeFile(dry, "few");
  for (const source of ["/nowhere/random", dry]) {
    const ids = createIds(source);
    const [one = "", two = ""] = [ids.next(), ids.next()];
    expect([version4.test(one), version4.test(two), one === two]).toEqual([true, true, false]);
  }
});

test("the clock for durations only moves forward", () => {
  const [first, second] = [monotonicMs(), monotonicMs()];
  expect(second).toBeGreaterThanOrEqual(first);
});
