import { describe, expect, it } from "vitest";
import { compileWildcard } from "../../src/tools/wildcard.ts";

describe("compileWildcard", () => {
  it.each([
    ["*.ts", "a.ts", true],
    ["*.ts", "a.tsx", false],
    ["*", "", true],
    ["a*b*c", "aXbYbc", true],
    ["a*b*c", "aXbYb", false],
    ["?", "😀", true],
    ["?", "", false],
    ["[a-c]1", "b1", true],
    ["[!a-c]1", "b1", false],
    ["[^a-c]1", "d1", true],
    ["[]x]", "]", true],
    ["[a-]", "-", true],
    ["[", "[", true],
    ["\\*", "*", true],
    ["\\*", "x", false],
    ["{a,b}.{c,d}", "b.c", true],
    ["{a,b{1,2}}", "b2", true],
    ["{a,b}", "{a,b}", false],
    ["{a}", "{a}", true],
    ["a.b", "aXb", false],
    ["A", "a", false],
  ] as const)("%s against %s is %s", (pattern, name, expected) => {
    expect(compileWildcard(pattern)(name)).toBe(expected);
  });

  it("ends on patterns that would make a backtracking matcher run for ages", () => {
    expect(compileWildcard(`${"*a".repeat(200)}b`)("a".repeat(5000))).toBe(false);
    expect(compileWildcard("{a,b}".repeat(50))("a".repeat(50))).toBe(false);
  });
});
