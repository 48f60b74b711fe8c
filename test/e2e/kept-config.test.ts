import { cp, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Bench, Finished } from "./tinman.ts";
import { createBench, mainFile } from "./tinman.ts";

let bench: Bench;
const config = (): string => join(bench.home, ".tinman", "config.yaml");
const kept = (): string => join(bench.home, ".tinman", "cache", "config.json");
beforeEach(async () => {
  bench = await createBench();
  await mkdir(join(bench.home, ".tinman"));
});
afterEach(() => bench.remove());

const ask = ["exec", "-m", "offline", "Just reply OK."];
const answered = { code: 0, stdout: "OK\n", stderr: "" };

test("a configuration that was checked is used again without what it takes to check it", async () => {
  await writeFile(config(), "models: [{id: mine, provider: ollama, model: m}]\n");
  const dist = join(bench.root, "dist");
  await cp(dirname(mainFile), dist, { recursive: true, preserveTimestamps: true });
  const run = (): Promise<Finished> =>
    bench.shell(`node '${join(dist, "main.cjs")}' ${ask.map((word) => `'${word}'`).join(" ")}`);
  expect(await run()).toMatchObject(answered);

  const broken: string[] = [];
  for (const name of (await readdir(dist)).filter((each) => each.endsWith(".cjs"))) {
    const text = await readFile(join(dist, name), "utf8");
    if (!/YAMLParseError|\b_zod\b/.test(text)) continue;
    broken.push(name);
    await writeFile(join(dist, name), "throw new Error('The checking was loaded.');\n");
  }
  expect(broken.length).toBeGreaterThan(1);
  expect(await run()).toMatchObject(answered);

  // That the trap works.
  await rm(kept());
  expect(await run()).toMatchObject({ code: 1, stderr: expect.stringContaining("The checking was loaded.") });
});

test("an edit counts at once, and an error is one every time", async () => {
  await writeFile(config(), "durability: turn\n");
  expect(await bench.tinman(ask)).toMatchObject(answered);
  await writeFile(config(), "durability: sometimes\n");
  for (let time = 0; time < 2; time += 1) {
    expect(await bench.tinman(ask)).toMatchObject({ code: 2, stderr: expect.stringContaining("durability: ") });
  }
  await writeFile(config(), "permissions: {deny: ['echo *']}\n");
  for (let time = 0; time < 2; time += 1) {
    expect(await bench.tinman(["policy", "explain", "--auto", "high", "echo x"])).toMatchObject({ code: 5 });
  }
  await writeFile(config(), "permissions: {deny: ['echo  y']}\n");
  expect(await bench.tinman(["policy", "explain", "--auto", "high", "echo x"])).toMatchObject({ code: 0 });
});

test("several processes at once keep it whole and leave nothing else behind", async () => {
  await writeFile(config(), "models: [{id: mine, provider: ollama, apiKey: sk-secret}]\n");
  const runs = await Promise.all(Array.from({ length: 5 }, () => bench.tinman(ask)));
  for (const run of runs) expect(run).toMatchObject(answered);
  const names = await readdir(dirname(kept()));
  expect(names.filter((name) => name.startsWith("config"))).toEqual(["config.json"]);
  expect((await stat(kept())).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(kept(), "utf8"))).toMatchObject({
    text: await readFile(config(), "utf8"),
    config: { models: { entries: [{ id: "mine", provider: "ollama", apiKey: "sk-secret" }] } },
  });
});
