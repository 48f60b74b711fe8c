import { describe, expect, it } from "vitest";
import { crowdedFolders, faultsOfFile, faultsOfText, keptFiles } from "./source-limits.ts";

/** Planted in pieces, so that this file itself obeys the rules. */
const planted: readonly (readonly [path: string, text: string, fault: string])[] = [
  ["src/engine/long.ts", "\n".repeat(401), "src/engine/long.ts has 401 lines; 400 is the most"],
  ["test/a.test.ts", ["\nvi", 'mock("x")'].join("."), "test/a.test.ts:2 replaces a module instead of a port"],
  ["test/a.test.ts", ["it", "only()"].join("."), "test/a.test.ts:1 leaves tests out"],
  ["test/a.test.ts", ["describe", "skip()"].join("."), "test/a.test.ts:1 leaves tests out"],
  ["test/a.test.ts", ["it", "todo()"].join("."), "test/a.test.ts:1 leaves tests out"],
  ["src/engine/a.ts", "// TODO later", "src/engine/a.ts:1 puts work off"],
  ["src/engine/a.ts", "/** Good.\n * FIXME */", "src/engine/a.ts:2 puts work off"],
  [
    "src/engine/a.ts",
    "return failure?.message === processEnded.message;",
    "src/engine/a.ts:1 decides by a sentence, where a code or cause belongs",
  ],
  [
    "src/engine/a.ts",
    'const why = "";\nif (error.message.includes("not found")) return;',
    "src/engine/a.ts:2 decides by a sentence, where a code or cause belongs",
  ],
  [
    "src/engine/a.ts",
    "return /gone/.test(error.message);",
    "src/engine/a.ts:1 decides by a sentence, where a code or cause belongs",
  ],
  ["docs/a.md", ["see https:", "registry.example.org/x"].join("//"), "docs/a.md:1 names a package registry"],
  [
    "package-lock.json",
    ['{ "resolved": "http', '://x.example/a.tgz" }'].join(""),
    "package-lock.json:1 says where a package is downloaded from",
  ],
  ["README.md", `see ${process.cwd()}/x`, "README.md:1 names a folder of the machine it was written on"],
];

const legal: readonly (readonly [path: string, text: string])[] = [
  ["src/engine/long.ts", "\n".repeat(400)],
  ["src/sdk/types.ts", `/* Written by \`npm run schema\` from a schema. */${"\n".repeat(500)}`],
  ["src/tools/ask/todo-write.ts", 'const title = "TODO List"; // the list that TodoWrite keeps'],
  ["src/engine/a.ts", "if (message === undefined || why !== undefined || one.message === message) return;"],
  ["src/sdk/open.ts", "return /no session/.test(error.message);"],
  ["test/a.test.ts", "const registry = new Map(); registry.get(1); const { skip } = context;"],
  ["docs/a.md", "A TODO of the user; https://example.org/registry"],
];

describe("the limits of the source", () => {
  it.each(planted)("are broken by a planted %s (%#)", (path, text, fault) => {
    expect(faultsOfText(path, text)).toEqual([fault]);
  });

  it.each(legal)("are kept by a legal %s (%#)", (path, text) => {
    expect(faultsOfText(path, text)).toEqual([]);
  });

  it("are kept by every file of the repository", () => {
    const files = keptFiles();
    expect(files).toContain("src/engine/event.ts");
    expect(files.flatMap(faultsOfFile)).toEqual([]);
  });

  it("allow a folder of src only so many files", () => {
    const files = (folder: string, count: number) => Array.from({ length: count }, (_, at) => `${folder}/${at}.ts`);
    const planted = [...files("src/full", 17), ...files("src/crowded", 18), ...files("test/many", 18)];
    expect(crowdedFolders(planted)).toEqual(["src/crowded has 18 files; 17 is the most"]);
    expect(crowdedFolders(keptFiles())).toEqual([]);
  });
});
