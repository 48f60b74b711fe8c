import { expect, it } from "vitest";
import type { Files } from "../../src/engine/files.ts";
import type { ToolBody } from "../../src/engine/tool.ts";
import { createTool } from "../../src/tools/edit/create.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
import { applyPatchTool } from "../../src/tools/patch/apply-patch.ts";
import { markOf } from "../../src/tools/seen-files.ts";
import { createMemoryHost, type MemoryHost } from "../fakes/memory-host.ts";
import { call, createContext } from "./call.ts";
import { contents, patch } from "./patch/patch-support.ts";

const cancelled = "Error: Tool execution cancelled by user";

/** Runs a call on a host whose files behave as in `change`, and returns the outcome. */
async function run(
  tool: ToolBody,
  given: object,
  before: Readonly<Record<string, string>>,
  change: (host: MemoryHost, stop: AbortController) => Partial<Files>,
) {
  const host = createMemoryHost(before);
  const stop = new AbortController();
  const files = { ...host.files, ...change(host, stop) };
  const context = createContext({ ...host, files }, { signal: stop.signal });
  for (const [path, text] of Object.entries(before)) context.seenFiles.set(path, await markOf(text));
  return { ...(await call(tool, given, context)), after: await contents(host) };
}

/** Aborts on the `nth` look at a file: the last look is right before the write. */
const stopsAtLook =
  (nth: number) =>
  (host: MemoryHost, stop: AbortController): Partial<Files> => {
    let looks = 0;
    return {
      async stat(path) {
        looks += 1;
        if (looks === nth) stop.abort();
        return host.files.stat(path);
      },
    };
  };

it.each([
  ["Edit", editTool, { file_path: "f", old_str: "a", new_str: "b" }, 2],
  ["Create", createTool, { file_path: "f", content: "b" }, 1],
  ["ApplyPatch", applyPatchTool, { input: patch("*** Update File: f", "-a", "+b") }, 1],
])("%s writes nothing after an abort", async (_, tool, given, look) => {
  expect(await run(tool, given, { "/project/f": "a\n" }, stopsAtLook(look))).toEqual({
    status: "interrupted",
    text: cancelled,
    after: { f: "a\n" },
  });
});

it("Edit of a large file can be aborted while it compares", async () => {
  const text = "a\n".repeat(5_000_000);
  const ended = await run(
    editTool,
    { file_path: "f", old_str: "a\n", new_str: "b\n", change_all: true },
    { "/project/f": text },
    (_, stop) => {
      setImmediate(() => stop.abort());
      return {};
    },
  );
  expect([ended.status, ended.text, ended.after.f === text]).toEqual(["interrupted", cancelled, true]);
});

it("ApplyPatch to a large file can be aborted while it searches", async () => {
  const text = Array.from({ length: 700_000 }, (_, index) => `line ${index}\n`).join("");
  const ended = await run(
    applyPatchTool,
    { input: patch("*** Update File: f", " no such line", "-line 5", "+b") },
    { "/project/f": text },
    (_, stop) => {
      setImmediate(() => stop.abort());
      return {};
    },
  );
  expect([ended.status, ended.text, ended.after.f === text]).toEqual(["interrupted", cancelled, true]);
});

it("ApplyPatch undoes its changes if it is aborted between two files", async () => {
  const before = { "/project/a": "1\n", "/project/b": "2\n", "/project/c": "3\n" };
  const input = patch(
    ...["*** Update File: a", "*** Move to: n/a", "-1", "+one", "*** Update File: b", "-2", "+two"],
    ...["*** Delete File: c"],
  );
  const stopsAfter =
    (nth: number) =>
    (host: MemoryHost, stop: AbortController): Partial<Files> => {
      let steps = 0;
      const done = <T>(result: T): T => {
        steps += 1;
        if (steps === nth) stop.abort();
        return result;
      };
      return {
        write: async (...given) => done(await host.files.write(...given)),
        move: async (...given) => done(await host.files.move(...given)),
        remove: async (...given) => done(await host.files.remove(...given)),
      };
    };
  const back = "The earlier changes were undone, so nothing is changed.";
  const folders = "Empty folders made for new files may remain.";
  for (const nth of [1, 2, 3])
    expect(await run(applyPatchTool, { input }, before, stopsAfter(nth))).toEqual({
      status: "interrupted",
      text: `${cancelled}. ${back} ${folders}`,
      after: { a: "1\n", b: "2\n", c: "3\n" },
    });
  const ended = await run(applyPatchTool, { input }, before, stopsAfter(4));
  expect([ended.status, ended.after]).toEqual(["ok", { "n/a": "one\n", b: "two\n" }]);
});
