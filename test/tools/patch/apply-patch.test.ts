import { describe, expect, it } from "vitest";
import type { Files } from "../../../src/engine/files.ts";
import { jsonBytes, outputLimit } from "../../../src/text/output.ts";
import { editTool } from "../../../src/tools/edit/edit.ts";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { markOf } from "../../../src/tools/seen-files.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";
import { contents, patch } from "./patch-support.ts";

/** Applies a patch to files of `/project`. */
async function apply(files: Readonly<Record<string, string | Uint8Array>>, input: string) {
  const host = createMemoryHost(
    Object.fromEntries(Object.entries({ ".keep": "", ...files }).map(([name, text]) => [`/project/${name}`, text])),
  );
  const output = await call(applyPatchTool, { input }, createContext(host));
  const { ".keep": _, ...after } = await contents(host);
  return { ...output, after };
}

describe("ApplyPatch", () => {
  it("creates, updates, moves and deletes files, and reports it", async () => {
    const files = { "src/a.py": "import os\n\ndef f():\n    return 1\n", "b.txt": "b\n", "old.md": "one\ntwo\n" };
    const input = patch(
      "*** Add File: new/deep.txt",
      "+first",
      "+",
      "+ third",
      "*** Update File: src/a.py",
      "@@ def f():",
      "-    return 1",
      "+    return 2",
      "*** Delete File: b.txt",
      "*** Update File: old.md",
      "*** Move to: docs/new.md",
      " one",
      "-two",
      "+2",
    );
    expect(await apply(files, input)).toEqual({
      status: "ok",
      text: [
        "Success. Updated the following files:",
        "A new/deep.txt",
        "M src/a.py",
        "M docs/new.md",
        "D b.txt",
        "",
        "src/a.py",
        "     1  import os",
        "     2  ",
        "     3  def f():",
        "-    4      return 1",
        "+    4      return 2",
        "",
        "docs/new.md (moved from old.md)",
        "     1  one",
        "-    2  two",
        "+    2  2",
      ].join("\n"),
      after: {
        "src/a.py": "import os\n\ndef f():\n    return 2\n",
        "new/deep.txt": "first\n\n third\n",
        "docs/new.md": "one\n2\n",
      },
    });
  });

  it("gives the model a shorter part of a long change", async () => {
    const before = Array.from({ length: 200 }, (_, index) => `this is line ${index}\n`).join("");
    const removed = Array.from({ length: 150 }, (_, index) => `-this is line ${index}`);
    const { text, forModel = "" } = await apply({ a: before }, patch("*** Update File: a", ...removed));
    expect(jsonBytes(forModel)).toBeLessThanOrEqual(3200);
    expect(forModel).toMatch(/\n\[\d+ more lines omitted\]$/);
    expect(text.startsWith(forModel.slice(0, 2000))).toBe(true);
    expect(text).not.toContain("left out");
  });

  it("moves a file unchanged, and creates an empty one", async () => {
    const input = patch("*** Update File: a", "*** Move to: b", "*** Add File: c");
    const { after, text } = await apply({ a: "x\r\ny" }, input);
    expect({ after, text }).toEqual({
      after: { b: "x\r\ny", c: "" },
      text: "Success. Updated the following files:\nA c\nM b\n\nb (moved from a)",
    });
  });

  it("accepts absolute paths and paths through links, and needs no Read before", async () => {
    const host = createMemoryHost({ "/elsewhere/a": "1\n" }, { links: { "/project/out": "/elsewhere" } });
    const context = createContext(host);
    const input = patch("*** Update File: out/a", "-1", "+2", "*** Update File: /elsewhere/a", "-2", "+3");
    expect(await call(applyPatchTool, { input }, context)).toEqual({
      status: "ok",
      text: "Success. Updated the following files:\nM out/a\n\nout/a\n-    1  1\n+    1  3",
    });
    expect(host.text("/elsewhere/a")).toBe("3\n");
  });

  it("remembers what it wrote", async () => {
    const host = createMemoryHost({ "/project/a": "1\n", "/project/b": "b\n", "/project/c": "c\n" });
    const context = createContext(host);
    for (const name of ["a", "b", "c"]) context.seenFiles.set(`/project/${name}`, "an older version");
    const input = patch(
      "*** Update File: a",
      "-1",
      "+2",
      "*** Delete File: b",
      "*** Update File: c",
      "*** Move to: d",
      "*** Add File: e",
      "+e",
    );
    await call(applyPatchTool, { input }, context);
    expect(Object.fromEntries(context.seenFiles)).toEqual({
      "/project/a": await markOf("2\n"),
      "/project/b": "an older version",
      "/project/c": "an older version",
      "/project/d": await markOf("c\n"),
      "/project/e": await markOf("e\n"),
    });
    const edited = await call(editTool, { file_path: "a", old_str: "2", new_str: "3" }, context);
    expect(edited.status).toBe("ok");
  });

  it("limits its report", async () => {
    const names = Array.from({ length: 40 }, (_, index) => `f${index}`);
    const text = Array.from({ length: 100 }, (_, index) => `line ${index} "quoted"\n`).join("");
    const input = patch(
      ...names.flatMap((name) => [
        `*** Update File: ${name}`,
        ...text
          .trimEnd()
          .split("\n")
          .flatMap((line) => [`-${line}`, `+${line}!`]),
      ]),
    );
    const output = await apply(Object.fromEntries(names.map((name) => [name, text])), input);
    expect(jsonBytes(output.text)).toBeLessThan(outputLimit / 2);
    expect(output.text).toContain("\nM f39\n");
    expect(output.text).toMatch(/\[\d+ more lines omitted\]\n\n\[the changed lines of 3\d more files were omitted\]$/);
  });
});

it("omits changed lines of large files from its report", async () => {
  const text = `${"x".repeat(6_000_000)}\na\n`;
  const input = patch("*** Update File: a", "-a", "+b", "*** Update File: b", "-a", "+b");
  const output = await apply({ a: text, b: text }, input);
  expect(output.status).toBe("ok");
  expect(output.text).toContain(`     1  ${"x".repeat(500)}…\n-    2  a\n+    2  b\n`);
  expect(output.text).toMatch(/^Success.*\nM a\nM b\n\na\n.*\n\n\[the changed lines of 1 more files were omitted\]$/s);
});

describe("the sections of one patch", () => {
  const works: readonly (readonly [string, Readonly<Record<string, string>>, readonly string[], object])[] = [
    [
      "update a file twice",
      { a: "1\n" },
      ["*** Update File: a", "-1", "+2", "*** Update File: ./a", "-2", "+3"],
      { a: "3\n" },
    ],
    ["update what was added", {}, ["*** Add File: a", "+1", "*** Update File: a", "-1", "+2"], { a: "2\n" }],
    ["replace a whole file", { a: "1\n" }, ["*** Delete File: a", "*** Add File: a", "+2"], { a: "2\n" }],
    ["delete what was updated", { a: "1\n" }, ["*** Update File: a", "-1", "+2", "*** Delete File: a"], {}],
    [
      "add a file where one was moved away",
      { a: "1\n" },
      ["*** Update File: a", "*** Move to: b", "*** Add File: a", "+2"],
      { a: "2\n", b: "1\n" },
    ],
    [
      "swap two files",
      { a: "1\n", b: "2\n" },
      [
        ["*** Update File: a", "*** Move to: c"],
        ["*** Update File: b", "*** Move to: a"],
        ["*** Update File: c", "*** Move to: b"],
      ].flat(),
      { a: "2\n", b: "1\n" },
    ],
    ["move to the same place", { a: "1\n" }, ["*** Update File: a", "*** Move to: ./a", "-1", "+2"], { a: "2\n" }],
  ];
  it.each(works)("may %s", async (_, files, sections, after) => {
    expect(await apply(files, patch(...sections))).toMatchObject({ status: "ok", after });
  });

  it("are listed with their result", async () => {
    const input = patch(
      ...["*** Update File: a", "*** Move to: b", "*** Update File: b", "*** Move to: c"],
      ...["*** Add File: n", "+n", "*** Update File: n", "-n", "+m"],
      ...["*** Update File: same", " same", "*** Delete File: r", "*** Add File: r", "+new"],
    );
    expect((await apply({ a: "1\n", same: "same\n", r: "old\n" }, input)).text).toBe(
      [
        "Success. Updated the following files:",
        "A n",
        "M c",
        "M r",
        "Unchanged by the patch: same",
        "",
        "c (moved from a)",
        "",
        "r",
        "-    1  old",
        "+    1  new",
      ].join("\n"),
    );
  });

  it("are listed as deleted if a moved file is deleted", async () => {
    const input = patch("*** Delete File: b", "*** Update File: a", "*** Move to: b", "*** Delete File: b");
    expect(await apply({ a: "1\n", b: "2\n" }, input)).toEqual({
      status: "ok",
      text: "Success. Updated the following files:\nD b\nD a",
      after: {},
    });
  });

  const fails: readonly (readonly [readonly string[], string])[] = [
    [["*** Add File: a", "+x"], 'a exists already. Use "*** Update File" to change it.'],
    [
      ["*** Add File: n", "+x", "*** Add File: n", "+y"],
      'n exists by an earlier section. Use "*** Update File" to change it.',
    ],
    [["*** Add File: n", "*** Delete File: n"], "n was created by an earlier section, so it cannot be deleted."],
    [
      ["*** Update File: none", "-x"],
      'none does not exist, so "*** Update File" cannot be done. Use "*** Add File" to create it.',
    ],
    [["*** Delete File: none"], 'none does not exist, so "*** Delete File" cannot be done.'],
    [
      ["*** Delete File: a", "*** Update File: a", "-1", "+2"],
      'a was deleted by an earlier section, so "*** Update File" cannot be done. Use "*** Add File" to create it.',
    ],
    [
      ["*** Update File: a", "*** Move to: n", "*** Delete File: a"],
      'a was moved by an earlier section, so "*** Delete File" cannot be done.',
    ],
    [["*** Update File: a", "*** Move to: b"], "a cannot be moved to b, which already exists."],
    [["*** Delete File: d"], "d is a directory."],
    [["*** Update File: a", "*** Move to: d"], "d is a directory."],
    [["*** Update File: pipe", "-x"], "pipe is not a regular file."],
    [["*** Update File: latin", "-a", "+b"], "latin is not UTF-8 text. Use Execute for such a change."],
    [["*** Delete File: binary"], "binary is not UTF-8 text. Use Execute for such a change."],
    [["*** Update File: huge", "-a", "+b"], "huge is larger than 10 MiB. Use Execute for such a change."],
    [["*** Delete File: link"], "link is a link to /project/a, so it cannot be deleted. Use Execute for the link."],
    [
      ["*** Update File: link", "*** Move to: n"],
      "link is a link to /project/a, so it cannot be moved. Use Execute for the link.",
    ],
    [
      ["*** Delete File: a", "*** Add File: a/b", "+x"],
      "a/b is inside a, which the patch treats as a file. Split it into two patches.",
    ],
    [["*** Update File: a", "-1", "+1"], "It changes no file."],
    [["*** Delete File: loop"], "ELOOP: too many symbolic links encountered, access '/project/loop'"],
  ];
  it.each(fails)("fail together: %j", async (sections, words) => {
    const host = createMemoryHost(
      {
        "/project/a": "1\n",
        "/project/b": "2\n",
        "/project/d/x": "",
        "/project/latin": Buffer.from("a\xe9", "latin1"),
        "/project/binary": "a\0b",
        "/project/huge": Buffer.alloc(10 * 1024 * 1024 + 1, "a"),
      },
      { others: ["/project/pipe"], links: { "/project/link": "a", "/project/loop": "loop" } },
    );
    const before = await contents(host);
    // Valid changes surround the invalid one, and none of them may be applied.
    const more = words.startsWith("It changes") ? [] : ["*** Add File: fits", "+x"];
    const input = patch(...more, ...sections, ...(more.length > 0 ? ["*** Add File: fits too", "+x"] : []));
    expect(await call(applyPatchTool, { input }, createContext(host))).toEqual({
      status: "failed",
      text: `Error: Cannot apply the patch. ${words}\nNothing was changed.`,
    });
    expect(await contents(host)).toEqual(before);
  });

  it("that read too much in total fail", async () => {
    const names = ["a", "b", "c", "d"];
    const files = Object.fromEntries(names.map((name) => [name, Buffer.alloc(9 * 1024 * 1024, "x")]));
    const { status, text } = await apply(files, patch(...names.map((name) => `*** Delete File: ${name}`)));
    expect({ status, text }).toEqual({
      status: "failed",
      text: "Error: Cannot apply the patch. The files of the patch are larger than 32 MiB together. Split it into several patches.\nNothing was changed.",
    });
  });
});

it("copies a program with its mode if it cannot be renamed", async () => {
  const host = createMemoryHost({ "/project/run.sh": "echo\n" });
  const written: unknown[] = [];
  const files: Files = {
    ...host.files,
    stat: async (path) => {
      const found = await host.files.stat(path);
      return found && { ...found, mode: 0o100755 };
    },
    write: (path, text, options) => {
      written.push([path, text, options?.mode]);
      return host.files.write(path, text, options);
    },
    move: async () => Promise.reject(Object.assign(new Error("EXDEV: cross-device link"), { code: "EXDEV" })),
  };
  const input = patch("*** Update File: run.sh", "*** Move to: bin/run");
  const { text } = await call(applyPatchTool, { input }, createContext({ ...host, files }));
  expect(text).toBe("Success. Updated the following files:\nM bin/run\n\nbin/run (moved from run.sh)");
  expect(written).toEqual([["/project/bin/run", "echo\n", 0o100755]]);
  expect(await contents(host)).toEqual({ "bin/run": "echo\n" });
});
