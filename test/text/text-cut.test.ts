import { expect, test } from "vitest";
import { textEnd, textStart } from "../../src/text/text-cut.ts";

test.each([
  ["ab", 2, "ab", "ab"],
  ["abc", 2, "ab", "bc"],
  ["😀😀", 2, "😀", "😀"],
  ["😀😀", 3, "😀", "😀"],
  ["a😀b", 2, "a", "b"],
  ["a😀b", 0, "", ""],
])("%j cut to %i units", (text, most, start, end) => {
  expect([textStart(text, most), textEnd(text, most)]).toEqual([start, end]);
});
