import { expect, test } from "vitest";
import { durationMs } from "../../src/text/user-words.ts";

test.each([
  ["90", 90_000],
  [90, 90_000],
  [0.5, 500],
  ["500ms", 500],
  ["1.5s", 1_500],
  ["10m", 600_000],
  ["1h", 3_600_000],
])("%j is %i ms", (written, ms) => {
  expect(durationMs(written)).toBe(ms);
});

test.each([
  "",
  "0",
  0,
  -1,
  "-1s",
  "1 s",
  "1d",
  "s",
  "1e3",
  1e21,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  "25d",
  "9999h",
  null,
  true,
  ["1"],
])("%j is not a duration", (written) => {
  expect(durationMs(written)).toBeUndefined();
});
