import { mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
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

test("messages keep a name on one line", async () => {
  const context = createContext(createMemoryHost({ "/project/d\n/f": "x" }));
  expect([
    await call(readTool, { file_path: "d\n" }, context),
    await call(readTool, { file_path: "no\nthing" }, context),
    await call(lsTool, { directory_path: "d\n/f" }, context),
    await call(grepTool, { pattern: "x", path: "no\nthing" }, context),
    await call(globTool, { patterns: "x", folder: "no\nthing" }, context),
  ]).toEqual(
    [
      ["Error reading file: /project/d\\x0a is a directory. Use LS to list it.", { cause: "is_directory" }],
      ["Error reading file: ENOENT: no such file: /project/no\\x0athing"],
      ["LS tool call failed: Not a directory: /project/d\\x0a/f. Use Read for a file.", { cause: "not_directory" }],
      ["Grep failed: Path does not exist: /project/no\\x0athing"],
      ["Glob failed: Directory does not exist: /project/no\\x0athing"],
    ].map(([text, more]) => ({ status: "failed", text: `Error: ${text}`, ...Object(more) })),
  );
});
