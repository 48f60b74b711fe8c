import { existsSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFullRun } from "../full-run.ts";
import type { Bench, Finished } from "./tinman.ts";
import { createBench, lines } from "./tinman.ts";

/** Commands that only read, in repositories whose own files make git run something. */

type Call = readonly [name: string, input: object];

const reading: readonly Call[] = ["git status", "git diff", "git log -p -1", "git show"].map((command) => [
  "Execute",
  { command },
]);

let bench: Bench;
let pattern: string;
beforeAll(async () => {
  bench = await createBench();
  pattern = join(bench.root, "pattern");
  await mkdir(pattern);
  const first = "echo one > file; echo same > same; git init -q --template=; git add .; git commit -qm first";
  await shell(`${first}; echo two > file; touch -d 2001-01-01 same`, pattern);
});
afterAll(() => bench.remove());

async function shell(command: string, cwd: string): Promise<void> {
  const identity =
    'git() { command git -c user.name=N -c user.email=n@example.com -c protocol.file.allow=always "$@"; }';
  const run = await bench.shell(`set -e; ${identity}; ${command}`, { cwd });
  if (run.code !== 0) throw new Error(run.stderr);
}

/** Replies in order, each with its calls. */
async function run(cwd: string, flags: readonly string[], ...replies: readonly (readonly Call[])[]): Promise<Finished> {
  const calling = replies.map((calls) => ({ tool_calls: calls.map(([name, input]) => ({ name, input })) }));
  const model = await bench.script([...calling, { text: "done" }]);
  return bench.tinman(["exec", "-o", "stream-json", "--on-denied", "continue", ...flags, "-m", model, "go"], { cwd });
}

function results(finished: Finished): readonly string[] {
  return lines(finished.stdout).flatMap(({ type, value }) => (type === "tool_result" ? [String(value)] : []));
}

let made = 0;

/** A repository with a commit, and a file changed since. */
async function repository(): Promise<string> {
  made += 1;
  const folder = join(bench.root, `repository-${made}`);
  await cp(pattern, folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

/** Shell commands that set the trap, given the program that leaves the marker; `$PWD` is the repository. */
const traps: Readonly<Record<string, (program: string) => string>> = {
  "a file-system monitor": (program) => `git config core.fsmonitor ${program}`,
  "a hook": (program) => `mkdir -p .git/hooks; cp ${program} .git/hooks/post-index-change`,
  "a hook elsewhere": (program) => `mkdir own; cp ${program} own/post-index-change; git config core.hooksPath own`,
  "an include": (program) => `git config -f evil core.fsmonitor ${program}; git config include.path ../evil`,
  "a filter": (program) => `git config filter.x.clean ${program}; echo '* filter=x' > .gitattributes`,
  "an external diff": (program) => `git config diff.external ${program}`,
  "a text conversion": (program) => `git config diff.x.textconv ${program}; echo '* diff=x' > .gitattributes`,
  "settings of the working tree": (program) =>
    `git config extensions.worktreeConfig true; git config -f .git/config.worktree core.fsmonitor ${program}`,
  "a different common folder": (program) =>
    `cp -r .git evil; git config -f evil/config core.fsmonitor ${program}; echo ../evil > .git/commondir`,
  "a file that leads elsewhere": (program) =>
    `mv .git evil; git config -f evil/config core.fsmonitor ${program}; echo 'gitdir: evil' > .git`,
  "a submodule": (program) =>
    `git init -q sub; git -C sub commit -q --allow-empty -m sub; git submodule --quiet add ./sub sub; ` +
    `git submodule absorbgitdirs; git commit -qm sub; git config -f .git/modules/sub/config core.fsmonitor ${program}`,
  "a repository inside it": (program) =>
    `git init -q sub; git -C sub commit -q --allow-empty -m sub; git add sub 2> /dev/null; git commit -qm sub; ` +
    `git -C sub config core.fsmonitor ${program}`,
  "a folder that is a repository": (program) =>
    `git config core.fsmonitor ${program}; git config core.worktree "$PWD"; mv .git/* .; rmdir .git`,
  "an incomplete one before it": (program) =>
    `git config core.fsmonitor ${program}; mkdir -p sub/.git; echo 'ref: refs/heads/x' > sub/.git/HEAD`,
};

/** The folder of the commands, if not the top. */
const places: Readonly<Record<string, string>> = { "an incomplete one before it": "sub" };

/** Commands denied at medium are denied below it; the long run checks that. */
const below = isFullRun ? [[], ["--auto", "low"]] : [];
/** Commands denied at medium are denied in spec mode; the short run shows it with one trap. */
const planning = (name: string) => (isFullRun || name === "a hook" ? [["--use-spec", "--auto", "high"]] : []);
/** Checks that each trap works once its command is allowed; the short run tries most traps with git only. */
async function fallsInto(name: string, cwd: string): Promise<void> {
  if (isFullRun || name === "a hook") await run(cwd, ["--auto", "high"], reading);
  else await bench.shell("git status; git diff; git log -p -1; git show", { cwd });
}

describe.each(Object.entries(traps))("%s", (name, trap) => {
  test("runs only at --auto high", async () => {
    const folder = await repository();
    const marker = `${folder}.marker`;
    const program = `${folder}.program`;
    await writeFile(program, `#!/bin/sh\necho run >> ${marker}\n`, { mode: 0o755 });
    await shell(trap(program), folder);
    await rm(marker, { force: true });
    const cwd = join(folder, places[name] ?? "");
    for (const flags of [...below, ["--auto", "medium"], ...planning(name)]) {
      const finished = await run(cwd, flags, reading);
      expect([flags, existsSync(marker)]).toEqual([flags, false]);
      const denial = /^Error: .*Execute runs "git .*(?:This run has no permission|only reading is allowed)/;
      expect(results(finished)).toEqual(reading.map(() => expect.stringMatching(denial)));
    }
    await fallsInto(name, cwd);
    expect(existsSync(marker)).toBe(true);
  });
});

test("does not show another folder's files as the repository's", async () => {
  const folder = await repository();
  await mkdir(`${folder}.other`);
  await writeFile(join(`${folder}.other`, "file"), "SECRET\n");
  await shell(`git config core.worktree ${folder}.other`, folder);
  expect((await run(folder, ["--auto", "low"], reading)).stdout).not.toContain("SECRET");
  expect((await run(folder, ["--auto", "high"], reading)).stdout).toContain("SECRET");
});

describe("a trap set by the model itself", () => {
  const create = (file_path: string, content: string): Call => ["Create", { file_path, content }];
  const config = (program: string, more = "") =>
    `[core]\n\trepositoryformatversion = 0\n\tfsmonitor = ${program}\n${more}`;
  const sets: Readonly<Record<string, (program: string) => readonly Call[]>> = {
    "in .git/config": (program) => [create(".git/config", config(program))],
    "in .git/config.worktree": (program) => [create(".git/config.worktree", config(program))],
    "in .git/commondir": (program) => [
      create("evil/config", config(program)),
      create("evil/objects/x", ""),
      create("evil/refs/x", ""),
      create(".git/commondir", "../evil"),
    ],
    "in .git itself": (program) => [
      create("evil/HEAD", "ref: refs/heads/x\n"),
      create("evil/config", config(program)),
      create("evil/objects/x", ""),
      create("evil/refs/x", ""),
      create("new/.git", "gitdir: ../evil"),
      create(".git", "gitdir: evil"),
    ],
    "as a bare repository": (program) => [
      create("HEAD", "ref: refs/heads/x\n"),
      create("config", config(program, "\tbare = false\n\tworktree = .\n")),
      create("objects/x", ""),
      create("refs/x", ""),
    ],
  };
  /** One reply is the harder case, because it is decided as a whole first; the short run uses one trap for both. */
  const waysOf = (name: string) => (isFullRun || name === "in .git/config" ? [true, false] : [true]);
  const isBare = (name: string) => name === "as a bare repository";

  test.each(Object.entries(sets))("%s does not run, in one reply or in two", async (name, calls) => {
    for (const flags of isFullRun ? [[], ["--auto", "low"]] : [["--auto", "low"]]) {
      for (const inOne of waysOf(name)) {
        const folder = await repository();
        const program = `${folder}.program`;
        await writeFile(program, `#!/bin/sh\necho run >> ${folder}.marker\n`, { mode: 0o755 });
        if (isBare(name)) await rm(join(folder, ".git"), { recursive: true });
        const status: Call = ["Execute", { command: "git status" }];
        const replies = inOne ? [[...calls(program), status]] : [calls(program), [status]];
        await run(folder, flags, ...replies);
        expect([flags, inOne, existsSync(`${folder}.marker`)]).toEqual([flags, inOne, false]);
      }
    }
  });

  test("is noticed if it is set between the decision and the command", async () => {
    const folder = await repository();
    await rm(join(folder, ".git"), { recursive: true });
    const program = `${folder}.program`;
    await writeFile(program, `#!/bin/sh\necho run >> ${folder}.marker\n`, { mode: 0o755 });
    const calls = sets["as a bare repository"]?.(program) ?? [];
    const status: Call = ["Execute", { command: "git status" }];
    expect(results(await run(folder, ["--auto", "low"], [...calls, status])).at(-1)).toBe(
      `Error: ${folder} has changed since this call was allowed. Nothing was run.`,
    );
    expect(existsSync(`${folder}.marker`)).toBe(false);
    await run(folder, ["--auto", "high"], [status]);
    expect(existsSync(`${folder}.marker`)).toBe(true);
  });
});

test("reads an ordinary clone without asking: hooks, remotes, submodules, working trees", async () => {
  const origin = await repository();
  const folder = `${origin}.clone`;
  await shell(
    [
      `git clone -q ${origin} ${folder}`,
      `cd ${folder}`,
      `git submodule --quiet add ${origin} sub`,
      "git commit -qm sub",
      "mkdir -p .husky/_ .git/hooks",
      "printf '#!/bin/sh\\nexit 1\\n' | tee .husky/_/pre-commit > .git/hooks/pre-commit",
      "chmod +x .husky/_/pre-commit .git/hooks/pre-commit",
      "git config core.hooksPath .husky/_",
      "git config branch.main.remote origin",
      "git config alias.st status",
      `git worktree add -q ${folder}.linked`,
      "echo changed > file",
    ].join("; "),
    bench.root,
  );
  for (const cwd of [folder, join(folder, "sub"), join(folder, ".husky", "_"), `${folder}.linked`]) {
    const finished = await run(cwd, [], reading, [["Execute", { command: "git branch -a" }]]);
    expect([cwd, finished.code]).toEqual([cwd, 0]);
    expect(results(finished)).toEqual(Array(5).fill(expect.stringMatching(/\[Process exited with code 0\]$/)));
  }
});
