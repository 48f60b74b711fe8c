import { describe, expect, test } from "vitest";
import { compileGlob, compileWrittenGlob } from "../../src/text/glob-pattern.ts";

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
  return paths.filter((path) => compileWrittenGlob(pattern).matches(path));
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
    ["{a,b{.tsx,}}*", ["a.ts", "b.tsx", "src/a.ts", "src/x/y/a.ts", "src/x/b.js", "lib/a-b.md"]],
    ["{src/x,lib}/*.{js,md}", ["src/x/b.js", "lib/[x].md", "lib/a-b.md"]],
    ["{**/*.js,lib/**/*.md}", ["src/x/b.js", "lib/[x].md", "lib/a-b.md"]],
    ["?.ts", ["a.ts", "src/a.ts", "src/x/y/a.ts"]],
    ["[ab].ts*", ["a.ts", "b.tsx", "src/a.ts", "src/x/y/a.ts"]],
    ["[!a-b].*", ["A.TS"]],
    ["[^a]*.md", ["lib/[x].md"]],
    ["[A-Z].*", ["A.TS"]],
    ["\\[x\\].md", ["lib/[x].md"]],
    ["[[]x[]].md", ["lib/[x].md"]],
    ["a[-]b.md", ["lib/a-b.md"]],
    ["a[+-]b.md", ["lib/a-b.md"]],
    ["[]-_]env", []],
    [".env", [".env"]],
    ["a.t", []],
    ["", []],
    ["/", paths],
  ])("%j matches as .gitignore defines it", (pattern, expected) => {
    expect(matching(pattern)).toEqual(expected);
  });

  test.each<[string, string[]]>([
    ["lib/[x].md", ["lib/[x].md"]],
    ["[x].md", ["lib/[x].md"]],
    ["lib/[x]*", ["lib/[x].md"]],
    ["src/x", ["src/x/y/a.ts", "src/x/b.js"]],
    ["./src", ["src/a.ts", "src/x/y/a.ts", "src/x/b.js"]],
    ["x", []],
  ])("%j also matches its literal name, and the content of such a folder", (pattern, expected) => {
    expect(matching(pattern)).toEqual(expected);
  });

  test("accepts a name in its displayed form", () => {
    expect(compileWrittenGlob("two\\x0alines").matches("sub/two\nlines")).toBe(true);
    expect(compileWrittenGlob("sub/two\\x0alines").matches("sub/two\nlines")).toBe(true);
  });

  test("in an ignore file, a bracket is only a set, and a folder's name only the folder", () => {
    const matches = (pattern: string, path: string) => compileGlob(pattern).matches(path);
    expect([matches("[x].md", "lib/[x].md"), matches("[x].md", "x.md"), matches("src", "src/a.ts")]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test.each([
    ["a[b", 'Invalid pattern a[b: its "[" is not closed.'],
    ["{a,{b}", 'Invalid pattern {a,{b}: its "{" is not closed.'],
    ["[z-a]", "Invalid pattern [z-a]."],
    ["[\\", 'Invalid pattern [\\: its "[" is not closed.'],
  ])("%s has a problem, and matches only that name", (pattern, problem) => {
    const glob = compileWrittenGlob(pattern);
    expect({ problem: glob.problem, named: glob.matches(`x/${pattern}`), other: glob.matches("ab") }).toEqual({
      problem,
      named: true,
      other: false,
    });
  });

  test("of more than 400 characters has a problem", () => {
    expect(compileWrittenGlob("x".repeat(401)).problem).toBe("A pattern has more than 400 characters.");
  });

  test.each([
    ["*a", `${"*a".repeat(190)}b`, "a".repeat(4000)],
    ["**/a/", `${"**/a/".repeat(78)}b`, "a/".repeat(2000)],
    ["**/*/", `${"**/*/".repeat(78)}b`, "a/".repeat(2000)],
    ["{a,aa}", "{a,aa}".repeat(66), "a".repeat(4000)],
    ["{,*}", `${"{,*}".repeat(98)}b`, "a".repeat(4000)],
    ["[!b]*", `${"[!b]*".repeat(78)}b`, "a".repeat(4000)],
  ])("with many %s ends, unlike with backtracking", (_, pattern, path) => {
    expect(compileGlob(pattern)).not.toHaveProperty("problem");
    expect(compileGlob(pattern).matches(path)).toBe(false);
  });
});
