import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
  await mkdir(join(bench.home, ".tinman"));
});
afterEach(() => bench.remove());

const config = (): string => join(bench.home, ".tinman", "config.yaml");

test("commands do not get variables that models name, unless passed explicitly", async () => {
  const entry = {
    id: "mine",
    provider: "openai-compatible",
    baseUrl: `https://$${"{PLACE}"}/v1`,
    apiKey: `$${"{SESAME}"}`,
    headers: { "X-Team": `$${"{TEAM}"}` },
  };
  const env = {
    SESAME: "open-word",
    PLACE: "place-word",
    TEAM: "team-word",
    OTHER: "other-word",
    GROQ_API_KEY: "key-word",
  };
  const words = async (more: object): Promise<readonly string[]> => {
    await writeFile(config(), JSON.stringify({ models: [entry], ...more }));
    const model = await bench.script([
      { tool_calls: [{ name: "Execute", input: { command: "env" } }] },
      { text: "done" },
    ]);
    const run = await bench.tinman(["exec", "-m", model, "--auto", "high", "-o", "stream-json", "go"], { env });
    expect(run.code).toBe(0);
    return [...new Set(run.stdout.match(/\b(open|place|team|other|key)-word\b/g))].sort();
  };
  expect(await words({})).toEqual(["other-word"]);
  expect(await words({ passEnvironment: ["SESAME"] })).toEqual(["open-word", "other-word"]);
});
