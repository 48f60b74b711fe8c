import { mkdir, readdir, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Files } from "../../../src/engine/files.ts";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { tempFolder } from "../../host/support.ts";
import { call, createContext, decidedCall } from "../call.ts";
import { patch } from "./patch-support.ts";

/** A workspace with `src/a.txt`, and beside it a folder with a file of the same name and text. */
async function place() {
  const base = await tempFolder();
  const [ws, out] = [join(base, "ws"), join(base, "out")];
  for (const folder of [join(ws, "src"), out]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, "a.txt"), "text\n");
  }
  await writeFile(join(ws, "first"), "1\n");
  const swap = async () => {
    await rename(join(ws, "src"), join(ws, "aside"));
    await symlink(out, join(ws, "src"));
  };
  /** Everything that a patch can have touched. */
  const left = async () => ({
    ws: (await readdir(ws)).filter((name) => name !== "src" && name !== "aside"),
    first: await readFile(join(ws, "first"), "utf8"),
    aside: await readdir(join(ws, "aside")),
    out: await readdir(out),
    texts: await Promise.all([join(ws, "aside"), out].map((folder) => readFile(join(folder, "a.txt"), "utf8"))),
  });
  return { ws, out, swap, left, host: createNodeHost({ outputsDir: join(base, "outputs") }) };
}

const untouched = { ws: ["first"], first: "1\n", aside: ["a.txt"], out: ["a.txt"], texts: ["text\n", "text\n"] };

const patches: readonly (readonly [string, readonly string[], string])[] = [
  ["updates", ["*** Update File: src/a.txt", "-text", "+new"], "src/a.txt"],
  ["adds", ["*** Add File: src/b.txt", "+new"], "src/b.txt"],
  ["deletes", ["*** Delete File: src/a.txt"], "src/a.txt"],
  ["moves away", ["*** Update File: src/a.txt", "*** Move to: b.txt"], "src/a.txt"],
  ["moves", ["*** Update File: first", "*** Move to: src/b.txt", "-1", "+2"], "src/b.txt"],
];

describe("a folder that is swapped for a link", () => {
  it.each(patches)("after the decision is not used by a patch that %s", async (_, sections, name) => {
    const { ws, out, swap, left, host } = await place();
    const given = { input: patch(...sections) };
    const { input, context } = await decidedCall(applyPatchTool, given, { ...createContext(host), cwd: ws });
    await swap();
    const leads = join(out, name.slice("src/".length));
    expect(await applyPatchTool.run(input, context)).toEqual({
      status: "failed",
      text: `Error: Cannot apply the patch. ${name} was decided on as ${ws}/${name}, but now leads to ${leads}. Nothing was done.\nNothing was changed.`,
    });
    expect(await left()).toEqual(untouched);
  });

  it.each(patches)("after planning is not followed by a patch that %s", async (_, sections, name) => {
    const { ws, swap, left, host } = await place();
    let isSwapped = false;
    // The first write is to another file: by then everything has been read and checked.
    const swapping = async () => {
      if (!isSwapped) await swap();
      isSwapped = true;
    };
    const files: Files = {
      ...host.files,
      async write(path, text) {
        const version = await host.files.write(path, text);
        await swapping();
        return version;
      },
    };
    const context = { ...createContext({ ...host, files }), cwd: ws };
    const { status, text } = await call(
      applyPatchTool,
      { input: patch("*** Add File: zero", "+0", ...sections) },
      context,
    );
    expect(status).toBe("failed");
    expect(text).toMatch(
      new RegExp(`^Error: Cannot (write|move|move \\S+ to|remove) ${name}.*: .*The earlier changes were undone`),
    );
    expect(await left()).toEqual(untouched);
  });
});

it("on a real disk keeps modes and line ends, and creates folders", async () => {
  const { ws, host } = await place();
  await writeFile(join(ws, "run.sh"), "a\r\nb\r\n", { mode: 0o755 });
  const context = { ...createContext(host), cwd: ws };
  const sections = ["*** Update File: run.sh", "-b", "+c", "*** Add File: x/y/z", "+z", "*** Delete File: first"];
  expect((await call(applyPatchTool, { input: patch(...sections) }, context)).status).toBe("ok");
  expect({
    ws: (await readdir(ws)).sort(),
    mode: ((await host.files.stat(join(ws, "run.sh")))?.mode ?? 0) & 0o777,
    run: await readFile(join(ws, "run.sh"), "utf8"),
    made: await readFile(join(ws, "x", "y", "z"), "utf8"),
  }).toEqual({ ws: ["run.sh", "src", "x"], mode: 0o755, run: "a\r\nc\r\n", made: "z\n" });
});
