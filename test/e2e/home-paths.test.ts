import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openWire } from "../fakes/rpc/wire.ts";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  await mkdir(join(bench.home, ".ssh"));
  await writeFile(join(bench.home, ".ssh", "id"), "PRIVATE\n");
  await mkdir(join(bench.home, "notes"));
});
afterAll(() => bench.remove());

const call = (name: string, input: object) => ({ tool_calls: [{ name, input }] });

test("~/ means the home in decisions", async () => {
  for (const reply of [
    call("Read", { file_path: "~/.ssh/id" }),
    call("Create", { file_path: "~/.bashrc", content: "x" }),
    call("LS", { directory_path: "~/.ssh" }),
  ]) {
    const run = await bench.tinman(["exec", "--auto", "medium", "-o", "json", "-m", await bench.script([reply]), "go"]);
    expect([run.code, run.stdout.includes("PRIVATE")]).toEqual([5, false]);
  }
  const model = await bench.script([call("Create", { file_path: "~/notes/a.txt", content: "a" }), { text: "done" }]);
  const run = await bench.tinman(["exec", "--skip-permissions-unsafe", "-m", model, "go"]);
  expect([run.code, await readFile(join(bench.home, "notes", "a.txt"), "utf8")]).toEqual([0, "a"]);
  expect(await readdir(bench.cwd)).toEqual([]);
});

test("a working directory can be in the own home, but not in another user's", async () => {
  const run = await bench.tinman(["exec", "-o", "stream-json", "--cwd=~/notes", "Just reply OK."]);
  expect(JSON.parse(run.stdout.split("\n")[0] ?? "").cwd).toBe(join(bench.home, "notes"));
  const listed = JSON.parse((await bench.tinman(["sessions", "--json", "--cwd=~/notes"])).stdout);
  expect(listed).toHaveLength(1);
  const other = await bench.tinman(["exec", "--cwd=~nobody", "Just reply OK."]);
  expect([other.code, other.stderr]).toEqual([
    2,
    'tinman: ~nobody begins with "~". Only "~/", your home, is supported. Give the whole path, or "./~nobody" for a file of that name.\n',
  ]);
  const wire = openWire(bench);
  const { result } = await wire.request("droid.initialize_session", { machineId: "m", cwd: "~/notes" });
  wire.eof();
  expect((await wire.exit()).code).toBe(0);
  const [newest] = JSON.parse((await bench.tinman(["sessions", "--json"])).stdout);
  expect(newest).toMatchObject({ id: result?.sessionId, cwd: join(bench.home, "notes") });
});
