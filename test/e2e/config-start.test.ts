import { cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench, mainFile } from "./tinman.ts";

let bench: Bench;
const inHome = (...names: readonly string[]): string => join(bench.home, ".tinman", ...names);
beforeEach(async () => {
  bench = await createBench();
  await mkdir(inHome());
});
afterEach(() => bench.remove());

const ask = ["exec", "-m", "offline", "Just reply OK."];
const answered = { code: 0, stdout: "OK\n", stderr: "" };

/** The program with some of its files replaced by ones that throw. */
async function without(pattern: RegExp): Promise<string> {
  const dist = join(bench.root, "dist");
  await cp(dirname(mainFile), dist, { recursive: true });
  const names = (await readdir(dist)).filter((name) => name.endsWith(".cjs"));
  const texts = await Promise.all(names.map((name) => readFile(join(dist, name), "utf8")));
  const broken = names.filter((_, index) => pattern.test(texts[index] ?? ""));
  expect(broken).not.toEqual([]);
  for (const name of broken) await writeFile(join(dist, name), "throw new Error('It was loaded.');\n");
  return join(dist, "main.cjs");
}

test.each([
  [/\b_zod\b/, answered],
  // Proves that the trap works.
  [/YAMLParseError/, { code: 1, stderr: expect.stringContaining("It was loaded.") }],
])("reads a configuration without zod: %s", async (pattern, expected) => {
  const everything = "models: [{id: mine, provider: ollama, model: m}]\npermissions: {deny: ['git push *']}\n";
  await writeFile(inHome("config.yaml"), everything);
  const program = await without(pattern);
  expect(await bench.shell(`node '${program}' exec -m offline 'Just reply OK.'`)).toMatchObject(expected);
});

test("no copy of a key is left in the home, and copies of earlier builds are removed", async () => {
  await writeFile(inHome("config.yaml"), "models: [{id: mine, provider: ollama, apiKey: sk-secret}]\n");
  await mkdir(inHome("cache", "config.json.1-folder"), { recursive: true });
  for (const name of ["config.json", "config.json.77-k2x9", "other.json", "config.json.bak"]) {
    await writeFile(inHome("cache", name), name);
  }
  expect(await bench.tinman(ask)).toMatchObject(answered);
  const left = await readdir(inHome("cache"));
  expect(left.filter((name) => /^(?:config|other)/.test(name)).toSorted()).toEqual([
    "config.json.1-folder",
    "config.json.bak",
    "other.json",
  ]);
  const files = await readdir(inHome(), { recursive: true, withFileTypes: true });
  const texts = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  expect(texts.filter((text) => text.includes("sk-secret"))).toHaveLength(1);
});

test("an edit takes effect at once, and an error is reported every time", async () => {
  const write = (text: string): Promise<void> => writeFile(inHome("config.yaml"), text);
  await write("durability: turn\n");
  expect(await bench.tinman(ask)).toMatchObject(answered);
  await write("durability: sometimes\n");
  for (let time = 0; time < 2; time += 1) {
    expect(await bench.tinman(ask)).toMatchObject({ code: 2, stderr: expect.stringContaining("durability: ") });
  }
  await write("permissions: {deny: ['echo *']}\n");
  expect(await bench.tinman(["policy", "explain", "--auto", "high", "echo x"])).toMatchObject({ code: 5 });
});
