import { describe, expect, it } from "vitest";
import { cyclesIn, importGraph, sourceTexts } from "./import-cycles.ts";

const cyclesOf = (files: Readonly<Record<string, string>>): readonly string[] =>
  cyclesIn(importGraph(new Map(Object.entries(files))));

describe("import cycles", () => {
  it.each([
    ["values", 'import { b } from "./b.ts";'],
    ["types", 'import type { B } from "./b.ts";'],
    ["a type among values", 'import { type B } from "./b.ts";'],
    ["a type where it is used", 'let b: import("./b.ts").B;'],
    ["a lazily loaded module", 'const load = () => import("./b.ts");'],
    ["a re-export", 'export { b } from "./b.ts";'],
    ["an effect", 'import "./b.ts";'],
  ])("are found by imports of %s", (_, text) => {
    const found = cyclesOf({ "src/a.ts": text, "src/b.ts": 'import type { A } from "./a.ts";' });
    expect(found).toEqual(["src/a.ts -> src/b.ts -> src/a.ts"]);
  });

  it("are found across folders, and of one file with itself", () => {
    const found = cyclesOf({
      "src/a.ts": 'import "./x/b.ts"; import "./alone.ts";',
      "src/x/b.ts": 'import "../y/c.ts";',
      "src/y/c.ts": 'import "../x/b.ts";',
      "src/alone.ts": 'import "./alone.ts";',
    });
    expect(found).toEqual(["src/x/b.ts -> src/y/c.ts -> src/x/b.ts", "src/alone.ts -> src/alone.ts"]);
  });

  it("are not two paths to one file", () => {
    expect(
      cyclesOf({ "src/a.ts": 'import "./b.ts"; import "./c.ts";', "src/b.ts": 'import "./c.ts";', "src/c.ts": "" }),
    ).toEqual([]);
  });

  it("do not exist in the program, not even of types", () => {
    const texts = sourceTexts();
    expect(importGraph(texts).get("src/engine/turn/turn.ts")).toContain("src/engine/turn/turn-outcome.ts");
    expect(cyclesIn(importGraph(texts))).toEqual([]);
  });
});
