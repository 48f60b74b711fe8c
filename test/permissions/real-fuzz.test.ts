import { afterAll, beforeAll, expect, test } from "vitest";
import { isFullRun } from "../full-run.ts";
import { realCommand } from "./real-commands.ts";
import { type RealWorld, realWorld } from "./real-world.ts";

let world: RealWorld;
const saved = { PATH: process.env.PATH, HOME: process.env.HOME };
beforeAll(() => {
  world = realWorld();
  // The policy looks up programs, variables and homes in this process's environment.
  process.env.PATH = world.path;
  process.env.HOME = world.home;
});
afterAll(() => {
  Object.assign(process.env, saved);
  world.remove();
});

test("the comparison detects what a wrong judge would allow", async () => {
  const found = [
    await world.try("PATH=1; ls", "read"),
    await world.try("RUSTC=./evil cargo build", "medium"),
    await world.try("cat ~/.ssh/id_rsa", "read"),
    await world.try("wget http://127.0.0.1/linked.tgz", "medium"),
    await world.try("echo x > ../other/file.txt", "low"),
    await world.try("touch new.txt", "low"),
  ];
  expect(found.map(({ faults }) => faults)).toEqual([
    ["changed MARK"],
    ["changed MARK"],
    ["printed a secret"],
    ["changed home/.bashrc"],
    ["changed home/other/file.txt"],
    [],
  ]);
});

test("commands that run at a level do no more than the level allows", async ({ annotate }) => {
  const count = isFullRun ? 5000 : 100;
  const classes: Record<string, number> = {};
  const faults: object[] = [];
  let changed = 0;
  for (let seed = 1; seed <= count; seed += 1) {
    const command = realCommand(seed);
    const outcome = await world.try(command);
    classes[outcome.class] = (classes[outcome.class] ?? 0) + 1;
    changed += outcome.changed ? 1 : 0;
    if (outcome.faults.length > 0) faults.push({ seed, command, ...outcome });
  }
  await annotate(JSON.stringify({ count, changed, ...classes }));
  expect(faults).toEqual([]);
  // The result is meaningful only if enough commands really run and change something.
  expect([changed / count > 0.02, (classes.above ?? 0) / count < 0.9]).toEqual([true, true]);
}, 1_800_000);
