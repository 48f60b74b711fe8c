import { describe, expect, it } from "vitest";
import type { Host } from "../../../src/engine/ports.ts";
import { jsonBytes, modelOutputLimit, outputLimit } from "../../../src/text/output.ts";
import { readTool } from "../../../src/tools/read/read.ts";
import { markOf } from "../../../src/tools/seen-files.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { asClientsSee, call, createContext } from "../call.ts";

async function readBoth(content: string | Uint8Array, input: object = {}) {
  const context = createContext(createMemoryHost({ "/project/f": content }));
  return call(readTool, { file_path: "f", ...input }, context);
}

async function read(content: string | Uint8Array, input: object = {}) {
  return asClientsSee(await readBoth(content, input));
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join("");

describe("Read", () => {
  it("returns a small file unchanged and remembers its version", async () => {
    const context = createContext(createMemoryHost({ "/project/src/a.ts": "one\r\ntwo\n\nfour" }));
    expect(await call(readTool, { file_path: "src/a.ts" }, context)).toEqual({
      status: "ok",
      text: "one\r\ntwo\n\nfour",
      forModel: "1→one\r\n2→two\n3→\n4→four",
    });
    expect([...context.seenFiles]).toEqual([["/project/src/a.ts", await markOf("one\r\ntwo\n\nfour")]]);
  });

  it("keeps a final newline, drops a byte order mark, and has a message for an empty file", async () => {
    expect(await read("a\n")).toEqual({ status: "ok", text: "a\n" });
    expect(await read("\uFEFFa\n\uFEFFb")).toEqual({ status: "ok", text: "a\n\uFEFFb" });
    expect(await read("")).toEqual({ status: "ok", text: "[The file is empty.]" });
    expect(await read("\uFEFF")).toEqual({ status: "ok", text: "[The file is empty.]" });
  });

  it("skips `offset` lines, returns `limit` lines and says how to continue", async () => {
    expect(await read(numbered(5), { offset: 1, limit: 2 })).toEqual({
      status: "ok",
      text: "line 2\nline 3\n\n[Lines 2-3. The file continues: Read it with offset 3 for the rest.]",
    });
    expect(await read(numbered(5), { offset: 3 })).toEqual({
      status: "ok",
      text: "line 4\nline 5\n\n[Lines 4-5, the last of the file.]",
    });
    expect(await read("a\nb", { offset: 1 })).toEqual({
      status: "ok",
      text: "b\n\n[Lines 2-2, the last of the file.]",
    });
    expect(await read(numbered(3), { limit: 3 })).toEqual({ status: "ok", text: numbered(3) });
  });

  it("gives the model the same lines with their numbers", async () => {
    expect(await readBoth(numbered(12), { offset: 8, limit: 3 })).toEqual({
      status: "ok",
      text: "line 9\nline 10\nline 11\n\n[Lines 9-11. The file continues: Read it with offset 11 for the rest.]",
      forModel:
        " 9→line 9\n10→line 10\n11→line 11\n\n[Lines 9-11. The file continues: Read it with offset 11 for the rest.]",
    });
    const longest = await readBoth(`${"x".repeat(14)}\n`.repeat(2400));
    expect(jsonBytes(longest.forModel ?? "")).toBeLessThanOrEqual(modelOutputLimit);
  });

  it("stops after 2,400 lines if no limit is given", async () => {
    const { text } = await read(numbered(3000));
    expect(text).toBe(`${numbered(2400)}\n[Lines 1-2400. The file continues: Read it with offset 2400 for the rest.]`);
  });

  it("stops before its result would be cut, and the rest can be read on from there", async () => {
    const content = Array.from({ length: 200 }, (_, index) => `${index} ${"\t".repeat(600)}\n`).join("");
    let collected = "";
    let offset = 0;
    for (let round = 0; round < 20; round += 1) {
      const { text } = await read(content, { offset });
      expect(jsonBytes(text)).toBeLessThanOrEqual(outputLimit);
      const note = text.lastIndexOf("\n[Lines ");
      collected += text.slice(0, note);
      const next = /offset (\d+) for/.exec(text.slice(note));
      if (next === null) break;
      offset = Number(next[1]);
    }
    expect(collected).toBe(content);
  });

  it("cuts long lines with a mark and never through a character", async () => {
    expect(await read(`${"x".repeat(2500)}\nshort\n`)).toEqual({
      status: "ok",
      text: `${"x".repeat(2000)}… [line cut: 500 more bytes]\nshort\n`,
    });
    expect(await read(`a${"😀".repeat(3000)}`)).toEqual({
      status: "ok",
      text: `a${"😀".repeat(999)}… [line cut: ${4 * 2001} more bytes]`,
    });
    expect(await read(`a${"汉".repeat(300_000)}\nb`, { limit: 5 })).toEqual({
      status: "ok",
      text: `a${"汉".repeat(1999)}… [line cut: ${3 * 298_001} more bytes]\nb`,
    });
  });

  it("marks bytes that are not UTF-8 and says so", async () => {
    expect(await read(Buffer.from("caf\xe9\n", "latin1"))).toEqual({
      status: "ok",
      text: "caf\uFFFD\n\n[Some bytes are not UTF-8 and are shown as \uFFFD.]",
    });
  });

  it("reads UTF-16 with a byte order mark, which Edit cannot change", async () => {
    const little = Buffer.from("\uFEFFeins\r\nzwei 😀\n", "utf16le");
    const host = createMemoryHost({ "/project/le.txt": little, "/project/be.txt": Buffer.from(little).swap16() });
    const context = createContext(host);
    const note = "[The file is UTF-16, which Edit cannot change.]";
    for (const file_path of ["le.txt", "be.txt"])
      expect(await call(readTool, { file_path }, context)).toEqual({
        status: "ok",
        text: `eins\r\nzwei 😀\n\n${note}`,
        forModel: `1→eins\r\n2→zwei 😀\n\n${note}`,
      });
    expect(await call(readTool, { file_path: "le.txt", offset: 1 }, context)).toEqual({
      status: "ok",
      text: `zwei 😀\n\n[Lines 2-2, the last of the file.]\n${note}`,
      forModel: `2→zwei 😀\n\n[Lines 2-2, the last of the file.]\n${note}`,
    });
  });

  it("reads long UTF-16 in pieces without losing characters between them", async () => {
    const text = `x${"😀ä".repeat(500)}\n`.repeat(300);
    const odd = Buffer.from(`\uFEFF${text}`, "utf16le");
    const memory = createMemoryHost({ "/project/f": odd });
    const host: Host = {
      ...memory,
      files: {
        ...memory.files,
        read: (path, { from = 0, maxBytes }) => memory.files.read(path, { from, maxBytes: Math.min(maxBytes, 4099) }),
      },
    };
    const { text: last } = await call(readTool, { file_path: "f", offset: 299 }, createContext(host));
    expect(last).toBe(
      `x${"😀ä".repeat(500)}\n\n[Lines 300-300, the last of the file.]\n[The file is UTF-16, which Edit cannot change.]`,
    );
  });

  it("does not mistake a binary file for UTF-16", async () => {
    expect(await read(Buffer.from([0xff, 0xfe, 0, 0, 0x61, 0, 0, 0]))).toEqual({
      status: "failed",
      text: "Error: Error reading file: /project/f is a binary file (or text that is not UTF-8). Use Execute with a program that understands it.",
    });
    expect((await read(Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x61, 0x00]))).status).toBe("failed");
  });

  it("rejects binary files, broken images and non-files, with a message", async () => {
    const host = createMemoryHost(
      {
        "/project/a.bin": new Uint8Array([1, 0, 2]),
        "/project/p.PNG": new Uint8Array([0x89, 0x50, 0]),
        "/project/d/x": "",
      },
      { others: ["/project/pipe"] },
    );
    const context = createContext(host);
    const results = [];
    for (const file_path of ["a.bin", "p.PNG", "d", "pipe", "missing.txt", " "])
      results.push(await call(readTool, { file_path }, context));
    expect(results).toEqual(
      [
        "Error: Error reading file: /project/a.bin is a binary file (or text that is not UTF-8). Use Execute with a program that understands it.",
        "Error: Error reading file: /project/p.PNG has an image's name, but not the content of a supported type (PNG, JPEG, GIF, WebP): it is damaged, or of another type.",
        "Error: Error reading file: /project/d is a directory. Use LS to list it.",
        "Error: Error reading file: /project/pipe is not a regular file.",
        "Error: Error reading file: ENOENT: no such file: /project/missing.txt",
        "Error: file_path is required and must be a string",
      ].map((text, index) => ({ status: "failed", text, ...(index === 2 ? { cause: "is_directory" } : {}) })),
    );
    expect([...context.seenFiles]).toEqual([]);
  });

  it("answers invalid offsets and limits with the valid ones", async () => {
    expect([
      await read("a\nb\n", { offset: -1 }),
      await read("a\nb\n", { limit: 0 }),
      await read("a\nb\n", { offset: 9 }),
    ]).toEqual([
      { status: "failed", text: "Error: offset is the number of lines to skip: 0 or more" },
      { status: "failed", text: "Error: limit is the number of lines to return: 1 or more" },
      { status: "failed", text: "Error: Error reading file: offset 9 is past the end: /project/f has 2 lines." },
    ]);
  });

  it("reads a huge file in pieces, and no further than necessary", async () => {
    const huge = 400 * 1024 * 1024;
    const reads: { from: number; length: number }[] = [];
    const line = Buffer.from(`${"y".repeat(63)}\n`);
    const memory = createMemoryHost({ "/project/huge.log": "" });
    const host: Host = {
      ...memory,
      files: {
        ...memory.files,
        stat: async () => ({ kind: "file", size: huge, mtimeMs: 0, mode: 0o644, version: "v1" }),
        async read(_path, { from = 0, maxBytes }) {
          const length = Math.min(maxBytes, huge - from);
          reads.push({ from, length });
          return Buffer.alloc(length, line);
        },
      },
    };
    const { text } = await call(readTool, { file_path: "huge.log", offset: 100_000, limit: 1 }, createContext(host));
    expect(text).toBe(
      `${"y".repeat(63)}\n\n[Lines 100001-100001. The file continues: Read it with offset 100001 for the rest.]`,
    );
    expect(Math.max(...reads.map((range) => range.length))).toBeLessThanOrEqual(1024 * 1024);
    expect(Math.max(...reads.map((range) => range.from + range.length))).toBeLessThan(8 * 1024 * 1024);
  });

  it("stops when it is interrupted", async () => {
    const context = createContext(createMemoryHost({ "/project/f": "a" }), { signal: AbortSignal.abort() });
    expect(await call(readTool, { file_path: "f" }, context)).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
  });
});
