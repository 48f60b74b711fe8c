import { chmod, lstat, mkdir, readFile, stat, symlink } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import {
  type CommandOutput,
  createCommandOutput,
  type KeptOutput,
} from "../../../src/host/processes/command-output.ts";
import { runCommand, saying, tempFolder } from "../support.ts";

async function keep(chunks: readonly (string | Uint8Array)[], keepBytes: number, spoolPath = ""): Promise<KeptOutput> {
  const output = createCommandOutput({ keepBytes, spoolPath });
  await pushAll(output, chunks);
  return output.finish();
}

async function pushAll(output: CommandOutput, chunks: readonly (string | Uint8Array)[]): Promise<void> {
  for (const chunk of chunks) await output.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
}

function whole(text: string, totalBytes = Buffer.byteLength(text)): KeptOutput {
  return { head: text, tail: "", skippedBytes: 0, skippedLines: 0, totalBytes };
}

describe("output kept whole", () => {
  test("is the head", async () => {
    expect(await keep(["abc\n", "def\n"], 100)).toEqual(whole("abc\ndef\n"));
    expect(await keep([], 100)).toEqual(whole(""));
  });

  test("up to twice the limit", async () => {
    const folder = await tempFolder();
    const fullTextPath = join(folder, "whole");
    expect(await keep(["abcdefgh"], 4, fullTextPath)).toEqual({ ...whole("abcdefgh"), fullTextPath });
  });

  test("has whole characters, wherever the chunks were cut", async () => {
    const text = "a é 你 🦊 z";
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await keep([bytes.subarray(0, cut), bytes.subarray(cut)], 100)).toEqual(whole(text));
    }
  });

  test("has a replacement character for invalid UTF-8", async () => {
    expect(await keep([Uint8Array.of(0x61, 0xff, 0x62, 0xc3), Uint8Array.of(0x28)], 100)).toEqual(
      whole("a\ufffdb\ufffd(", 5),
    );
  });
});

describe("too large output", () => {
  test("has head and tail, an exact count of what is between, and all of it in a private file", async () => {
    const spoolPath = join(await tempFolder(), "new", "whole.txt");
    const text = "1\n22\n333\n4444\n55555\n666666\n";
    const chunks = Array.from(text);
    expect(await keep(chunks, 6, spoolPath)).toEqual({
      head: "1\n22\n3",
      tail: "66666\n",
      skippedBytes: text.length - 12,
      skippedLines: 3,
      totalBytes: text.length,
      fullTextPath: spoolPath,
    });
    expect(await readFile(spoolPath, "utf8")).toBe(text);
    expect((await stat(spoolPath)).mode & 0o777).toBe(0o600);
  });

  test("leaves no file behind if the disk is full", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    await symlink("/dev/full", spoolPath);
    expect(await keep(["first ", "second ", "third"], 6, spoolPath)).toEqual({
      head: "first ",
      tail: " third",
      skippedBytes: 6,
      skippedLines: 0,
      totalBytes: 18,
    });
    await expect(lstat(spoolPath)).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("is the same for any chunking", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    const bytes = Buffer.from(Array.from({ length: 200 }, (_, index) => `${index} é🦊\n`).join(""));
    const expected = await keep([bytes], 101, spoolPath);
    for (const size of [1, 2, 3, 7, 100, 101, 102, 202, 203, 1000]) {
      const chunks: Uint8Array[] = [];
      for (let at = 0; at < bytes.length; at += size) chunks.push(bytes.subarray(at, at + size));
      expect(await keep(chunks, 101, spoolPath)).toEqual(expected);
      expect(await readFile(spoolPath)).toEqual(bytes);
    }
  });

  test("is cut at characters, and adds up", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    const text = "🦊".repeat(100);
    for (const keepBytes of [8, 9, 10, 11]) {
      const foxes = Math.floor(keepBytes / 4);
      expect(await keep([text], keepBytes, spoolPath)).toEqual({
        head: "🦊".repeat(foxes),
        tail: "🦊".repeat(foxes),
        skippedBytes: 400 - foxes * 8,
        skippedLines: 0,
        totalBytes: 400,
        fullTextPath: spoolPath,
      });
    }
  });

  test("can be dropped entirely", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    expect(await keep(["a\nb\n"], 0, spoolPath)).toEqual({
      head: "",
      tail: "",
      skippedBytes: 4,
      skippedLines: 2,
      totalBytes: 4,
      fullTextPath: spoolPath,
    });
  });

  test("beyond the file's limit is counted, and the file says how much is missing", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    const output = createCommandOutput({ keepBytes: 4, spoolPath, spoolCapBytes: 10 });
    await pushAll(output, ["abcdefgh", "ijklmnop", "qr"]);
    expect(await output.finish()).toMatchObject({
      head: "abcd",
      tail: "opqr",
      totalBytes: 18,
      fullTextPath: spoolPath,
    });
    expect(await readFile(spoolPath, "utf8")).toBe("abcdefghij\n[8 more bytes were dropped]\n");
  });

  test("names no file if it could not be written", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "a-folder"));
    const kept = await keep(["abcdefghijkl"], 4, join(folder, "a-folder"));
    expect(kept).toEqual({ head: "abcd", tail: "ijkl", skippedBytes: 4, skippedLines: 0, totalBytes: 12 });
  });

  test("replaces the file's content, and keeps it private", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    await keep(["a long text that was there before"], 4, spoolPath);
    await chmod(spoolPath, 0o600);
    await keep(["abcdefghijkl"], 4, spoolPath);
    expect(await readFile(spoolPath, "utf8")).toBe("abcdefghijkl");
  });
});

describe("the latest output", () => {
  test("is the end so far, in whole characters", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    const output = createCommandOutput({ keepBytes: 8, spoolPath });
    const seen: string[] = [];
    for (const chunk of ["", "ab", "cdefgh", "ij", "klmnopqr", "🦊"]) {
      await output.push(Buffer.from(chunk));
      seen.push(output.latest(4));
    }
    expect(seen).toEqual(["", "ab", "efgh", "ghij", "opqr", "🦊"]);
    expect(output.latest(3)).toBe("");
    await output.finish();
  });
});

describe("a command's output", () => {
  test("of one line of 300,000 characters is cut in the middle and whole in the file", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    const result = await runCommand("head -c 300000 /dev/zero | tr '\\0' y", { spoolPath, keepBytes: 1000 });
    expect(result).toEqual({
      end: { type: "exit", code: 0 },
      head: "y".repeat(1000),
      tail: "y".repeat(1000),
      skippedBytes: 298_000,
      skippedLines: 0,
      totalBytes: 300_000,
      fullTextPath: spoolPath,
    });
    expect(await readFile(spoolPath, "utf8")).toBe("y".repeat(300_000));
  });

  test("that is not UTF-8 is still readable", async () => {
    const result = await runCommand("printf 'a\\xffb\\xc3'; sleep 0.1; printf '\\xa9!'");
    expect(result).toEqual({ ...saying("a\ufffdbé!"), totalBytes: 6 });
  });

  test("is complete if the command exits right after writing", async () => {
    for (let round = 0; round < 10; round += 1) {
      const result = await runCommand("head -c 60000 /dev/zero | tr '\\0' z; sleep 500 &", { keepBytes: 100_000 });
      expect(result).toEqual(saying("z".repeat(60_000)));
    }
  });

  test("ends with a time limit that stops an endless writer", async () => {
    const spoolPath = join(await tempFolder(), "whole");
    const result = await runCommand("yes", { timeoutMs: 300, spoolPath, keepBytes: 1000 });
    expect(result).toMatchObject({ end: { type: "timeout" }, head: "y\n".repeat(500), fullTextPath: spoolPath });
    expect((await stat(spoolPath)).size).toBe(result.totalBytes);
  });
});
