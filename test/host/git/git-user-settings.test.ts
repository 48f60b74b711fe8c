import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { withEvidence } from "../../../src/engine/calls/evidence.ts";
import type { DecisionContext } from "../../../src/engine/permission.ts";
import { repositoryState } from "../../../src/host/git/repository-state.ts";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { createPermissionPolicy } from "../../../src/permissions/policy.ts";
import { tempFolder } from "../support.ts";

const host = createNodeHost({ outputsDir: "/nowhere" });

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode: 0o755 });
}

/** A repository with programs that leave a mark beside it. */
let pattern: string;
beforeAll(async () => {
  pattern = await mkdtemp(join(tmpdir(), "tinman-pattern-"));
  for (const name of ["run.sh", ".githooks/post-index-change", "sub/run.sh"])
    await write(join(pattern, name), "#!/bin/sh\ntouch ../mark\ncat\n");
  await write(join(pattern, ".gitattributes"), "* filter=own diff=own\n");
  const commit = "git init -q --template=; git add .; git -c user.name=N -c user.email=n@example.com commit -qm first";
  execFileSync("sh", ["-ec", commit], { cwd: pattern });
});
afterAll(() => rm(pattern, { recursive: true }));

/** A user with these files beside the repository, or in `home`, and these variables. */
async function place(files: Readonly<Record<string, string>>, variables: Readonly<Record<string, string>> = {}) {
  const folder = await tempFolder();
  const [home, root, mark] = [join(folder, "home"), join(folder, "project"), join(folder, "mark")];
  await mkdir(home);
  execFileSync("cp", ["-Rp", pattern, root]);
  for (const [name, text] of Object.entries(files)) await write(join(folder, name), text.replace("FOLDER", folder));
  const set: Record<string, string> = { HOME: home, GIT_CONFIG_SYSTEM: "/dev/null", ...variables };
  const others = ["GIT_CONFIG_GLOBAL", "XDG_CONFIG_HOME"];
  const before = [...Object.keys(set), ...others].map((name) => [name, process.env[name]] as const);
  // Other tests of this process can have left them.
  for (const name of others) delete process.env[name];
  for (const [name, value] of Object.entries(set)) process.env[name] = value.replace("FOLDER", folder);
  onTestFinished(() => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  return { root, mark };
}

const harmless = async (what: "git" | "signatures", path: string) => (await host.lookUp({ what, path })) !== undefined;

describe("git in a repository, with the user's settings", () => {
  test.each([
    ["none", {}],
    ["programs by name", { "home/.gitconfig": '[filter "own"]\nclean = cat\n[core]\npager = less -R\neditor = vim\n' }],
    [
      "programs by absolute paths",
      { "home/.gitconfig": '[credential]\nhelper = "!/usr/bin/gh auth git-credential"\n' },
    ],
    ["a Python module", { "home/.gitconfig": '[filter "own"]\nclean = "\\"python3\\" -m other"\n' }],
    ["inline code", { "home/.gitconfig": '[diff "own"]\ntextconv = "perl -pe \'s/a/b/\'"\n' }],
    [
      "inline code that imports others",
      { "home/.gitconfig": '[diff "own"]\ntextconv = "python3 -c \\"import json\\""\n' },
    ],
    ["isolated code", { "home/.gitconfig": '[diff "own"]\ntextconv = "python3 -I -c \\"import sub\\""\n' }],
    ["sed scripts elsewhere", { "home/.gitconfig": '[diff "own"]\ntextconv = "sed -E -n -f ~/x.sed -e s/a/b/"\n' }],
    [
      "filters for large files",
      { "home/.gitconfig": '[filter "own"]\nclean = git-lfs clean -- %f\nprocess = git-lfs filter-process\n' },
    ],
    ["a hooks folder elsewhere", { "home/.gitconfig": "[core]\nhooksPath = ~/hooks\n" }],
    ["a relative hooks folder without such hooks", { "home/.gitconfig": "[core]\nhooksPath = none\n" }],
    ["colours", { "home/.gitconfig": '[pretty]\nown = "\u001b[31m%h %an\u001b[0m"\n[log]\nshowSignature = false\n' }],
  ])("is harmless with %s", async (_, files) => {
    const { root } = await place(files);
    expect([await harmless("git", root), await harmless("signatures", root)]).toEqual([true, true]);
  });

  test.each<[string, Record<string, string>, Record<string, string>?]>([
    ["a relative hooks folder", { "home/.gitconfig": "[core]\nhooksPath = .githooks\n" }],
    ["the same, in the XDG file", { "home/.config/git/config": "[core]\nhookspath = .githooks\n" }],
    [
      "the same, where XDG moves it",
      { "xdg/git/config": "[core]\nhookspath = .githooks\n" },
      { XDG_CONFIG_HOME: "FOLDER/xdg" },
    ],
    [
      "the same, in the machine's settings",
      { system: "[core]\nhookspath = .githooks\n" },
      { GIT_CONFIG_SYSTEM: "FOLDER/system" },
    ],
    ["the same, in another file", { own: "[core]\nhookspath = .githooks\n" }, { GIT_CONFIG_GLOBAL: "FOLDER/own" }],
    [
      "the same, included",
      { "home/.gitconfig": "[include]\npath = more/own\n", "home/more/own": "[core]\nhookspath = .githooks\n" },
    ],
    [
      "the same, included conditionally",
      {
        "home/.gitconfig": '[includeIf "gitdir:/"]\npath = ~/more\n',
        "home/more": "[core]\nhookspath = .githooks\n",
      },
    ],
    [
      "the same, in numbered variables",
      {},
      { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.hooksPath", GIT_CONFIG_VALUE_0: ".githooks" },
    ],
    ["the same, as a parameter", {}, { GIT_CONFIG_PARAMETERS: "'core.hooksPath'='.githooks'" }],
    [
      "an absolute hooks folder in the repository",
      {},
      { GIT_CONFIG_PARAMETERS: "'core.hooksPath=FOLDER/project/.githooks'" },
    ],
    ["a relative filter", { "home/.gitconfig": '[filter "own"]\nclean = ./run.sh\n' }],
    ["a relative filter run by a shell", { "home/.gitconfig": '[filter "own"]\nclean = "sh run.sh"\n' }],
    ["an absolute monitor in the repository", { "home/.gitconfig": "[core]\nfsmonitor = FOLDER/project/run.sh\n" }],
    ["a filter in the command's folder", { "home/.gitconfig": '[filter "own"]\nclean = "$PWD/run.sh"\n' }],
    [
      "a filter that the PATH finds",
      { "home/.gitconfig": '[filter "own"]\nclean = run.sh\n' },
      { PATH: "FOLDER/project:/usr/bin:/bin" },
    ],
    ["a relative monitor", { "home/.gitconfig": "[core]\nfsmonitor = sub/run.sh\n" }],
  ])("runs the repository's program with %s, and is not harmless", async (_, files, variables = {}) => {
    const { root, mark } = await place(files, variables);
    expect(await harmless("git", root)).toBe(false);
    execFileSync("git", ["status"], { cwd: root, stdio: ["ignore", "ignore", "ignore"] });
    expect(existsSync(mark)).toBe(true);
  });

  test.each([
    ["an external diff", "[diff]\nexternal = ./run.sh\n"],
    ["a text conversion", '[diff "own"]\ntextconv = "python3 run.py"\n'],
    ["a script without an extension", '[diff "own"]\ntextconv = "perl -w run"\n'],
    ["a wrapped program", '[diff "own"]\ntextconv = "env -i nice ./run.sh"\n'],
    ["a Python module in the repository", '[diff "own"]\ntextconv = "python3 -m sub.tool"\n'],
    ["the same, with the flag attached", '[diff "own"]\ntextconv = "python3 -msub.tool"\n'],
    [
      "inline code that imports from the repository",
      '[diff "own"]\ntextconv = "python3 -c \\"import sys; import sub\\""\n',
    ],
    ["inline code that requires a file", '[diff "own"]\ntextconv = "node -e \\"require(\'./run.sh\')\\""\n'],
    ["a package of the repository", '[diff "own"]\ntextconv = npx conv\n'],
    ["a task of the repository", '[diff "own"]\ntextconv = "f() { timeout 5 make -s conv; }; f"\n'],
    ["a sed script", '[diff "own"]\ntextconv = sed -nf run.sed\n'],
    ["a folder of modules", '[diff "own"]\ntextconv = "perl -Isub -MTool -pe 1"\n'],
    ["an absolute script run by an interpreter", '[diff "own"]\ntextconv = "python3 \'FOLDER/project/run.py\'"\n'],
    ["a script that is sourced", '[filter "own"]\nclean = ". run.sh"\n'],
    ["a path through the home", '[filter "own"]\nclean = ~/../project/run.sh\n'],
    ["a helper in a pipe", '[diff "own"]\ncommand = "cat | bash -c ./run.sh"\n'],
    ["a program for signatures", "[gpg]\nprogram = ./run.sh\n"],
    ["a credential helper", '[credential]\nhelper = "!./run.sh"\n'],
    ["an ssh command", "[core]\nsshCommand = FOO=1 ../run.sh\n"],
    ["a pager for one command", "[pager]\nlog = ./run.sh\n"],
    ["branches sorted by signature", "[branch]\nsort = -signature:grade\n"],
    ["settings that git rejects", "[core\n"],
  ])("is not harmless with %s", async (_, text) => {
    const { root } = await place({ "home/.gitconfig": text });
    expect(await harmless("git", root)).toBe(false);
  });

  test("is not harmless with a relative program in a variable", async () => {
    const { root } = await place({}, { GIT_SSH_COMMAND: "./run.sh -v" });
    expect(await harmless("git", root)).toBe(false);
  });

  test("is not harmless with an absolute path of the repository's program in a variable", async () => {
    const { root } = await place({}, { GIT_EXEC_PATH: "FOLDER/project/sub" });
    expect(await harmless("git", root)).toBe(false);
  });

  test("is not started by Tinman itself if a relative filter would run", async () => {
    const { root, mark } = await place({ "home/.gitconfig": '[filter "own"]\nclean = ./run.sh\n' });
    expect(await repositoryState(root)).toContain("Status and commits are omitted");
    expect(existsSync(mark)).toBe(false);
  });

  test("protects its hooks folder from writing, wherever the setting is", async () => {
    const { root } = await place({
      "home/.gitconfig": "[include]\npath = own\n",
      "home/own": "[core]\nhooksPath=.githooks\n",
    });
    const { kept } = await host.guards.repositories([root]);
    expect(kept).toContain(join(root, ".githooks"));
  });
});

/** The class and the rule of a command in a repository. */
function decisionsIn(root: string): (command: string) => Promise<string> {
  const policy = createPermissionPolicy(() => "bash");
  const context: DecisionContext = {
    ...{ tool: "Execute", autonomy: "off", mode: "auto", approver: true, unsafe: false, enabledTools: [] },
    ...{ cwd: root, readable: [], home: "/home/u", ownHome: "/home/u/.tinman", temp: "/tmp" },
    rules: { allow: [], deny: [], alwaysDeny: [] },
  };
  return async (command) => {
    const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, context);
    const decision = policy.decide(accesses, context);
    return `${decision.class} ${decision.rule}`;
  };
}

describe("addresses of remotes", () => {
  const showing = ["git remote -v", "git remote get-url origin", "git remote show -n origin"];
  const classes = async (root: string) =>
    (await Promise.all([...showing, "git remote update"].map(decisionsIn(root)))).map((text) => text.split(" ")[0]);

  test.each([
    [
      "the user's settings",
      { "home/.gitconfig": '[url "https://x:secret@example.com/"]\ninsteadOf = https://example.com/\n' },
    ],
    [
      "the repository's settings",
      { "project/.git/config": '[remote "origin"]\nurl = https://x:secret@example.com/a\n' },
    ],
  ])("are not shown with a credential from %s", async (_, files) => {
    const { root } = await place(files);
    expect(await classes(root)).toEqual(["high", "high", "high", "medium"]);
  });

  test("are shown without one", async () => {
    const { root } = await place({ "project/.git/config": '[remote "origin"]\nurl = https://example.com/a\n' });
    expect(await classes(root)).toEqual(["read", "read", "medium", "medium"]);
  });
});

describe("signatures", () => {
  test("checked by the user's settings make commands that show commits high, and no others", async () => {
    const { root } = await place({ "home/.gitconfig": "[log]\nshowSignature = true\n" });
    const decide = decisionsIn(root);
    const showing = ["git log -1", "git log --format=%h", "git show", "git reflog", "git stash list"];
    expect(await Promise.all(showing.map(decide))).toEqual(showing.map(() => "high git-checks-signatures"));
    const others = ["git status", "git branch", "git diff", "git ls-files", "git rev-parse HEAD", "git blame run.sh"];
    expect((await Promise.all(others.map(decide))).map((text) => text.split(" ")[0])).toEqual(others.map(() => "read"));
  });

  test.each([
    ["shown with every commit", "[log]\nshowSignature\n"],
    ["shown with every commit, by a word", "[log]\nshowSignature = yes\n"],
    ["in the format of commits", '[format]\npretty = "%h %G?"\n'],
    ["in a named format", '[pretty]\nown = "format:%h %+GS"\n'],
  ])("%s make git start a program", async (_, text) => {
    const { root } = await place({ "home/.gitconfig": text });
    expect([await harmless("git", root), await harmless("signatures", root)]).toEqual([true, false]);
  });

  test.each(["git config format.pretty %G?", "git config pretty.own 'x%-GK'", "git config tag.sort signature"])(
    "in the repository's own settings do so as well: %s",
    async (command) => {
      const { root } = await place({});
      execFileSync("sh", ["-c", command], { cwd: root });
      expect(await harmless("git", root)).toBe(false);
    },
  );
});
