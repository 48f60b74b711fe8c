import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it } from "vitest";
import { isFullRun } from "../full-run.ts";
import { keptFiles } from "./source-limits.ts";
import { followed, stepsOf } from "./tool-recipe.ts";

const run = promisify(execFile);
const steps = stepsOf(readFileSync("CONTRIBUTING.md", "utf8"));
const commands = steps.flatMap(({ action, text }) => (action === "run" ? text.trimEnd().split("\n") : []));

const texts = followed(steps);
const added = steps.filter(({ action }) => action === "new").map(({ path }) => path);

let copy: string;
beforeEach(async () => {
  copy = await mkdtemp(join(tmpdir(), "tinman-recipe-"));
  const folders = new Set(keptFiles().map((path) => dirname(join(copy, path))));
  await Promise.all([...folders].map((folder) => mkdir(folder, { recursive: true })));
  await Promise.all(keptFiles().map((path) => copyFile(path, join(copy, path))));
  for (const [path, text] of texts) await writeFile(join(copy, path), text);
  await symlink(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
});
afterEach(() => rm(copy, { recursive: true, force: true }));

/** Without variables that this test run has set for its own workers. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^VITEST|^NODE_ENV$/.test(name)));

/** Rejects with its output. */
async function shell(command: string, extra: Readonly<Record<string, string>> = {}): Promise<void> {
  await run("sh", ["-c", command], { cwd: copy, env: { ...env, ...extra }, maxBuffer: 64 * 1024 * 1024 }).catch(
    ({ stdout, stderr }) => Promise.reject(new Error(`${command}\n${stdout}${stderr}`)),
  );
}

it("the test of the recipe passes on a copy of the repository", async () => {
  // The program is not built for it.
  const config = 'import base from "./vitest.config.ts";\nbase.test.globalSetup = [];\nexport default base;\n';
  await writeFile(join(copy, "quick.config.ts"), config);
  const own = added.find((path) => path.endsWith(".test.ts"));
  await shell(`npx vitest run --config quick.config.ts ${own} test/protocol/schemas.test.ts -t "size|parameters"`, {
    TINMAN_WRITE_SCHEMAS: "1",
  });
  expect(JSON.parse(readFileSync(join(copy, "src/tools/parameters.json"), "utf8"))).toHaveProperty("FileSize");
}, 60_000);

if (isFullRun) {
  it("every command of the recipe succeeds on a copy, and changes only what the recipe says", async () => {
    await shell("git init -q . && git add -A");
    expect(commands.length).toBeGreaterThan(4);
    for (const command of commands) await shell(command);
    const { stdout } = await run("git", ["diff", "--name-only"], { cwd: copy });
    const changed = stdout.trimEnd().split("\n");
    expect(changed.filter((path) => !path.startsWith("test/golden/"))).toEqual([
      "src/tools/all.ts",
      "src/tools/parameters.json",
    ]);
  }, 600_000);
}
