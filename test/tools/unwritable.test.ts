import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createTool } from "../../src/tools/edit/create.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
import { applyPatchTool } from "../../src/tools/patch/apply-patch.ts";
import { readTool } from "../../src/tools/read/read.ts";
import { call, createContext } from "./call.ts";
import { patch } from "./patch/patch-support.ts";

async function workspace() {
  const base = await realpath(await mkdtemp(join(tmpdir(), "tinman-tools-")));
  onTestFinished(() => rm(base, { recursive: true, force: true }));
  const ws = join(base, "ws");
  await mkdir(ws);
  const host = createNodeHost({ outputsDir: join(base, "outputs"), unfinishedDir: join(base, "unfinished") });
  return { ws, context: { ...createContext(host), cwd: ws } };
}

it("every tool rejects an unwritable file, with the reason", async () => {
  const { ws, context } = await workspace();
  await writeFile(join(ws, "f"), "a\n");
  await chmod(join(ws, "f"), 0o444);
  await call(readTool, { file_path: "f" }, context);
  const patched = async (...lines: string[]) =>
    (await call(applyPatchTool, { input: patch("*** Add File: new", "+x", ...lines) }, context)).text;
  const why = "is read-only (mode 0444)";
  const refused = `Error: Cannot apply the patch. f ${why}.\nNothing was changed.`;
  expect([
    (await call(editTool, { file_path: "f", old_str: "a", new_str: "b" }, context)).text,
    (await call(createTool, { file_path: "f", content: "b" }, context)).text,
    await patched("*** Update File: f", "-a", "+b"),
    await patched("*** Update File: f", "*** Move to: g"),
    await patched("*** Delete File: f"),
  ]).toEqual([
    `Error: Cannot edit ${ws}/f: it ${why}.`,
    `Error: Cannot create file: ${ws}/f ${why}.`,
    refused,
    refused,
    refused,
  ]);
  expect([await readdir(ws), await readFile(join(ws, "f"), "utf8")]).toEqual([["f"], "a\n"]);
});

it("a file keeps its identity through Edit, Create and ApplyPatch, even if it is moved", async () => {
  const { ws, context } = await workspace();
  await writeFile(join(ws, "f"), "a\n", { mode: 0o750 });
  const { ino, mode } = await stat(join(ws, "f"));
  await call(readTool, { file_path: "f" }, context);
  const ends = [
    await call(editTool, { file_path: "f", old_str: "a", new_str: "b" }, context),
    await call(createTool, { file_path: "f", content: "c\n" }, context),
    await call(applyPatchTool, { input: patch("*** Update File: f", "-c", "+d") }, context),
    await call(applyPatchTool, { input: patch("*** Update File: f", "*** Move to: n/g", "-d", "+e") }, context),
    await call(applyPatchTool, { input: patch("*** Update File: n/g", "*** Move to: h") }, context),
    await call(editTool, { file_path: "h", old_str: "e", new_str: "last" }, context),
  ];
  expect(ends.map(({ status }) => status)).toEqual(ends.map(() => "ok"));
  const after = await stat(join(ws, "h"));
  expect([after.ino, after.mode, await readFile(join(ws, "h"), "utf8")]).toEqual([ino, mode, "last\n"]);
});
