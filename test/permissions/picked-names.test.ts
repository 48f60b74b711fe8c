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

const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-picked-names-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = join(root, "home");
const cwd = join(home, "code/ws");

for (const name of ["code/ws/src/a.ts", "code/ws/x.patch"]) {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), "x");
}
execFileSync("git", ["init", "-q", "-b", "main", cwd], { env: { PATH: process.env.PATH, HOME: root } });

const host = createNodeHost({ outputsDir: join(root, "outputs") });
const context: DecisionContext = {
  ...atHigh,
  autonomy: "medium",
  tool: "Execute",
  cwd,
  home,
  temp: join(root, "temp"),
  ownHome: join(home, ".tinman"),
  readable: [],
  enabledTools: [],
};
const sandbox = { isRequired: false, temp: "/tmp/x", hasServers: false, network: "proven", writable: [] } as const;

async function decided(command: string, changes: Partial<DecisionContext> = {}) {
  const here = { ...context, ...changes };
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, here);
  return policy.decide(accesses, here);
}

describe("a patch can write any file", () => {
  test.each(["git apply x.patch", "git apply -R --index x.patch", "cd src && git apply ../x.patch", "git am x.patch"])(
    "%s runs at medium only in the sandbox, where it can't write what Tinman obeys",
    async (command) => {
      expect(await decided(command)).toMatchObject({ verdict: "deny", rule: "any-name" });
      const { verdict, walls } = await decided(command, { sandbox });
      expect(verdict).toBe("allow");
      expect(walls?.barred).toEqual(expect.arrayContaining([`${cwd}/.mcp.json`, `${cwd}/.tinman`]));
      expect((await decided(command, { autonomy: "high" })).verdict).toBe("allow");
    },
  );

  test.each(["git apply --check x.patch", "git apply --stat x.patch", "git apply --numstat --summary x.patch"])(
    "%s writes nothing",
    async (command) => {
      expect((await decided(command)).verdict).toBe("allow");
    },
  );
});

test("a patch in a folder can't write what Tinman would obey there", async () => {
  const { walls } = await decided("cd src && git apply ../x.patch", { sandbox });
  expect(walls?.barred).toContain(`${cwd}/src/.mcp.json`);
});

test("what is unpacked into an existing folder can't be obeyed by Tinman", async () => {
  const { verdict, walls } = await decided("tar xf a.tar -C src", { sandbox });
  expect(verdict).toBe("allow");
  expect(walls?.barred).toEqual(expect.arrayContaining([`${cwd}/src/.mcp.json`, `${cwd}/src/.tinman`]));
  const missing = await decided("mkdir new && tar xf a.tar -C new", { sandbox });
  expect(missing.walls?.barred).not.toContain(`${cwd}/new/.mcp.json`);
});
