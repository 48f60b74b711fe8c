import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { DecisionContext, Ruling } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { context } from "./class-of.ts";

export type EverydayClass = "read" | "low" | "medium" | "high" | "protected" | "catastrophic";

export interface Case {
  readonly class: EverydayClass;
  readonly command: string;
  readonly reason: string;
}

const file = readFileSync(new URL("everyday-classes.yaml", import.meta.url), "utf8");
export const { cases } = parse(file) as { readonly cases: readonly Case[] };

const tracked =
  "README.md package.json Cargo.toml Makefile go.mod pyproject.toml src/main.ts src/util.ts tests/test_app.py docs/guide.md " +
  "data.json config.yaml scripts/build.sh";
const untracked =
  ".env local.db notes.txt node_modules/a/b.js node_modules/.bin/tsc node_modules/.bin/eslint node_modules/.bin/prettier dist/a.js build/x target/y";

export interface EverydayWorld {
  readonly root: string;
  readonly home: string;
  readonly cwd: string;
  /** The command, for this home. */
  written(command: string): string;
  decisionOn(command: string, changes?: Partial<DecisionContext>): Promise<Ruling>;
  remove(): void;
}

/** The repository that the everyday commands run in. */
export function createEverydayWorld(): EverydayWorld {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-everyday-")));
  const home = join(root, "dev");
  const cwd = join(home, "project");
  const put = (names: string) => {
    for (const name of names.split(" ")) {
      mkdirSync(dirname(join(cwd, name)), { recursive: true });
      writeFileSync(join(cwd, name), "{}\n");
    }
  };
  const git = (...args: readonly string[]) => {
    const identity = ["-c", "user.name=n", "-c", "user.email=n@example.com"];
    const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" };
    execFileSync("git", [...identity, ...args], { cwd, env });
  };
  put(tracked);
  writeFileSync(join(cwd, ".gitignore"), ".env\nlocal.db\nnode_modules/\ndist/\nbuild/\ntarget/\n");
  git("init", "-q", "-b", "main");
  git("add", ".");
  git("commit", "-qm", "all");
  git("branch", "feature/login");
  put(untracked);
  const host = createNodeHost({ outputsDir: join(root, "outputs") });
  const policy = createPermissionPolicy(() => "bash");
  const here = { ...context, cwd, home, temp: "/tmp", ownHome: join(home, ".tinman") };
  const written = (command: string) => command.replaceAll("/home/dev", home);
  return {
    ...{ root, home, cwd, written },
    async decisionOn(command, changes = {}) {
      const call = { type: "command", command: written(command), background: false } as const;
      const accesses = await withEvidence([call], policy, host, here);
      return policy.decide(accesses, { ...here, ...changes });
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}
