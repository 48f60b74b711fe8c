import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

const checkout = fileURLToPath(new URL("../../", import.meta.url));

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

test("npm pack makes a tarball that installs and runs in an empty folder", { timeout: 180_000 }, async () => {
  // The runtime dependency also comes from this checkout, so that nothing is fetched.
  const dependencies = (await readdir(join(checkout, "node_modules", "@vscode"))).map(
    (name) => `./node_modules/@vscode/${name}`,
  );
  const pack = await bench.shell(
    `npm pack --silent --ignore-scripts --pack-destination '${bench.root}' . ${dependencies.join(" ")}`,
    { cwd: checkout },
  );
  expect([pack.code, pack.stdout.trim().split("\n")[0]]).toEqual([0, expect.stringMatching(/^tinman-.*\.tgz$/)]);
  const install = await bench.shell(
    "npm init -y >/dev/null && npm install --offline --no-update-notifier --no-audit --no-fund ../*.tgz",
  );
  expect([install.code, install.code === 0 ? "" : install.stderr]).toEqual([0, ""]);
  const installed = join(bench.cwd, "node_modules", "tinman");
  expect((await readdir(installed)).sort()).toEqual(
    [
      "CHANGELOG.md",
      "LICENSE",
      "README.md",
      "SECURITY.md",
      "THIRD_PARTY_NOTICES",
      "dist",
      "docs",
      "examples",
      "package.json",
      "schema",
    ].sort(),
  );
  expect((await stat(join(installed, "dist", "main.cjs"))).mode & 0o111).not.toBe(0);
  const program = join(bench.cwd, "node_modules", ".bin", "tinman");
  await bench.file("unlikely-name.txt", "x");
  const run = await bench.shell(`'${program}' exec "Which files are in this folder?"`);
  expect(run.code).toBe(0);
  expect(run.stdout).toContain("unlikely-name.txt");
  const grep = await bench.shell(`'${program}' exec 'search for "zebra"' && '${program}' doctor`);
  expect(grep.code).toBe(0);
  const schema = await bench.shell(`'${program}' schema stream-jsonrpc`);
  expect(JSON.parse(schema.stdout)).toHaveProperty("$defs");
});
