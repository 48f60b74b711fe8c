import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { DecisionContext } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { tempFolder } from "./support.ts";

const host = createNodeHost({ outputsDir: "/nowhere" });
const policy = createPermissionPolicy(() => "bash");

/** A workspace in a home, with these links: what runs there at the level `high`. */
async function workspace(links: Readonly<Record<string, string>>) {
  const home = await tempFolder();
  const cwd = join(home, "ws");
  for (const folder of ["ws/out", "ws/packages/a", "other", ".ssh"])
    await mkdir(join(home, folder), { recursive: true });
  await writeFile(join(home, "other", "x.test.js"), "");
  for (const [path, target] of Object.entries(links)) await symlink(target, join(cwd, path));
  if (links.node_modules === undefined) {
    await mkdir(join(cwd, "node_modules", ".bin"), { recursive: true });
    await writeFile(join(cwd, "node_modules", ".bin", "vite"), "#!/bin/sh\n", { mode: 0o755 });
  }
  const context: DecisionContext = {
    ...{ tool: "Execute", autonomy: "high", mode: "auto", approver: true, unsafe: false, enabledTools: [] },
    ...{ cwd, readable: [], home, ownHome: join(home, ".tinman"), temp: "/nowhere/temp" },
    rules: { allow: [], deny: [], alwaysDeny: [] },
  };
  return async (...commands: readonly string[]) => {
    const decided = commands.map(async (command) => {
      const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, context);
      const { verdict, class: found } = policy.decide(accesses, context);
      return [command, verdict === "ask" ? "asked" : found] as const;
    });
    return Object.fromEntries(await Promise.all(decided));
  };
}

const builds = ["npm ci", "npm test", "cargo build", "yarn install", "cd packages && npm ci"];

test("builds and unpacking run unless a link is in the way", async () => {
  const decide = await workspace({ "src-link": "packages/a", "out/here": "../packages" });
  const unpacking = ["tar -xf a.tar -C out", "unzip -o a.zip -d out", "npx vite build --outDir out/here"];
  expect(await decide(...builds, ...unpacking)).toEqual(
    Object.fromEntries([...builds, ...unpacking].map((command) => [command, "medium"])),
  );
});

test.each<[string, string, string]>([
  ["node_modules", "..", "asked"],
  ["target", "/", "asked"],
  ["packages/a/node_modules", "../../..", "asked"],
  ["node_modules", "../other", "high"],
  ["node_modules", "packages/a", "medium"],
])("a build whose folder %s is a link to %s: %s", async (link, target, found) => {
  const decide = await workspace({ [link]: target });
  expect(await decide("npm ci", "cargo build")).toEqual({ "npm ci": found, "cargo build": found });
});

test("asks about unpacking or building through a link to the home", async () => {
  const decide = await workspace({ "out/up": "../.." });
  const commands = [
    ...["tar -xf a.tar -C out", "unzip -o a.zip -d out", "npx vite build --outDir out/up", "tsc --outDir out/up"],
    ...["cargo build --target-dir out/up", "tar -xf a.tar"],
  ];
  expect(await decide(...commands)).toEqual(Object.fromEntries(commands.map((command) => [command, "asked"])));
});

test("judges a link by its target from its own folder, with all its content", async () => {
  const decide = await workspace({});
  expect(
    await decide(
      "ln -s ../../.ssh out/s",
      "cd out && ln -s ../../.ssh x",
      "ln -s .. up",
      "ln -s / root",
      "ln -s .. build && npm ci",
      "ln -s ../packages/a out/a",
      "ln -s ../../other out/o",
    ),
  ).toEqual({
    "ln -s ../../.ssh out/s": "asked",
    "cd out && ln -s ../../.ssh x": "asked",
    "ln -s .. up": "asked",
    "ln -s / root": "asked",
    "ln -s .. build && npm ci": "asked",
    "ln -s ../packages/a out/a": "low",
    "ln -s ../../other out/o": "low",
  });
});

test("does not run projects outside the workspace as the workspace's", async () => {
  const decide = await workspace({ lb: "../other" });
  const linked = ["node --test lb/x.test.js", "pytest lb", "python3 -m unittest discover -s lb", "npx tsc -p lb"];
  expect(await decide(...linked)).toEqual(Object.fromEntries(linked.map((command) => [command, "high"])));
  const commands = [
    "make -C ../other",
    "cd ../other && npm test",
    "cmake -S ../other -B build",
    "pytest ../other/t.py",
  ];
  expect(await decide(...commands)).toEqual(Object.fromEntries(commands.map((command) => [command, "high"])));
});

test("judges ignore files that link to a protected place with the search that would print their lines", async () => {
  const decide = await workspace({ "packages/.ignore": "../../.ssh/key" });
  expect(await decide("rg x packages", "cd packages/a && rg x", "rg x out", "rg x packages/a")).toEqual({
    "rg x packages": "asked",
    "cd packages/a && rg x": "asked",
    "rg x out": "read",
    "rg x packages/a": "asked",
  });
});
