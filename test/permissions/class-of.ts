import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { Access, AccessClass, DecisionContext, Ruling } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { installedTools } from "./installed-tools.ts";

// git's behaviour must not depend on the settings of the user who runs the tests.
for (const name of ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]) process.env[name] = "/dev/null";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-class-")));
const cwd = join(root, "project");
/** Does not exist, and is outside the temp folder. Nothing in it is read. */
const home = "/home/nobody-at-all";
for (const folder of ["project/src", "project/docs", "project/build", "project/test"])
  mkdirSync(join(root, folder), { recursive: true });
const files = ["src/a.ts", "src/b.ts", "README.md", "package.json", "docs/guide.md", "test/a.test.ts"];
mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
for (const file of [...files, ...installedTools]) writeFileSync(join(cwd, file), "{}\n");
execFileSync("git", ["init", "-q", "-b", "main", cwd], {
  env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", HOME: root },
});
process.on("exit", () => rmSync(root, { recursive: true, force: true }));

const host = createNodeHost({ outputsDir: join(root, "outputs") });
const policy = createPermissionPolicy(() => "bash");

export const context: DecisionContext = {
  tool: "Execute",
  autonomy: "off",
  mode: "auto",
  cwd,
  readable: [],
  home,
  temp: "/tmp",
  ownHome: join(home, ".tinman"),
  rules: { allow: [], deny: [], alwaysDeny: [] },
  approver: true,
  unsafe: false,
  enabledTools: [],
};

/** The decision on a command in a small repository, with the real policy and host. */
export async function decisionOn(
  command: string,
  changes: Partial<DecisionContext> = {},
  claimed?: "low" | "medium" | "high",
): Promise<Ruling> {
  if (command.trim() === "") return policy.decide([], { ...context, ...changes });
  const access: Access = { type: "command", command, background: false, ...(claimed === undefined ? {} : { claimed }) };
  const accesses = await withEvidence([access], policy, host, context);
  return policy.decide(accesses, { ...context, ...changes });
}

export async function classOf(command: string): Promise<AccessClass | "refused"> {
  const decision = await decisionOn(command);
  return decision.verdict === "refuse" ? "refused" : decision.class;
}
