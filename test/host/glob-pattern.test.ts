import { describe, expect, test } from "vitest";
import { compileGlob, normaliseGlob } from "../../src/host/glob-pattern.ts";

const paths = [
  "a.ts",
  "b.tsx",
  "src/a.ts",
  "src/x/y/a.ts",
  "src/x/b.js",
  "src.ts/z",
  "lib/[x].md",
  "lib/a-b.md",
  ".env",
  "A.TS",
];

function matching(pattern: string): string[] {
  return paths.filter((path) => compileGlob(normaliseGlob(pattern)).test(path));
}

describe("a pattern", () => {
  test.each<[string, string[]]>([
    ["*", paths],
    ["**", paths],
    ["**/*", paths],
    ["*.ts", ["a.ts", "src/a.ts", "src/x/y/a.ts"]],
    ["/*.ts", ["a.ts"]],
    ["./a.ts", ["a.ts", "src/a.ts", "src/x/y/a.ts"]],
    ["src/*.ts", ["src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/x/y/a.ts"]],
    ["src/**", ["src/a.ts", "src/x/y/a.ts", "src/x/b.js"]],
    ["src/", ["src/a.ts", "src/x/y/a.ts", "src/x/b.js"]],
    ["**/x/**", ["src/x/y/a.ts", "src/x/b.js"]],
    ["**/a.ts", ["a.ts", "src/a.ts", "src/x/y/a.ts"]],
    ["*.{ts,tsx}", ["a.ts", "b.tsx", "src/a.ts", "src/x/y/a.ts"]],
    ["{src/x,lib}/*.{js,md}", ["src/x/b.js", "lib/[x].md", "lib/a-b.md"]],
    ["?.ts", ["a.ts", "src/a.ts", "src/x/y/a.ts"]],
    ["[ab].ts*", ["a.ts", "b.tsx", "src/a.ts", "src/x/y/a.ts"]],
    ["[!a-b].*", ["A.TS"]],
    ["[^a]*.md", ["lib/[x].md"]],
    ["[A-Z].*", ["A.TS"]],
    ["\\[x\\].md", ["lib/[x].md"]],
    ["[[]x[]].md", ["lib/[x].md"]],
    ["a[-]b.md", ["lib/a-b.md"]],
    [".env", [".env"]],
    ["a.t", []],
    ["", []],
  ])("%j matches as .gitignore means it", (pattern, expected) => {
    expect(matching(pattern)).toEqual(expected);
  });

  test("that is not closed is refused with words", () => {
    expect(() => compileGlob("a[b")).toThrow('The pattern a[b is wrong: its "[" is not closed.');
    expect(() => compileGlob("{a,{b}")).toThrow('The pattern {a,{b} is wrong: its "{" is not closed.');
    expect(() => compileGlob("[z-a]")).toThrow("The pattern [z-a] is wrong.");
  });
});
