import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "../../e2e/tinman.ts";
import { createBench } from "../../e2e/tinman.ts";

const folder = fileURLToPath(new URL("../../../schema/", import.meta.url));

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

test("lists all schemas and prints each checked-in file", async () => {
  const list = await bench.tinman(["schema"]);
  const listed = list.stdout
    .trimEnd()
    .split("\n")
    .map((line) => line.split(" ")[0] ?? "");
  expect([list.code, list.stderr, [...listed].sort()]).toEqual([
    0,
    "",
    (await readdir(folder)).map((name) => name.replace(".schema.json", "")).sort(),
  ]);
  for (const name of listed) {
    const { code, stdout, stderr } = await bench.tinman(["schema", name]);
    expect([code, stderr, stdout]).toEqual([0, "", await readFile(`${folder}${name}.schema.json`, "utf8")]);
  }
});

test("rejects an unknown name as a usage error", async () => {
  const { code, stdout, stderr } = await bench.tinman(["schema", "../package"]);
  expect([code, stdout, stderr]).toEqual([
    2,
    "",
    'tinman: Unknown schema "../package". Available: exec-json, exec-stream-json, stream-jsonrpc, interactive, sdk, config, script.\n',
  ]);
});
