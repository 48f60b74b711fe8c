import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Host } from "../../../src/engine/ports.ts";
import { jsonBytes, outputLimit } from "../../../src/text/output.ts";
import { editTool } from "../../../src/tools/edit/edit.ts";
import { replaceText } from "../../../src/tools/edit/edit-text.ts";
import { createPace } from "../../../src/tools/pace.ts";
import { readTool } from "../../../src/tools/read/read.ts";
import { markOf } from "../../../src/tools/seen-files.ts";
import { createMemoryHost, type MemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext, previewOf } from "../call.ts";

interface Change {
  readonly old_str: string;
  readonly new_str: string;
  readonly change_all?: boolean;
}

/** Edits a file with `content` that has been read. */
async function edit(content: string | Uint8Array, change: Change) {
  const host = createMemoryHost({ "/project/f.txt": content });
  const context = createContext(host);
  context.seenFiles.set("/project/f.txt", await markOf(content));
  const output = await call(editTool, { file_path: "f.txt", ...change }, context);
  return { ...output, after: host.text("/project/f.txt"), seen: context.seenFiles.get("/project/f.txt") };
}

const lines = (count: number, text = "line") =>
  Array.from({ length: count }, (_, index) => `${text} ${index + 1}\n`).join("");

describe("Edit", () => {
  it("replaces the text, remembers the new version and returns the changed lines", async () => {
    const { text, ...rest } = await edit("line1\nline2\n", { old_str: "line1", new_str: "edited" });
    const forModel = "Edited /project/f.txt\n-    1  line1\n+    1  edited\n     2  line2";
    expect(rest).toEqual({ status: "ok", forModel, after: "edited\nline2\n", seen: await markOf("edited\nline2\n") });
    expect(text).toBe(
      JSON.stringify({
        file_path: "/project/f.txt",
        diffLines: [
          { type: "removed", content: "line1", lineNumber: { old: 1 } },
          { type: "added", content: "edited", lineNumber: { new: 1 } },
          { type: "unchanged", content: "line2", lineNumber: { old: 2, new: 2 } },
        ],
        content: "edited\nline2\n",
      }),
    );
  });

  it("finds the last line of a file without a line end, and only there", async () => {
    const change = { old_str: "a\nb\n", new_str: "A\nB\n" };
    expect(await edit("a\nb", change)).toMatchObject({ status: "ok", after: "A\nB" });
    expect(await edit("x\r\na\r\nb", change)).toMatchObject({ status: "ok", after: "x\r\nA\r\nB" });
    for (const content of ["a\nb, c", "za\nb"]) {
      expect(await edit(content, change)).toMatchObject({ status: "failed", after: content });
    }
  });

  it("gives the model a limited part of a long change", async () => {
    const long = `${"x".repeat(500)}\n`;
    const { forModel = "" } = await edit(`${long}a\n${long}`, { old_str: "a\n", new_str: `${"b".repeat(900)}\n` });
    expect(forModel.split("\n").slice(1)).toEqual([
      `     1  ${"x".repeat(100)}…`,
      "-    2  a",
      `+    2  ${"b".repeat(300)}…`,
      `     3  ${"x".repeat(100)}…`,
    ]);
    const many = await edit(lines(200, "old"), { old_str: "old", new_str: "new", change_all: true });
    expect(jsonBytes(many.forModel ?? "")).toBeLessThanOrEqual(3100);
    expect(many.forModel).toMatch(/\n\[\d+ more lines omitted\]$/);
  });

  it("shows three lines around each change", async () => {
    const { text } = await edit(lines(40), { old_str: "line 20\n", new_str: "a\nb\n" });
    const shown = JSON.parse(text).diffLines.map(
      (line: { type: string; lineNumber: object }) => `${line.type} ${Object.values(line.lineNumber).join("/")}`,
    );
    expect(shown).toEqual([
      "unchanged 17/17",
      "unchanged 18/18",
      "unchanged 19/19",
      "removed 20",
      "added 20",
      "added 21",
      "unchanged 21/22",
      "unchanged 22/23",
      "unchanged 23/24",
    ]);
  });

  it("works on a file that was read or edited before in the session", async () => {
    const host = createMemoryHost({ "/project/f.txt": "a b" });
    const context = createContext(host);
    await call(readTool, { file_path: "f.txt" }, context);
    await call(editTool, { file_path: "f.txt", old_str: "a", new_str: "c" }, context);
    await call(editTool, { file_path: "/project/f.txt", old_str: "b", new_str: "d" }, context);
    expect(host.text("/project/f.txt")).toBe("c d");
  });

  it("takes new_str literally", async () => {
    expect((await edit("price", { old_str: "price", new_str: "$& $1 $$ $`" })).after).toBe("$& $1 $$ $`");
    expect((await edit("aXbX", { old_str: "X", new_str: "$&", change_all: true })).after).toBe("a$&b$&");
  });

  it("requires a unique place, or change_all", async () => {
    expect(await edit("x = 1\ny = x\n", { old_str: "x", new_str: "z" })).toEqual({
      status: "failed",
      text: "Error: The text to replace occurs 2 times in the file. Give more of the lines around it so that it is unique, or set change_all to replace every one.",
      after: "x = 1\ny = x\n",
      seen: await markOf("x = 1\ny = x\n"),
    });
    expect((await edit("aaa", { old_str: "aa", new_str: "b" })).text).toContain("2 times");
    expect((await edit("x = 1\ny = x\n", { old_str: "x", new_str: "z", change_all: true })).after).toBe(
      "z = 1\ny = z\n",
    );
  });

  it("reports a missing text, and shows the nearest place", async () => {
    const found = async (content: string, old_str: string) => (await edit(content, { old_str, new_str: "new" })).text;
    const missing =
      "Error: The text to replace was not found in the file. It must match exactly, with every space and line break. Read the file again and copy it from there.";
    expect([
      await found("one\n", "two"),
      await found("x\n", " \n "),
      await found("a\nfunction total(items) {\n  return 1;\n}\n", "function total(list) {\n  return 2;"),
    ]).toEqual([
      missing,
      missing,
      `${missing} The nearest place is:\n2→function total(items) {\n3→  return 1;\n4→}\n5→`,
    ]);
    const long = await found(`${lines(300)}${"y ".repeat(500)}\n`, `line 9\n${lines(60, "other")}`);
    expect(long.split("\n")).toHaveLength(13);
    const wide = await found(`x = ${"y ".repeat(50_000)}\n`, `x = ${"y ".repeat(1000)}z`);
    expect(wide.length).toBeLessThan(600);
  });

  it.each([
    [
      "other indentation",
      "a\n\t\tif (x) {\n\t\t\ty();\n\t\t}\n",
      "if (x) {\n    y();\n}",
      "if (x) {\n    z();\n    w();\n}",
      "a\n\t\tif (x) {\n\t\t\tz();\n\t\t\tw();\n\t\t}\n",
    ],
    [
      "too little context",
      "class A:\n    def f(self):\n        return 1\n",
      "def f(self):\n    return 1\n",
      "def f(self):\n    if x:\n        return 2\n    return 1\n",
      "class A:\n    def f(self):\n        if x:\n            return 2\n        return 1\n",
    ],
    [
      "too much context",
      "def f():\n    return 1\n",
      "    def f():\n        return 1",
      "    def f():\n        return 2\n\n    def g():\n        pass",
      "def f():\n    return 2\n\ndef g():\n    pass\n",
    ],
    [
      "tabs for spaces",
      "{\n    a\n        b\n}\n",
      "\ta\n\t\tb",
      "\ta\n\t\tb\n\t\t\tc",
      "{\n    a\n        b\n            c\n}\n",
    ],
    ["runs of spaces", "x  =   1; y = 2\n", "x = 1;", "x = 3;", "x = 3; y = 2\n"],
    ["spaces at the ends of lines", "a  \nb\t\nc\n", "a\nb", "d\ne", "d\ne\t\nc\n"],
    ["CRLF", "a\n b \r\nc\r\n", "b\nc", "d\ne", "a\n d\r\ne\r\n"],
    ["the numbers of Read", "a\nb\nc\n", "1→a\n2→b\n", "1→a\n2→x\n", "a\nx\nc\n"],
  ])("finds the one place that differs only in white space: %s", async (_, before, old_str, new_str, after) => {
    const { forModel, ...result } = await edit(before, { old_str, new_str });
    expect(result).toMatchObject({ status: "ok", after });
    expect(forModel).toMatch(/^Edited .*\n(?:old_str was found at line \d+ with different|Line numbers in)/);
  });

  it.each([
    ["occurs twice", "  a  b\n\ta  b\n", "a b", "x"],
    ["begins within a word", "prereturn  1\n", "  return 1", "  return 2"],
    ["makes no difference", "\ta\n", "  a", "    a"],
    ["has two kinds of indentation", "a:\n  b\n    c\n", "a:\n b\n c", "a:\n b\n d"],
    ["is only line numbers", "a\n", "1→", "2→"],
  ])("leaves a text unchanged that %s", async (_, before, old_str, new_str) => {
    expect(await edit(before, { old_str, new_str })).toMatchObject({ status: "failed", after: before });
  });

  it("shows an approver what a loose match would change", async () => {
    const host = createMemoryHost({ "/project/f": "\ta\n" });
    const input = { file_path: "f", old_str: "  a\n", new_str: "  b\n" };
    expect(await previewOf(editTool, input, createContext(host))).toEqual({
      type: "edit",
      path: "/project/f",
      oldContent: "\ta\n",
      newContent: "\tb\n",
    });
  });

  it("keeps CRLF line endings and a byte order mark", async () => {
    const { after, text } = await edit("\uFEFFa\r\nb\r\nc\r\n", { old_str: "a\nb", new_str: "a\nx\ny" });
    expect(after).toBe("\uFEFFa\r\nx\r\ny\r\nc\r\n");
    expect(JSON.parse(text).diffLines[1]).toEqual({ type: "removed", content: "b", lineNumber: { old: 2 } });
    expect((await edit("a\r\nb\r\n", { old_str: "b", new_str: "c\nd" })).after).toBe("a\r\nc\r\nd\r\n");
    expect((await edit("a\nb\r\nc\r\n", { old_str: "b\nc", new_str: "x\ny" })).after).toBe("a\nx\r\ny\r\n");
    expect((await edit("a\nb\r\n", { old_str: "a", new_str: "x\ny" })).after).toBe("x\ny\nb\r\n");
  });

  it("rejects edits that change nothing or have nothing to find", async () => {
    expect([
      (await edit("a", { old_str: "a", new_str: "a" })).text,
      (await edit("a", { old_str: "", new_str: "b" })).text,
    ]).toEqual([
      "Error: old_str and new_str are the same, so nothing would change.",
      "Error: old_str is empty. Use Create for a new file, or to replace a whole one.",
    ]);
  });

  it("rejects a file that is unread, changed, missing or not text", async () => {
    const host = createMemoryHost(
      {
        "/project/f": "a",
        "/project/latin": Buffer.from("a\xe9", "latin1"),
        "/project/d/x": "",
        "/project/huge": Buffer.alloc(10 * 1024 * 1024 + 1, "a"),
      },
      { others: ["/project/pipe"] },
    );
    const context = createContext(host);
    for (const name of ["latin", "huge"]) await call(readTool, { file_path: name, limit: 1 }, context);
    const results = [];
    const change = { old_str: "a", new_str: "b" };
    for (const file_path of ["f", "none", "d", "pipe", "latin", "huge", " "])
      results.push(await call(editTool, { file_path, ...change }, context));
    await call(readTool, { file_path: "f" }, context);
    host.put("/project/f", "a and more");
    results.push(await call(editTool, { file_path: "f", ...change }, context));
    expect(results).toEqual(
      [
        "Error: Cannot edit file that has not been read first: /project/f. Read it, then edit it.",
        "Error: Cannot edit file that does not exist: /project/none. Use Create to make it.",
        "Error: Cannot edit /project/d: it is not a regular file.",
        "Error: Cannot edit /project/pipe: it is not a regular file.",
        "Error: Cannot edit /project/latin: it is not UTF-8 text. Use Execute for such a change.",
        "Error: Cannot edit /project/huge: it is larger than 10 MiB. Use Execute for such a change.",
        "Error: file_path is required and must be a string",
        "Error: Cannot edit file that has changed since it was read: /project/f. Read it again, then edit it.",
      ].map((text) => ({ status: "failed", text })),
    );
    expect(host.text("/project/f")).toBe("a and more");
  });

  it("does not overwrite another program's change during the edit", async () => {
    const memory: MemoryHost = createMemoryHost({ "/project/f": "a" });
    const host: Host = {
      ...memory,
      files: {
        ...memory.files,
        async read(path, range) {
          const bytes = await memory.files.read(path, range);
          memory.put("/project/f", "theirs");
          return bytes;
        },
      },
    };
    const context = createContext(host);
    context.seenFiles.set("/project/f", await markOf("a"));
    expect((await call(editTool, { file_path: "f", old_str: "a", new_str: "b" }, context)).status).toBe("failed");
    expect(memory.text("/project/f")).toBe("theirs");
  });

  it("returns only the changed part of a large file", async () => {
    const { text } = await edit(lines(5000), { old_str: "line 2500\n", new_str: "changed\n" });
    const result = JSON.parse(text);
    expect(result.content).toBe("line 2497\nline 2498\nline 2499\nchanged\nline 2501\nline 2502\nline 2503");
    expect(result.note).toBe("content is only the changed part of the file.");
  });

  it("stays small and valid JSON whatever is replaced", async () => {
    const everywhere = await edit(lines(9000, 'say "line"'), {
      old_str: '"line"',
      new_str: '"汉\u0001"',
      change_all: true,
    });
    expect(everywhere.status).toBe("ok");
    expect(jsonBytes(everywhere.text)).toBeLessThanOrEqual(outputLimit);
    const { diffLines, note } = JSON.parse(everywhere.text);
    expect(diffLines[0]).toEqual({ type: "removed", content: 'say "line" 1', lineNumber: { old: 1 } });
    expect(note).toBe("More lines of the diff were omitted. content is only the changed part of the file.");

    const oneLine = await edit("x", { old_str: "x", new_str: "😀\u0001".repeat(100_000) });
    expect(jsonBytes(oneLine.text)).toBeLessThanOrEqual(outputLimit);
    const { content } = JSON.parse(oneLine.text);
    expect(content.length).toBeGreaterThan(1000);
    expect(content.replaceAll("😀", "").replaceAll("\u0001", "")).toBe("…");
  });

  it("does not build an excessively large file", async () => {
    const { text, after } = await edit("a".repeat(5000), { old_str: "a", new_str: "b".repeat(5000), change_all: true });
    expect(text).toBe("Error: The edited file would be too large. Use Execute for such a change.");
    expect(after).toBe("a".repeat(5000));
  });

  it("shows an approver the whole file before and after", async () => {
    const host = createMemoryHost({ "/project/f": "one two", "/project/big": "x".repeat(1024 * 1024 + 1) });
    const preview = (given: object) =>
      previewOf(editTool, { old_str: "two", new_str: "2", ...given }, createContext(host));
    expect([
      await preview({ file_path: "f" }),
      await preview({ file_path: "f", old_str: "three" }),
      await preview({ file_path: "f", old_str: "" }),
      await preview({ file_path: "none" }),
      await preview({ file_path: "big" }),
    ]).toEqual([
      { type: "edit", path: "/project/f", oldContent: "one two", newContent: "one 2" },
      { type: "edit", path: "/project/f", oldContent: "one two" },
      { type: "edit", path: "/project/f", oldContent: "one two" },
      { type: "edit", path: "/project/none" },
      { type: "edit", path: "/project/big" },
    ]);
  });
});

describe("replaceText", () => {
  const word = fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", " ", "$"), maxLength: 12 });

  it("changes exactly the given place, or nothing", async () => {
    await fc.assert(
      fc.asyncProperty(word, word, word, word, async (before, wanted, after, substitute) => {
        fc.pre(wanted !== "");
        const text = before + wanted + after;
        const result = await replaceText(
          { text, oldText: wanted, newText: substitute, everywhere: false },
          createPace(),
        );
        const unique = text.indexOf(wanted) === text.lastIndexOf(wanted);
        const crlf = /\r\n/.test(text) && !/(?<!\r)\n/.test(text);
        if (unique && !crlf) expect(result).toEqual({ ok: true, text: before + substitute + after });
        if (!unique) expect(result.ok).toBe(false);
      }),
    );
  });

  it("leaves no lone line feed in a file without any", async () => {
    await fc.assert(
      fc.asyncProperty(word, word, word, async (content, wanted, substitute) => {
        fc.pre(wanted !== "");
        const text = `${content.replace(/\r?\n/g, "\r\n")}\r\n`;
        const result = await replaceText(
          { text, oldText: wanted, newText: substitute, everywhere: true },
          createPace(),
        );
        if (result.ok) expect(result.text).not.toMatch(/(?<!\r)\n/);
      }),
    );
  });
});
