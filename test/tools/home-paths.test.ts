import { expect, it } from "vitest";
import { createTool } from "../../src/tools/edit/create.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
import { applyPatchTool } from "../../src/tools/patch/apply-patch.ts";
import { readTool } from "../../src/tools/read/read.ts";
import { globTool } from "../../src/tools/search/glob.ts";
import { grepTool } from "../../src/tools/search/grep.ts";
import { lsTool } from "../../src/tools/search/ls.ts";
import { markOf } from "../../src/tools/seen-files.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { call, createContext, decidedCall } from "./call.ts";
import { contents, patch } from "./patch/patch-support.ts";

const files = { "/home/u/notes/a.txt": "one\n", "/project/x": "" };

const calls = [
  ["Read", readTool, (path: string) => ({ file_path: `${path}/a.txt` })],
  ["LS", lsTool, (path: string) => ({ directory_path: path })],
  ["Grep", grepTool, (path: string) => ({ pattern: "one", path })],
  ["Glob", globTool, (path: string) => ({ patterns: "*.txt", folder: path })],
  ["Edit", editTool, (path: string) => ({ file_path: `${path}/a.txt`, old_str: "one", new_str: "two" })],
  ["Create", createTool, (path: string) => ({ file_path: `${path}/a.txt`, content: "two\n" })],
  [
    "ApplyPatch",
    applyPatchTool,
    (path: string) => ({
      input: patch(`*** Update File: ${path}/a.txt`, `*** Move to: ${path}/new/b.txt`, "-one", "+two"),
    }),
  ],
] as const;

it.each(calls)("%s reads ~/ as the user's home in decisions", async (_, tool, given) => {
  const [short, long] = [createMemoryHost(files), createMemoryHost(files)];
  const tilde = await decidedCall(tool, given("~/notes"), createContext(short));
  const other = await decidedCall(tool, given("/home/u/notes"), createContext(long));
  for (const { context } of [tilde, other]) context.seenFiles.set("/home/u/notes/a.txt", await markOf("one\n"));
  expect(tilde.accesses).toEqual(other.accesses);
  expect(await tool.preview?.(tilde.input, tilde.context)).toEqual(
    tool === applyPatchTool ? expect.anything() : await tool.preview?.(other.input, other.context),
  );
  const [shortEnd, longEnd] = [await tool.run(tilde.input, tilde.context), await tool.run(other.input, other.context)];
  expect([shortEnd.status, shortEnd.text.replaceAll("~/", "/home/u/")]).toEqual(["ok", longEnd.text]);
  expect(await contents(short, "/")).toEqual(await contents(long, "/"));
});

it.each(calls)("%s rejects another user's home, and creates nothing", async (_, tool, given) => {
  const host = createMemoryHost(files);
  const { status, text } = await call(tool, given("~bob/notes"), createContext(host));
  expect([status, text]).toEqual([
    "failed",
    expect.stringMatching(
      /~bob\/notes\S* begins with "~"\. Only "~\/", your home, is supported\. Give the whole path, or "\.\/~bob\/notes\S*" for a file of that name\./,
    ),
  ]);
  expect(await contents(host)).toEqual({ x: "" });
});

it("reaches a file whose name begins with ~ from its folder", async () => {
  const host = createMemoryHost(files);
  await call(createTool, { file_path: "./~$report.docx", content: "a" }, createContext(host));
  await call(createTool, { file_path: "./~/b", content: "b" }, createContext(host));
  expect(await contents(host)).toEqual({ x: "", "~$report.docx": "a", "~/b": "b" });
});

it.each([
  ["Glob", globTool, { patterns: ["*.md", "~/notes/*.txt"] }, "~/notes/*.txt", "folder"],
  ["Glob", globTool, { patterns: "*", excludePatterns: ["~/a.txt"] }, "~/a.txt", "folder"],
  ["Grep", grepTool, { pattern: "x", glob_pattern: "~/*.txt" }, "~/*.txt", "path"],
  ["Grep", grepTool, { pattern: "x", glob_pattern: "!~/*.txt" }, "!~/*.txt", "path"],
])("%s rejects a pattern below ~/ and names the option for it: %#", async (name, tool, given, pattern, option) => {
  expect(await call(tool, given, createContext(createMemoryHost(files)))).toEqual({
    status: "failed",
    text: `Error: ${name} failed: ${pattern} begins with "~/". Set "${option}" to the home folder.`,
  });
});

it("LS leaves out a name below ~/", async () => {
  const context = createContext(createMemoryHost({ "/home/u/notes/a.txt": "", "/home/u/notes/b.txt": "" }));
  const given = { directory_path: "~/notes", ignorePatterns: ["~/notes/a.*"] };
  expect((await call(lsTool, given, context)).text).toMatch(/^\S+ +\d+ \S+ \S+ b\.txt$/);
});
