import { expect, it } from "vitest";
import { createTool } from "../../src/tools/edit/create.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
import { applyPatchTool } from "../../src/tools/patch/apply-patch.ts";
import { readTool } from "../../src/tools/read/read.ts";
import { markOf } from "../../src/tools/seen-files.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { call, createContext } from "./call.ts";
import { contents, patch } from "./patch/patch-support.ts";

const half = "\ud83d";
const words = "contains half a character (a lone surrogate), which files cannot contain. Nothing was done.";
const path = `The path "a\\ud83d" ${words}`;

it.each([
  ["Create", createTool, { file_path: "f", content: `a${half}` }, `Error: Cannot create file: content ${words}`],
  ["Create", createTool, { file_path: `a${half}`, content: "a" }, `Error: Cannot create file: ${path}`],
  ["Edit", editTool, { file_path: "f", old_str: "😀", new_str: half }, `Error: Cannot edit file: new_str ${words}`],
  // The first half of the smiley would be found.
  ["Edit", editTool, { file_path: "f", old_str: half, new_str: "x" }, `Error: Cannot edit file: old_str ${words}`],
  ["Edit", editTool, { file_path: `a${half}`, old_str: "a", new_str: "b" }, `Error: Cannot edit file: ${path}`],
  [
    "ApplyPatch",
    applyPatchTool,
    { input: patch("*** Add File: n", `+a${half}`) },
    `Error: Cannot apply the patch: it ${words}`,
  ],
  ["Read", readTool, { file_path: `a${half}` }, `Error: Error reading file: ${path}`],
])("%s rejects half a character: %#", async (_, tool, given, text) => {
  const host = createMemoryHost({ "/project/f": "😀\n" });
  const context = createContext(host);
  context.seenFiles.set("/project/f", await markOf("😀\n"));
  expect(await call(tool, given, context)).toEqual({ status: "failed", text });
  expect(await contents(host)).toEqual({ f: "😀\n" });
});
