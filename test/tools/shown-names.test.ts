import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createTool } from "../../src/tools/edit/create.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
import { applyPatchTool } from "../../src/tools/patch/apply-patch.ts";
import { readTool } from "../../src/tools/read/read.ts";
import { globTool } from "../../src/tools/search/glob.ts";
import { grepTool } from "../../src/tools/search/grep.ts";
import { lsTool } from "../../src/tools/search/ls.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { call, createContext } from "./call.ts";

async function workspace() {
  const cwd = await realpath(await mkdtemp(join(tmpdir(), "tinman-names-")));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const context = { ...createContext(createNodeHost({ outputsDir: "/nowhere" })), cwd };
  return { cwd, context, bytes: (name: string) => Buffer.from(join(cwd, name), "latin1") };
}

/** The names that LS shows. */
function namesIn(listing: string): readonly string[] {
  return listing.split("\n").map((line) => line.replace(/^\S+ +\d+ \S+ \S+ /, ""));
}

test("a name is the same in every tool, and can be used again", async () => {
  const { cwd, context, bytes } = await workspace();
  await mkdir(bytes("d\xe9\n"));
  await writeFile(bytes("d\xe9\n/\xff.txt"), "bytes\n");
  await writeFile(join(cwd, "two\nlines"), "control\n");
  await writeFile(join(cwd, "two\\x0alines"), "letters\n");
  await symlink(bytes("d\xe9\n/\xff.txt"), bytes("l\xeft"));

  expect(namesIn((await call(lsTool, {}, context)).text)).toEqual([
    "d\\xe9\\x0a/",
    `l\\xeft -> ${cwd}/d\\xe9\\x0a/\\xff.txt`,
    "two\\x0alines",
    "two\\x5cx0alines",
  ]);
  const paths = ["./d\\xe9\\x0a/\\xff.txt", "./two\\x0alines", "./two\\x5cx0alines"];
  expect(await call(globTool, { patterns: "**" }, context)).toEqual({ status: "ok", text: paths.join("\n") });
  expect(await call(grepTool, { pattern: "." }, context)).toEqual({ status: "ok", text: paths.join("\n") });

  const read = async (file_path: string) => (await call(readTool, { file_path }, context)).text;
  expect(await Promise.all([...paths, "l\\xeft"].map(read))).toEqual(["bytes\n", "control\n", "letters\n", "bytes\n"]);
  expect(namesIn((await call(lsTool, { directory_path: "d\\xe9\\x0a" }, context)).text)).toEqual(["\\xff.txt"]);
  expect(await call(grepTool, { pattern: "t", path: "d\\xe9\\x0a" }, context)).toEqual({
    status: "ok",
    text: `./\\xff.txt\n\n[Paths are relative to ${cwd}/d\\xe9\\x0a]`,
  });
  expect(await call(globTool, { patterns: "*", folder: "d\\xe9\\x0a" }, context)).toEqual({
    status: "ok",
    text: `./\\xff.txt\n\n[Paths are relative to ${cwd}/d\\xe9\\x0a]`,
  });
  for (const file_path of paths) {
    const change = { file_path, old_str: "\n", new_str: "!\n" };
    expect((await call(editTool, change, context)).status).toBe("ok");
  }
  expect([
    await readFile(bytes("d\xe9\n/\xff.txt"), "utf8"),
    await readFile(join(cwd, "two\nlines"), "utf8"),
    await readFile(join(cwd, "two\\x0alines"), "utf8"),
  ]).toEqual(["bytes!\n", "control!\n", "letters!\n"]);
});

test("a name with backslashes is literal if no file is shown like that", async () => {
  const context = createContext(createMemoryHost({ "/project/a\\x0ab": "letters" }));
  expect((await call(readTool, { file_path: "a\\x0ab" }, context)).text).toBe("letters");
});

test("a system error keeps a name's bytes", async () => {
  const { cwd, context, bytes } = await workspace();
  await mkdir(bytes("d\xe9"));
  const long = "a".repeat(300);
  expect(await call(readTool, { file_path: `d\\xe9/${long}` }, context)).toEqual({
    status: "failed",
    text: `Error: Error reading file: ENAMETOOLONG: name too long, lstat '${cwd}/d\\xe9/${long}'`,
  });
});

test("messages keep a name on one line", async () => {
  const context = createContext(createMemoryHost({ "/project/d\n/f": "x", "/project/u\u2028u": "\u0000" }));
  const patch = (...lines: readonly string[]) => ({ input: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
  expect(
    [
      await call(readTool, { file_path: "d\n" }, context),
      await call(readTool, { file_path: "no\nthing" }, context),
      await call(lsTool, { directory_path: "d\n/f" }, context),
      await call(grepTool, { pattern: "x", path: "no\nthing" }, context),
      await call(globTool, { patterns: "x", folder: "no\nthing" }, context),
      await call(editTool, { file_path: "d\n", old_str: "x", new_str: "y" }, context),
      await call(editTool, { file_path: "d\n/f", old_str: "x", new_str: "y" }, context),
      await call(editTool, { file_path: "~no\nthing", old_str: "x", new_str: "y" }, context),
      await call(createTool, { file_path: "d\n", content: "y" }, context),
      await call(createTool, { file_path: "d\n/f", content: "y" }, context),
      await call(applyPatchTool, patch("*** Update File: d\\x0a", "-x"), context),
      await call(applyPatchTool, patch("*** Update File: d\\x0a/f", "-y"), context),
      await call(applyPatchTool, patch("*** Add File: d\\x0a/f"), context),
      await call(applyPatchTool, patch("*** Update File: u\u2028u", "-x"), context),
      await call(applyPatchTool, patch("*** Update File: d\\x0a"), context),
    ].map((output) => ({ ...output, text: output.text.split("\n")[0] })),
  ).toEqual(
    [
      ["Error reading file: /project/d\\x0a is a directory. Use LS to list it.", { cause: "is_directory" }],
      ["Error reading file: ENOENT: no such file: /project/no\\x0athing"],
      ["LS tool call failed: Not a directory: /project/d\\x0a/f. Use Read for a file.", { cause: "not_directory" }],
      ["Grep failed: Path does not exist: /project/no\\x0athing"],
      ["Glob failed: Directory does not exist: /project/no\\x0athing"],
      ["Cannot edit /project/d\\x0a: it is not a regular file."],
      ["Cannot edit file that has not been read first: /project/d\\x0a/f. Read it, then edit it."],
      [
        'Cannot edit file: ~no\\x0athing begins with "~". Only "~/", your home, is supported. Give the whole path, or "./~no\\x0athing" for a file of that name.',
      ],
      ["Cannot create file: /project/d\\x0a is a directory."],
      [
        "Cannot replace a file that has not been read: /project/d\\x0a/f. Read it first, then create it, or use Edit to change a part of it. Nothing was changed.",
        { cause: "not_read" },
      ],
      ["Cannot apply the patch. d\\x0a is a directory."],
      [
        "Cannot apply the patch. In d\\x0a/f: hunk 1 of 1 (line 3 of the patch) does not fit. These lines were not found in the file:",
      ],
      ['Cannot apply the patch. d\\x0a/f exists already. Use "*** Update File" to change it.'],
      ["Cannot apply the patch. u\\xe2\\x80\\xa8u is not UTF-8 text. Use Execute for such a change."],
      ['Cannot apply the patch. The patch has no changes for d\\x0a. They must follow "*** Update File".'],
    ].map(([text, more]) => ({ status: "failed", text: `Error: ${text}`, ...Object(more) })),
  );
});
