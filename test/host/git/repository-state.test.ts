import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { appendFile, chmod, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeEnvironment } from "../../../src/host/environment/environment.ts";
import { eventually, longNap, processesWith, tempFolder } from "../support.ts";

function git(folder: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.com", "-c", "commit.gpgsign=false"];
  return execFileSync("git", [...identity, ...args], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function repository(): Promise<string> {
  const folder = await tempFolder();
  git(folder, "init", "--quiet", "--template=", "--initial-branch=trunk");
  return folder;
}

async function commit(folder: string, subject: string): Promise<string> {
  git(folder, "commit", "--quiet", "--allow-empty", "--message", subject);
  return `${git(folder, "rev-parse", "--short", "HEAD").trim()} ${subject}`;
}

/** The description of the repository around a folder. */
async function stateOf(folder: string): Promise<string | undefined> {
  return (await describeEnvironment(folder))[1];
}

function intro(root: string, branch: string): string[] {
  return ["Git repository at the start of this turn", `Root: ${root}`, `Branch: ${branch}`];
}

function usePath(path: string): void {
  const before = process.env.PATH;
  process.env.PATH = path;
  onTestFinished(() => {
    process.env.PATH = before;
  });
}

const leftOut = "Status and commits are omitted, because the repository's configuration makes git run programs.";

describe("the state of a repository", () => {
  test("has branch, short status and the last five commits, from any folder in it", async () => {
    const root = await repository();
    const commits: string[] = [];
    for (let number = 1; number <= 7; number += 1) commits.unshift(await commit(root, `change ${number}`));
    await mkdir(join(root, "sub", "deep"), { recursive: true });
    await writeFile(join(root, "sub", "neu-ä.txt"), "");
    await writeFile(join(root, "staged.txt"), "");
    git(root, "add", "staged.txt");
    expect(await stateOf(join(root, "sub", "deep"))).toBe(
      [...intro(root, "trunk"), "Status:", "A  staged.txt", "?? sub/", "Last commits:", ...commits.slice(0, 5)].join(
        "\n",
      ),
    );
  });

  test("is reported as clean, and without commits", async () => {
    const root = await repository();
    expect(await stateOf(root)).toBe([...intro(root, "trunk"), "Status: clean"].join("\n"));
    const only = await commit(root, "first");
    expect(await stateOf(root)).toBe([...intro(root, "trunk"), "Status: clean", "Last commits:", only].join("\n"));
  });

  test("has at most 50 lines of status", async () => {
    const root = await repository();
    const names = Array.from({ length: 60 }, (_, index) => `file-${String(index).padStart(2, "0")}`);
    for (const name of names) await writeFile(join(root, name), "");
    const shown = names.slice(0, 50).map((name) => `?? ${name}`);
    expect(await stateOf(root)).toBe([...intro(root, "trunk"), "Status:", ...shown, "… and more"].join("\n"));
  });

  test("has at most 4 KB of status, even with thousands of files", async () => {
    const root = await repository();
    for (let index = 0; index < 300; index += 1) await writeFile(join(root, `${index}-${"x".repeat(180)}`), "");
    const state = (await stateOf(root)) ?? "";
    expect(state.endsWith("\n… and more")).toBe(true);
    expect(state.length).toBeLessThan(4096 + 300);
    expect(state.split("\n").length).toBeGreaterThan(20);
  });

  test("has one line per commit, whatever its subject", async () => {
    const root = await repository();
    await commit(root, `\u001b[31mred\u001b[0m ${"long ".repeat(100)}`);
    const lines = ((await stateOf(root)) ?? "").split("\n");
    expect(lines.length).toBe(6);
    expect(lines.at(-1)?.length).toBe(200);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
    expect(lines.at(-1)).not.toMatch(/[\u0000-\u001f]/);
  });

  test("handles a checked-out commit and a linked working tree", async () => {
    const root = await repository();
    const only = await commit(root, "first");
    const linked = join(await tempFolder(), "linked");
    git(root, "worktree", "add", "--quiet", "-b", "side/branch", linked);
    expect(await stateOf(linked)).toBe(
      [...intro(linked, "side/branch"), "Status: clean", "Last commits:", only].join("\n"),
    );
    git(root, "checkout", "--quiet", "--detach");
    const id = git(root, "rev-parse", "HEAD").slice(0, 10);
    expect(await stateOf(root)).toBe(
      [...intro(root, `none (at commit ${id})`), "Status: clean", "Last commits:", only].join("\n"),
    );
  });

  test("is missing outside a repository, or if its folder is not one", async () => {
    const folder = await tempFolder();
    expect(await stateOf(folder)).toBeUndefined();
    await mkdir(join(folder, ".git"));
    expect(await stateOf(folder)).toBeUndefined();
    execFileSync("mkfifo", [join(folder, ".git", "HEAD")]);
    expect(await stateOf(folder)).toBeUndefined();
  });

  test("does not depend on variables left by an outer git", async () => {
    const root = await repository();
    const other = await repository();
    await commit(other, "elsewhere");
    process.env.GIT_DIR = join(other, ".git");
    process.env.GIT_INDEX_FILE = join(other, "index");
    try {
      expect(await stateOf(root)).toBe([...intro(root, "trunk"), "Status: clean"].join("\n"));
    } finally {
      delete process.env.GIT_DIR;
      delete process.env.GIT_INDEX_FILE;
    }
  });

  test("is only the branch without git", async () => {
    const root = await repository();
    usePath(await tempFolder());
    expect(await stateOf(root)).toBe(intro(root, "trunk").join("\n"));
  });

  test("is only the branch if git takes too long, and git is ended", async () => {
    const root = await repository();
    const nap = longNap();
    const bin = await tempFolder();
    await writeFile(join(bin, "git"), `#!/bin/sh\n/bin/sleep ${nap}\n`);
    await chmod(join(bin, "git"), 0o755);
    usePath(bin);
    expect(await stateOf(root)).toBe(intro(root, "trunk").join("\n"));
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
  });
});

describe("the user's own settings", () => {
  test("apply, but start no pager, diff, monitor, hook or signature check", async () => {
    const root = await repository();
    await writeFile(join(root, "file"), "one\n");
    git(root, "add", ".");
    const only = await commit(root, "first");
    await writeFile(join(root, "file"), "two\n");
    await writeFile(join(root, "left-out"), "");
    const home = await tempFolder();
    const [proof, program] = [join(home, "proof"), join(home, "program")];
    await writeFile(program, `#!/bin/sh\necho "$0 $*" >> ${proof}\n`);
    await chmod(program, 0o755);
    await mkdir(join(home, "hooks"));
    for (const hook of ["post-index-change", "pre-commit"]) await symlink(program, join(home, "hooks", hook));
    await writeFile(join(home, "ignored"), "left-out\n");
    const settings = [
      `[core]\n\tpager = ${program}\n\tfsmonitor = ${program}\n\thooksPath = ${home}/hooks`,
      `\texcludesFile = ${home}/ignored\n\tsshCommand = ${program}\n\taskPass = ${program}\n\teditor = ${program}`,
      `[pager]\n\tstatus = ${program}\n\tlog = ${program}\n[diff]\n\texternal = ${program}\n`,
      `[gpg]\n\tprogram = ${program}\n[log]\n\tshowSignature = true\n[credential]\n\thelper = ${program}\n`,
    ].join("\n");
    await writeFile(join(home, "config"), settings);
    const variables = {
      GIT_CONFIG_GLOBAL: join(home, "config"),
      GIT_EXTERNAL_DIFF: program,
      GIT_PAGER: program,
      PAGER: program,
      GIT_SSH_COMMAND: program,
      GIT_ASKPASS: program,
    };
    Object.assign(process.env, variables);
    onTestFinished(() => {
      for (const name of Object.keys(variables)) delete process.env[name];
    });
    expect(await stateOf(root)).toBe([...intro(root, "trunk"), "Status:", " M file", "Last commits:", only].join("\n"));
    expect(existsSync(proof)).toBe(false);
  });
});

describe("an untrusted repository", () => {
  const dangerous: Readonly<Record<string, string>> = {
    "a filter": '[filter "x"]\n\tclean = touch PROOF; cat\n\tsmudge = cat\n',
    "a filter after another section": '[core] bare = false\n[user][filter "x"] clean = "touch PROOF; cat"\n',
    "a filter in capitals": '[FILTER "x"]\n\tCLEAN = touch PROOF; cat\n',
    "an include": "[include]\n\tpath = evil\n",
    "a conditional include": '[includeIf "gitdir:/"]\n\tpath = evil\n',
    "a file-system monitor": "[core]\n\tfsmonitor = touch PROOF\n",
    "an external diff": "[diff]\n\texternal = touch PROOF\n",
    "an ssh command": "[core]\n\tsshCommand = touch PROOF\n",
    "a signature program": "[gpg]\n\tprogram = ./evil-program\n[log]\n\tshowSignature = true\n",
  };

  test.each(Object.entries(dangerous))("with %s has only its branch read, and runs nothing", async (_, config) => {
    const root = await repository();
    const proof = join(root, "proof-of-execution");
    await writeFile(join(root, ".gitattributes"), "* filter=x\n");
    await writeFile(join(root, "file"), "one\n");
    git(root, "add", ".");
    await commit(root, "first");
    await writeFile(join(root, "file"), "two\n");
    await writeFile(join(root, ".git", "evil"), `[filter "x"]\n\tclean = touch ${proof}; cat\n`);
    await appendFile(join(root, ".git", "config"), config.replaceAll("PROOF", proof));
    expect(await stateOf(root)).toBe([...intro(root, "trunk"), leftOut].join("\n"));
    expect(existsSync(proof)).toBe(false);
  });

  test("has its hooks ignored, and needs no trust for harmless settings", async () => {
    const root = await repository();
    const only = await commit(root, "first");
    const proof = join(root, ".git", "proof");
    await mkdir(join(root, ".git", "own-hooks"));
    for (const folder of ["hooks", "own-hooks"]) {
      await mkdir(join(root, ".git", folder), { recursive: true });
      const hook = join(root, ".git", folder, "post-index-change");
      await writeFile(hook, `#!/bin/sh\ntouch ${proof}\n`);
      await chmod(hook, 0o755);
    }
    git(root, "config", "core.hooksPath", join(root, ".git", "own-hooks"));
    await appendFile(join(root, ".git", "config"), "[core]\n\tfsmonitor = true\n");
    await rm(proof, { force: true });
    expect(await stateOf(root)).toBe([...intro(root, "trunk"), "Status: clean", "Last commits:", only].join("\n"));
    expect(existsSync(proof)).toBe(false);
  });
});
