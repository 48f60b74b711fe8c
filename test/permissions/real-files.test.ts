import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { DecisionContext } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { context as atHigh, policy } from "./at-high.ts";

for (const name of ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]) process.env[name] = "/dev/null";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-real-files-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = join(root, "home");
const cwd = join(root, "ws");

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

function repository(folder: string): void {
  execFileSync("git", ["init", "-q", "-b", "main", folder], { env: { PATH: process.env.PATH, HOME: root } });
}

put(home, { ".profile": "x", ".bashrc": "x", ".ssh/authorized_keys": "k", ".bash_history": "x", "src/a.ts": "" });
put(cwd, { "src/a.ts": "", "README.md": "", "settings/.npmrc": "logs-dir=/x", "settings/below/a": "" });
repository(cwd);
for (const name of ["libs/a", "libs/b"]) repository(join(cwd, name));

const host = createNodeHost({ outputsDir: join(root, "outputs") });
const context: DecisionContext = {
  ...atHigh,
  tool: "Execute",
  cwd,
  home,
  temp: join(root, "temp"),
  ownHome: join(home, ".tinman"),
  readable: [],
  enabledTools: [],
};

async function decided(command: string, changes: Partial<DecisionContext> = {}): Promise<string> {
  const here = { ...context, ...changes };
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, here);
  const { verdict, rule } = policy.decide(accesses, here);
  return `${verdict} ${rule}`;
}

describe("a program that obeys the project's settings even to print its version", () => {
  test.each(["npm -v", "cd src && npm --version"])("%s reads where there are none", async (command) => {
    expect(await decided(command, { autonomy: "off" })).toMatch(/^allow /);
  });

  test.each(["cd settings && npm -v", "cd settings/below && npm --version", "echo logs-dir=/x > .npmrc; npm -v"])(
    "%s does not read",
    async (command) => {
      expect(await decided(command, { autonomy: "low" })).toMatch(/^deny (obeys-settings|moved-path)$/);
    },
  );
});
