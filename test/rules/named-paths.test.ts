import { expect, it } from "vitest";
import { deadPaths, deadPathsOfRepository, namesOf } from "./named-paths.ts";

const names = namesOf(["src/tools/all.ts", "src/main.ts", "docs/tools.md"]);

/** Keeps this file from naming such paths itself. */
const old = "old";

it.each([
  ["docs/a.md", "See `src/tools/`, `tools/all.ts`, `all.ts`, `src/**/*.ts` and `src/<name>.ts`.", []],
  ["docs/a.md", "See `src/old/`, `core/all.ts` and `gone.ts`.", ["src/old/", "core/all.ts", "gone.ts"]],
  ["src/a.ts", "/** See docs/tools.md. */\nimport a from './x/y.ts'; // as in tools/all.ts", []],
  [
    "src/a.ts",
    `/** See docs/${old}.md. */\na(); // as in tools/${old}.ts, or ../x.ts`,
    ["docs/old.md", "tools/old.ts"],
  ],
])("%s: %s", (path, text, dead) => {
  expect(deadPaths(path, text, names)).toEqual(dead);
});

it("pages and comments name files that exist", () => {
  expect(deadPathsOfRepository()).toEqual([]);
});
