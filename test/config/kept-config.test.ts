import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadUserConfig } from "../../src/config/load.ts";

let home: string;
const kept = (): string => join(home, "cache", "config.json");
const write = (text: string): Promise<void> => writeFile(join(home, "config.yaml"), text);

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tinman-kept-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

test("what a configuration means is kept for the next run, for the user alone", async () => {
  await write("model: offline\nmodels:\n  - id: a\n    provider: ollama\n");
  const config = await loadUserConfig(home);
  expect(config).toEqual({ model: "offline", models: { entries: [{ id: "a", provider: "ollama" }] } });
  expect(await loadUserConfig(home)).toEqual(config);
  expect((await stat(kept())).mode & 0o777).toBe(0o600);
  expect(await readdir(join(home, "cache"))).toEqual(["config.json"]);
});

test("what is kept is taken instead of reading the text again", async () => {
  await write("model: offline\n");
  await loadUserConfig(home);
  const file = JSON.parse(await readFile(kept(), "utf8")) as { config: { model: string } };
  await writeFile(kept(), JSON.stringify({ ...file, config: { model: "kept" } }));
  expect(await loadUserConfig(home)).toEqual({ model: "kept" });
});

test.each([
  ["the text changed", { text: "model: other\n" }],
  ["another version kept it", { version: "0.0.0" }],
])("not when %s", async (_, change) => {
  await write("model: offline\n");
  await loadUserConfig(home);
  const file = JSON.parse(await readFile(kept(), "utf8")) as object;
  await writeFile(kept(), JSON.stringify({ ...file, config: { model: "kept" }, ...change }));
  expect(await loadUserConfig(home)).toEqual({ model: "offline" });
  expect(JSON.parse(await readFile(kept(), "utf8"))).toEqual({ ...file, config: { model: "offline" } });
});

test.each(["", "{", "null", "[]", '"text"'])("what cannot be read is as good as not there: %j", async (text) => {
  await write("model: offline\n");
  await mkdir(join(home, "cache"));
  await writeFile(kept(), text);
  expect(await loadUserConfig(home)).toEqual({ model: "offline" });
});

test("a configuration that is refused is refused every time", async () => {
  await write("model: offline\n");
  await loadUserConfig(home);
  await write("modle: offline\n");
  for (let time = 0; time < 2; time += 1) await expect(loadUserConfig(home)).rejects.toThrow("config.yaml");
});

test("where nothing can be kept, nothing is", async () => {
  await write("model: offline\n");
  await writeFile(join(home, "cache"), "a file where the folder would be");
  expect(await loadUserConfig(home)).toEqual({ model: "offline" });
});
