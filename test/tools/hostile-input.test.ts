import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { Host } from "../../src/engine/ports.ts";
import type { ToolBody, ToolOutput } from "../../src/engine/tool.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createSearch } from "../../src/host/search/ripgrep.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { askUserTool } from "../../src/tools/ask/ask-user.ts";
import { todoWriteTool } from "../../src/tools/ask/todo-write.ts";
import { createTool } from "../../src/tools/edit/create.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
import { executeTool } from "../../src/tools/execute/execute.ts";
import { applyPatchTool } from "../../src/tools/patch/apply-patch.ts";
import { readTool } from "../../src/tools/read/read.ts";
import { globTool } from "../../src/tools/search/glob.ts";
import { grepTool } from "../../src/tools/search/grep.ts";
import { lsTool } from "../../src/tools/search/ls.ts";
import { fetchUrlTool } from "../../src/tools/web/fetch-url.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { context as decisionContext } from "../permissions/class-of.ts";
import { call, createContext } from "./call.ts";

/*
 * With superlinear cost, each of these would block the process for minutes or forever. The real limits are far below
 * this one, which allows for a busy machine.
 */
const longestPauseMs = 3000;
const policy = createPermissionPolicy(() => "bash");

/** Makes, shows and decides a call, after reading the file `seen`, while a timer that represents a health check measures how long it is blocked. */
async function expectAnswers(
  tool: ToolBody,
  input: unknown,
  host: Host,
  cwd = "/project",
  seen?: string,
): Promise<ToolOutput> {
  return staysAwake(async () => {
    const context = { ...createContext(host), cwd };
    if (seen !== undefined) await call(readTool, { file_path: seen }, context);
    const accesses = await withEvidence(await tool.access(tool.input.parse(input), context), policy, host, context);
    policy.decide(accesses, { ...decisionContext, cwd });
    await tool.preview?.(tool.input.parse(input), { ...context, accesses });
    return call(tool, input, context);
  });
}

async function staysAwake(work: () => Promise<ToolOutput>): Promise<ToolOutput> {
  let longest = 0;
  let last = performance.now();
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 5);
  try {
    const output = await work();
    look();
    expect(longest).toBeLessThan(longestPauseMs);
    return output;
  } finally {
    clearInterval(timer);
  }
}

describe("paths", () => {
  test.each([1_000, 100_000])("of %i folders", async (folders) => {
    const host = createNodeHost({ outputsDir: "/nowhere" });
    const path = "a/".repeat(folders);
    const inputs: readonly (readonly [ToolBody, unknown])[] = [
      [readTool, { file_path: path }],
      [lsTool, { directory_path: path }],
      [globTool, { patterns: "*", folder: path }],
      [executeTool, { command: `ls ${path}`, riskLevel: "low" }],
    ];
    for (const [tool, input] of inputs) {
      expect(await expectAnswers(tool, input, host, "/nowhere")).toMatchObject({ status: "failed" });
    }
  });
});

test("a path of folders that exist", async () => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tinman-deep-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const path = "a/".repeat(1_500);
  await mkdir(join(folder, path), { recursive: true });
  const host = createNodeHost({ outputsDir: "/nowhere" });
  expect(await expectAnswers(lsTool, { directory_path: path }, host, folder)).toEqual({
    status: "ok",
    text: "[The directory is empty.]",
  });
});

describe("patterns", () => {
  const manyStars = `${"*a".repeat(100)}b`;
  const manyFolders = `${"**/a/".repeat(78)}b`;
  const nothing: ToolOutput = { status: "ok", text: "No matching files found", cause: "no_match" };
  const deepFolder = Array.from({ length: 50 }, () => "a").join("/");
  let folder = "";

  beforeAll(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "tinman-hostile-")));
    const file = async (path: string, text: string): Promise<void> => {
      await mkdir(join(folder, path, ".."), { recursive: true });
      await writeFile(join(folder, path), text);
    };
    for (const length of [240, 245, 250]) await file("a".repeat(length), "x");
    await file(`${deepFolder}/${"a".repeat(250)}`, "x");
    await file("rules/.gitignore", `${manyStars}\n${manyFolders}\n${" ".repeat(500_000)}x\n`);
    await file(`rules/${deepFolder}/${"a".repeat(250)}`, "x");
    await file("backtracking.txt", `${"a".repeat(60)}!\n`);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const builtIn = createSearch({ locate: async () => undefined, mostPatternMs: 200 });

  test.each([
    ["ripgrep", createSearch()],
    ["the built-in search", builtIn],
  ])("in Glob and Grep, with %s", async (_, search) => {
    const host: Host = { ...createNodeHost({ outputsDir: "/nowhere" }), search };
    const several = [manyStars, manyFolders, `${"{a,aa}".repeat(66)}b`, `${"[!b]*".repeat(78)}b`];
    const inputs: readonly (readonly [ToolBody, unknown])[] = [
      [globTool, { patterns: several }],
      [globTool, { patterns: "none", excludePatterns: several }],
      [grepTool, { pattern: "x", glob_pattern: manyFolders }],
      [grepTool, { pattern: "x", glob_pattern: `{${"*a".repeat(80)}b,${"**/a/".repeat(45)}b}` }],
    ];
    for (const [tool, input] of inputs) expect(await expectAnswers(tool, input, host, folder)).toEqual(nothing);
    const below = await expectAnswers(globTool, { patterns: "a*", folder: "rules" }, host, folder);
    expect(below.text).toContain(`./${deepFolder}/aaa`);
  });

  test.each([
    ["more than 200 patterns", "There are more than 200 patterns. Use fewer.", Array.from({ length: 201 }, () => "x")],
    [
      "patterns of more than 20000 characters",
      "The patterns have more than 20000 characters together. Use fewer.",
      Array.from({ length: 51 }, () => manyStars.padStart(395, "*a")),
    ],
  ])("%s are refused", async (_, why, several) => {
    const host = createNodeHost({ outputsDir: "/nowhere" });
    expect([
      await expectAnswers(globTool, { patterns: several }, host, folder),
      await expectAnswers(globTool, { patterns: "*", excludePatterns: several }, host, folder),
      await expectAnswers(lsTool, { ignorePatterns: several }, host, folder),
    ]).toEqual(
      ["Glob failed", "Glob failed", "LS tool call failed"].map((failed) => ({
        status: "failed",
        text: `Error: ${failed}: ${why}`,
      })),
    );
  });

  test("in Grep without ripgrep, which are stopped", async () => {
    const host: Host = { ...createNodeHost({ outputsDir: "/nowhere" }), search: builtIn };
    expect(await expectAnswers(grepTool, { pattern: "(a+)+$", path: "backtracking.txt" }, host, folder)).toEqual({
      status: "failed",
      text: "Error: Grep failed: The pattern takes more than 0.2 seconds for one file. Simplify it, or install ripgrep.",
    });
  });

  test("in LS", async () => {
    const host = createNodeHost({ outputsDir: "/nowhere" });
    const ignorePatterns = [manyStars, manyFolders, "rules", "back*", "a".repeat(240), "a".repeat(245), "a"];
    const { text } = await expectAnswers(lsTool, { ignorePatterns }, host, folder);
    expect(text.split("\n").map((line) => line.split(" ").at(-1))).toEqual(["a".repeat(250)]);
  });
});

const much = 500_000;

describe("pages", () => {
  test.each([
    ["nested blocks", "<div>".repeat(much)],
    ["tags without end", "<a ".repeat(much)],
    ["attributes", `<a ${"b ".repeat(much)}>`],
    ["scripts without end", `<script>${"</scrip".repeat(much)}`],
    ["references", "&amp;&".repeat(much)],
    ["nested tables", "<table><tr><td>".repeat(much / 2)],
    ["cells", `<table><tr>${"<td>x".repeat(much)}`],
    ["rows", `<table>${"<tr><td>x".repeat(much)}`],
    ["lists", "<ul><li>x".repeat(much)],
    ["blanks", " \n".repeat(much * 2)],
  ])("of %s in FetchUrl", async (_, body) => {
    const host = createMemoryHost({}, { pages: { "https://example.com/": { body } } });
    expect(await expectAnswers(fetchUrlTool, { url: "https://example.com/" }, host)).toMatchObject({ status: "ok" });
  });
});

describe("files", () => {
  test.each([
    ["line.txt", "a".repeat(much * 20)],
    ["lines.txt", "\n".repeat(much * 20)],
    ["deep.ipynb", `{"cells":${"[".repeat(much)}`],
    ["long.ipynb", `{"cells":[{"cell_type":"markdown","source":"${"\\n".repeat(much)}"}]}`],
    ["image.png", Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(much * 4)])],
  ])("such as %s in Read", async (name, content) => {
    const output = await expectAnswers(
      readTool,
      { file_path: name },
      createMemoryHost({ [`/project/${name}`]: content }),
    );
    expect(output.text).not.toBe("");
  });
});

describe("changes", () => {
  const [long, half] = ["a".repeat(much * 2), "a".repeat(much / 10)];
  const code = "    x = 1;\n".repeat(much / 5);
  const edits: readonly (readonly [string, string, object])[] = [
    ["a text that nearly matches everywhere", long, { old_str: `${half}b${half}`, new_str: "c" }],
    ["a text that overlaps itself", long, { old_str: half, new_str: "c" }],
    ["lines that nearly match everywhere", code, { old_str: `${code}y = 1;\n${code}`, new_str: "c" }],
    [
      "white space that nearly matches",
      " a".repeat(much / 2),
      { old_str: ` a  ${"a ".repeat(much / 10)}b`, new_str: "" },
    ],
    ["numbered lines", code, { old_str: "1→x\n".repeat(much), new_str: "2→x\n".repeat(much) }],
    ["one long line", long.repeat(9), { old_str: "a", new_str: "b", change_all: true }],
    ["all lines", "\n".repeat(much * 20), { old_str: "\n", new_str: "\r\n", change_all: true }],
    ["letters of several bytes", "ä€😀\n".repeat(much * 2), { old_str: "€", new_str: "ß", change_all: true }],
  ];

  test.each(edits)("of %s in Edit", async (_, before, change) => {
    const host = createMemoryHost({ "/project/f": before });
    expect((await expectAnswers(editTool, { file_path: "f", ...change }, host, "/project", "f")).text).not.toBe("");
  });

  const hunk = (lines: readonly string[]): string =>
    ["*** Begin Patch", "*** Update File: f", "@@", ...lines, "*** End Patch"].join("\n");
  const repeated = Array.from({ length: 100_000 }, () => " a");
  const patches: readonly (readonly [string, string, string])[] = [
    ["lines that nearly match everywhere", `${"a\n".repeat(much)}b\n`, hunk([...repeated, "-b", ...repeated])],
    ["many lines", "a\nb\n".repeat(much / 2 - 1), hunk(["-a", "-b", "-a", "+c"])],
    ["a long line", `${long.repeat(9)}\n`, hunk([`-${half}`, "+c"])],
    ["letters of several bytes", "ä€😀\n".repeat(much), hunk(["-ä€😀", "+ß"])],
  ];

  test.each(patches)("of %s in ApplyPatch", async (_, before, input) => {
    const host = createMemoryHost({ "/project/f": before });
    expect((await expectAnswers(applyPatchTool, { input }, host)).text).not.toBe("");
  });

  test("that are too long for one patch", async () => {
    const input = hunk(Array.from({ length: much * 3 }, () => "+"));
    expect(await expectAnswers(applyPatchTool, { input }, createMemoryHost({ "/project/f": "" }))).toEqual({
      status: "failed",
      text: "Error: Cannot apply the patch. The patch has more than 300000 lines. Give it in several patches.\nNothing was changed.",
    });
  });
});

test.each<[string, ToolBody, unknown]>([
  ["TodoWrite", todoWriteTool, { todos: "[ ] x\n".repeat(much) }],
  ["TodoWrite of blanks", todoWriteTool, { todos: `${" ".repeat(much)}\n`.repeat(4) }],
  ["AskUser", askUserTool, { questionnaire: "1. [question] x\n".repeat(much) }],
  ["AskUser of blanks", askUserTool, { questionnaire: `1. [question]${" \t".repeat(24_000)}x\n[option]` }],
  ["Create", createTool, { file_path: "new", content: "x\n".repeat(much * 4) }],
  ["ApplyPatch of blanks", applyPatchTool, { input: `*** Begin Patch\n${" ".repeat(much)}x\n*** End Patch` }],
  ["Execute", executeTool, { command: `echo ${"a".repeat(much)}` }],
])("%s with a long input", async (_, tool, input) => {
  expect((await expectAnswers(tool, input, createMemoryHost())).text).not.toBe("");
});
