import { mkdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createNodeHost } from "../../src/host/node-host.ts";
import { saying, tempFolder } from "./support.ts";

test("output paths are fresh, in a private folder per session", async () => {
  const outputsDir = join(await tempFolder(), "outputs");
  const host = createNodeHost({ outputsDir });
  expect(await host.outputPath("session-1", "execute")).toBe(join(outputsDir, "session-1", "1-execute.txt"));
  expect(await host.outputPath("session-1", "grep")).toBe(join(outputsDir, "session-1", "2-grep.txt"));
  expect(await host.outputPath("session-2", "execute")).toBe(join(outputsDir, "session-2", "1-execute.txt"));
  expect((await stat(join(outputsDir, "session-1"))).mode & 0o777).toBe(0o700);
  expect((await stat(outputsDir)).mode & 0o777).toBe(0o700);
});

test("output paths stay fresh for parallel callers and a later process", async () => {
  const outputsDir = await tempFolder();
  const host = createNodeHost({ outputsDir });
  const paths = await Promise.all(Array.from({ length: 20 }, () => host.outputPath("s", "x")));
  expect(new Set(paths).size).toBe(20);
  await writeFile(join(outputsDir, "s", "17-x.txt"), "");
  expect(await createNodeHost({ outputsDir }).outputPath("s", "x")).toBe(join(outputsDir, "s", "18-x.txt"));
});

test("output paths are writable even if a folder above them is the user's link", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, "disk"));
  await symlink("disk", join(folder, "home"));
  const host = createNodeHost({ outputsDir: join(folder, "home", "outputs") });
  const path = await host.outputPath("s", "execute");
  expect(path).toBe(join(folder, "disk", "outputs", "s", "1-execute.txt"));
  await host.files.write(path, "whole");
  expect(await readFile(join(folder, "home", "outputs", "s", "1-execute.txt"), "utf8")).toBe("whole");
});

test("no name leads out of the folder", async () => {
  const outputsDir = await tempFolder();
  const host = createNodeHost({ outputsDir });
  expect(await host.outputPath("../../etc", "../pass wd/ü\0")).toBe(join(outputsDir, "__.._etc", "1-__pass_wd_.txt"));
  expect(await host.outputPath("..", "")).toBe(join(outputsDir, "_", "1-_.txt"));
  expect(await host.outputPath("s", "x".repeat(500))).toBe(join(outputsDir, "s", `1-${"x".repeat(60)}.txt`));
});

test("the host has this machine's files, processes and search", async () => {
  const folder = await tempFolder();
  const host = createNodeHost({ outputsDir: join(folder, "outputs"), passEnvironment: ["PASSED_TOKEN"] });
  process.env.PASSED_TOKEN = "passed";
  process.env.KEPT_TOKEN = "kept";
  try {
    await host.files.write(join(folder, "a.txt"), "needle\n");
    const signal = new AbortController().signal;
    const query = { folder, include: ["*.txt"], exclude: [], limit: 10 };
    expect(await host.search.glob(query, signal)).toEqual({ lines: ["./a.txt"], truncated: false });
    const spec = {
      command: 'cat a.txt; echo "$PASSED_TOKEN,$KEPT_TOKEN"',
      cwd: folder,
      timeoutMs: 20_000,
      spoolPath: await host.outputPath("s", "execute"),
      keepBytes: 1000,
      onProgress: () => undefined,
    };
    expect(await host.processes.run(spec, signal)).toEqual(saying("needle\npassed,\n"));
  } finally {
    delete process.env.PASSED_TOKEN;
    delete process.env.KEPT_TOKEN;
  }
});
