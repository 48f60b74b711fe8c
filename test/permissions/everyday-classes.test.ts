import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parse } from "yaml";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { context } from "./class-of.ts";

type Class = "read" | "low" | "medium" | "high" | "protected" | "catastrophic";

interface Case {
  readonly class: Class;
  readonly command: string;
  readonly reason: string;
}

const file = readFileSync(new URL("everyday-classes.yaml", import.meta.url), "utf8");
const { cases } = parse(file) as { readonly cases: readonly Case[] };

const tracked =
  "README.md package.json Cargo.toml Makefile go.mod pyproject.toml src/main.ts src/util.ts tests/test_app.py docs/guide.md " +
  "data.json config.yaml scripts/build.sh";
const untracked =
  ".env local.db notes.txt node_modules/a/b.js node_modules/.bin/tsc node_modules/.bin/eslint node_modules/.bin/prettier dist/a.js build/x target/y";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-everyday-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = join(root, "dev");
const cwd = join(home, "project");

function put(names: string): void {
  for (const name of names.split(" ")) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), "{}\n");
  }
}

function git(...args: readonly string[]): void {
  const identity = ["-c", "user.name=n", "-c", "user.email=n@example.com"];
  execFileSync("git", [...identity, ...args], {
    cwd,
    env: { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: "1" },
  });
}

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

/** A command's class; `protected` for anything asked about at every level. */
async function classOf(written: string): Promise<Class> {
  const command = written.replaceAll("/home/dev", home);
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, here);
  const decision = policy.decide(accesses, { ...here, autonomy: "high" });
  if (decision.verdict === "allow") return decision.class;
  return decision.rule === "catastrophic" ? "catastrophic" : "protected";
}

/** Commands classed higher than the engineer's judgement, and why. */
const stricter: Readonly<Record<string, string>> = {
  "systemctl status nginx --no-pager": "the system's records are outside the workspace",
  'git ls-files \'src/*.ts\' | while read -r f; do echo "$f: $(wc -l < "$f")"; done':
    "the values that read sets are not tracked",
  "python3 --version; cargo --version; go version": "a repository can choose the toolchain that answers",
  "docker ps --format '{{.Names}} {{.Status}}'": "the daemon may be on another machine",
  'sqlite3 -readonly local.db "SELECT count(*) FROM users;"': "SQL can call functions that write files",
  'for f in src/*.ts; do cp "$f" "$f.orig"; done': "names built from a pattern are not tracked",
  "chmod +x scripts/build.sh": "permissions are not content",
  "tar -czf docs.tar.gz docs/": "archives are medium in both directions",
  "gzip -k data.json": "without -k it would delete the file",
  "aws s3 ls s3://my-bucket/releases/": "cloud calls are not known",
  "terraform plan -no-color | tail -40": "a plan runs programs named in the configuration",
};

test("has 230 commands with reasons, without duplicates", () => {
  expect(cases.length).toBe(230);
  expect(new Set(cases.map(({ command }) => command)).size).toBe(230);
  expect(cases.filter(({ reason }) => reason.trim() === "" || reason.includes("\n"))).toEqual([]);
});

test("classes no everyday command too low, and at most 20 too high", async () => {
  const order: readonly Class[] = ["read", "low", "medium", "high", "protected"];
  const rank = (one: Class) => order.indexOf(one === "catastrophic" ? "protected" : one);
  const judged = [];
  for (const { command, class: wanted } of cases) judged.push({ command, wanted, got: await classOf(command) });
  expect(judged.filter(({ wanted, got }) => rank(got) < rank(wanted))).toEqual([]);
  const more = judged.filter(({ wanted, got }) => rank(got) > rank(wanted)).map(({ command }) => command);
  expect(more).toEqual(Object.keys(stricter));
  expect(more.length).toBeLessThanOrEqual(20);
});
