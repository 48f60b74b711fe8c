import { execFileSync } from "node:child_process";
import { appendFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { tempFolder } from "../support.ts";

for (const name of ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]) process.env[name] = "/dev/null";

const host = createNodeHost({ outputsDir: "/nowhere" });

/** Whether git might run something there, or show any file. */
async function runsPrograms(path: string): Promise<boolean> {
  return (await host.lookUp({ what: "git", path })) === undefined;
}

function shell(command: string, cwd: string): void {
  const identity =
    'git() { command git -c user.name=N -c user.email=n@example.com -c protocol.file.allow=always "$@"; }';
  execFileSync("bash", ["-ec", `${identity}; ${command}`], { cwd, stdio: ["ignore", "pipe", "pipe"] });
}

const firstCommit = "echo one > file; git add .; git commit -qm first";

let pattern: string;
beforeAll(async () => {
  pattern = await mkdtemp(join(tmpdir(), "tinman-pattern-"));
  shell(`git init -q --template=; mkdir .git/hooks .git/info; touch .git/description; ${firstCommit}`, pattern);
});
afterAll(() => rm(pattern, { recursive: true }));

async function repository(options?: string): Promise<string> {
  const folder = await tempFolder();
  if (options) shell(`git init -q ${options}; ${firstCommit}`, folder);
  else execFileSync("cp", ["-Rp", `${pattern}/.`, folder]);
  return folder;
}

describe("git in a folder", () => {
  test("is harmless outside a repository and in a plain one, from any folder in it", async () => {
    const root = await repository();
    await mkdir(join(root, "a", "b"), { recursive: true });
    expect([await runsPrograms(await tempFolder()), await runsPrograms(root), await runsPrograms(join(root, "a", "b"))]) //
      .toEqual([false, false, false]);
  });

  test.each([
    ["a remote", 'git config remote.origin.url "git@example.com:a/b.git"'],
    ["a branch named like a setting", "git config branch.worktree.remote x; git config branch.fsmonitor.remote x"],
    ["no monitor", "git config core.fsmonitor false"],
    ["hooks of commits", "mkdir -p .git/hooks; touch .git/hooks/pre-commit .git/hooks/post-checkout"],
    ["a hooks folder", "mkdir -p .husky/_; touch .husky/_/pre-commit; git config core.hooksPath .husky/_"],
    ["a hooks folder in quotes", "printf '[core]\\n\\thooksPath = \"my hooks\"\\n' >> .git/config"],
    ["a fourth version of the index", "touch a aa ab; git add .; git update-index --index-version 4"],
    ["its own files", "git config blame.ignoreRevsFile file; git config commit.template .git/description"],
    ["a missing file", "git config blame.ignoreRevsFile /nowhere/at/all"],
    ["a neighbour for a remote", "git config remote.origin.url ../neighbour"],
    ["links inside itself", "ln -s HEAD .git/BISECT_LOG; ln -s ../../file .git/info/exclude2"],
    ["its own working tree", 'git config core.worktree "$PWD"'],
    [
      "settings of the working tree",
      "git config extensions.worktreeConfig true; git config --worktree core.bare false",
    ],
    [
      "an empty folder for a submodule",
      "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),sub; mkdir sub",
    ],
  ])("is harmless with %s", async (_, setup) => {
    const root = await repository();
    shell(setup, root);
    expect(await runsPrograms(root)).toBe(false);
  });

  test.each([
    ["git's built-in monitor", "git config core.fsmonitor true"],
    ["a monitor without a value", "printf '[core]\\n\\tfsmonitor\\n' >> .git/config"],
    ["a monitor on a header's line", "printf '[core] FSMonitor=x\\n' >> .git/config"],
    ["a hook that is not executable yet", "mkdir -p .git/hooks; touch .git/hooks/post-index-change"],
    ["a hooks folder with such a hook", "mkdir own; touch own/post-index-change; git config core.hooksPath own"],
    ["a hooks folder at an unclear place", "git config core.hooksPath own/../own"],
    ["a hooks folder in a home", "git config core.hooksPath '~/hooks'"],
    ["a hooks folder written with escapes", "printf '[core]\\n\\thooksPath = \"a\\\\\\\\b\"\\n' >> .git/config"],
    ["another working tree", "git config core.worktree /"],
    ["a partial clone", "git config remote.origin.promisor true"],
    ["a helper for a remote", "git config remote.origin.vcs x"],
    ["a pager for a command", "git config pager.log x"],
    ["a configured hook", "git config hook.x.command x"],
    ["a command that updates a submodule", "git config submodule.x.update '!x'"],
    ["a hook of the garbage collection", "git config gc.recentObjectsHook x"],
    [
      "a submodule that is not checked out and starts programs",
      "mkdir -p .git/modules/a/b; git config -f .git/modules/a/b/config filter.x.smudge x",
    ],
    ["settings that are a pipe", "rm .git/config; mkfifo .git/config"],
    ["settings that are too large", "head -c 300000 /dev/zero | tr '\\0' '#' >> .git/config"],
    ["settings of the working tree that start programs", "git config -f .git/config.worktree core.sshCommand x"],
    ["a damaged index", "head -c 50 .git/index > x; mv x .git/index"],
    ["a split index", "git update-index --split-index"],
    ["a sparse index", "mkdir a; touch a/a; git add .; git commit -qm a; git sparse-checkout set --sparse-index b"],
    ["a file elsewhere for blame", "git config blame.ignoreRevsFile /etc/passwd"],
    ["an exclude file above it", "git config core.excludesFile ../../../../../../../etc/passwd"],
    ["names in a file elsewhere, by a link in the tree", "ln -s /etc/passwd names; git config mailmap.file names"],
    ["a list for fsck in another user's home", "git config fsck.skipList '~nobody/list'"],
    ["a log of a bisection that is a link", "ln -s /etc/passwd .git/BISECT_LOG"],
    ["a step of a rebase that is a link", "mkdir .git/rebase-merge; ln -s /etc/passwd .git/rebase-merge/done"],
    ["a reason for a lock that is a link", "mkdir -p .git/worktrees/x; ln -s /etc/passwd .git/worktrees/x/locked"],
    ["a folder of git's that is a link", "ln -s /etc .git/sequencer"],
    ["a message file that is a link to a file which does not exist", "ln -sf ../../nowhere-yet .git/COMMIT_EDITMSG"],
    ["a deep log that is a link", "rm .git/logs/refs/heads/*; ln -s /nowhere-yet .git/logs/refs/heads/deep"],
    ["a message file that is a link to its settings", "ln -sf config .git/COMMIT_EDITMSG"],
    ["a message file that is a link to a hook", "ln -sf hooks/post-commit .git/COMMIT_EDITMSG"],
    ["a file for cookies that does not exist", "git config http.cookieFile '~/.bash_profile'"],
    ["a file for cookies among its own", "git config http.http://127.0.0.1/.cookieFile .git/config"],
    ["too deep folders", `mkdir -p .git/logs/$(printf 'a/%.0s' {1..40})`],
    ["options of merges", "git config branch.main.mergeOptions '--no-ff -F ~/.npmrc'"],
    ["a prepared rebase", "mkdir .git/rebase-merge; echo 'exec ./x' > .git/rebase-merge/git-rebase-todo"],
    ["a common folder in two lines", "printf '../.git\\nx\\n' > .git/commondir"],
    ["a missing common folder", "echo nowhere > .git/commondir"],
  ])("can run programs with %s", async (_, setup) => {
    const root = await repository();
    shell(setup, root);
    expect(await runsPrograms(root)).toBe(true);
  });

  test("is judged by the repository that a link or a file leads to", async () => {
    const evil = await repository();
    shell("git config core.fsmonitor x", evil);
    const [link, file, good] = [await tempFolder(), await tempFolder(), await tempFolder()];
    await symlink(join(evil, ".git"), join(link, ".git"));
    await writeFile(join(file, ".git"), `gitdir: ${evil}/.git\n`);
    await writeFile(join(good, ".git"), `gitdir: ${await repository()}/.git`);
    expect([await runsPrograms(link), await runsPrograms(file), await runsPrograms(good)]).toEqual([true, true, false]);
    for (const text of ["gitdir: a\nb", "gitdir: ", "else", "gitdir: nowhere"]) {
      await writeFile(join(file, ".git"), text);
      expect([text, await runsPrograms(file)]).toEqual([text, true]);
    }
    // A lexical reading would take the harmless folder beside the link.
    await mkdir(join(file, "deep"));
    await symlink(join(evil, ".git"), join(file, "deep", "link"));
    shell("git init -q deep", file);
    await writeFile(join(file, ".git"), "gitdir: deep/link/../.git");
    expect(await runsPrograms(file)).toBe(true);
  });

  test("is also judged by the next repository if git would skip the first", async () => {
    const root = await repository();
    const sub = join(root, "sub");
    shell("git config core.fsmonitor x; git init -q sub", root);
    expect(await runsPrograms(sub)).toBe(false);
    await rm(join(sub, ".git", "refs"), { recursive: true });
    expect(await runsPrograms(sub)).toBe(true);
  });

  test("is judged by a folder that looks like a repository, even from below", async () => {
    const root = await repository("--bare .; git() { :; }");
    await mkdir(join(root, "objects", "deep"));
    const places = [root, join(root, "objects", "deep")];
    expect(await Promise.all(places.map(runsPrograms))).toEqual([false, false]);
    await appendFile(join(root, "config"), "[core]\n\tfsmonitor = x\n");
    expect(await Promise.all(places.map(runsPrograms))).toEqual([true, true]);
  });

  test("names the other repositories from which it takes objects", async () => {
    const [root, other, link, file] = [await repository(), await repository(), await tempFolder(), await tempFolder()];
    const elsewhere = async (path: string) => host.lookUp({ what: "git", path });
    expect(await elsewhere(root)).toEqual([]);
    await writeFile(join(root, ".git", "objects", "info", "alternates"), `${other}/.git/objects\n`);
    expect(await elsewhere(root)).toEqual([join(other, ".git", "objects")]);
    await symlink("/etc/passwd", join(other, ".git", "objects", "info", "alternates"));
    expect(await elsewhere(root)).toBeUndefined();
    await rm(join(other, ".git", "objects", "info", "alternates"));
    await symlink(join(other, ".git"), join(link, ".git"));
    await writeFile(join(file, ".git"), `gitdir: ${other}/.git\n`);
    expect([await elsewhere(link), await elsewhere(file)]).toEqual(Array(2).fill([join(other, ".git")]));
    await rm(join(root, ".git", "objects", "info", "alternates"));
    shell(`ln -s ${other}/.git/objects/pack .git/objects/ff`, root);
    expect(await elsewhere(root)).toEqual([join(other, ".git", "objects", "pack")]);
  });

  test("recognises the repository of a linked working tree, of a submodule and of a separate folder", async () => {
    const root = await repository();
    const [tree, apart, git] = [`${root}-tree`, await tempFolder(), `${await tempFolder()}/git`];
    shell(
      `git worktree add -q ${tree}; git init -q ${root}-sub; cd ${root}-sub; echo a > a; git add .; git commit -qm a`,
      root,
    );
    shell(`git submodule --quiet add ${root}-sub sub`, root);
    shell(`git init -q --separate-git-dir=${git} .; git config core.worktree "$PWD"`, apart);
    const places = await Promise.all(
      [tree, join(root, "sub"), apart].map((path) => host.lookUp({ what: "git", path })),
    );
    for (const path of [tree, `${root}-sub`]) await rm(path, { recursive: true });
    expect(places).toEqual([[], [], []]);
  });

  test("can show anything if a folder of a repository looks like another one", async () => {
    const root = await repository();
    shell("mkdir -p made/objects made/refs; echo 'ref: refs/heads/x' > made/HEAD; git init -q --bare own.git", root);
    expect([await runsPrograms(join(root, "made")), await runsPrograms(join(root, "own.git"))]).toEqual([true, true]);
  });

  test.each(["", "--object-format=sha256"])("is judged by submodules, however deep: %j", async (format) => {
    const root = await repository(format);
    const nest = (folder: string) => `git -C ${folder} init -q ${format} sub; echo x > ${folder}/sub/a;
      git -C ${folder}/sub add .; git -C ${folder}/sub commit -qm sub; git -C ${folder} add sub 2> /dev/null`;
    shell([".", "sub", "sub/sub"].map(nest).join("\n"), root);
    expect(await runsPrograms(root)).toBe(false);
    shell("git update-index --index-version 4", root);
    expect(await runsPrograms(root)).toBe(false);
    shell("git -C sub/sub/sub config core.fsmonitor x", root);
    expect(await runsPrograms(root)).toBe(true);
  });

  test("is inspected with limits", async () => {
    const root = await repository();
    const id = execFileSync("git", ["rev-parse", "HEAD"], { cwd: root, encoding: "utf8" }).trim();
    const entries = Array.from({ length: 101 }, (_, index) => `160000 ${id}\tsub${index}\n`).join("");
    execFileSync("git", ["update-index", "--index-info"], { cwd: root, input: entries });
    expect(await runsPrograms(root)).toBe(true);
    const looped = await repository();
    shell(`git update-index --add --cacheinfo 160000,${id},sub; ln -s . sub`, looped);
    expect(await runsPrograms(looped)).toBe(true);
  });

  test("is unknown if variables lead it elsewhere", async () => {
    process.env.GIT_DIR = join(await repository(), ".git");
    onTestFinished(() => {
      delete process.env.GIT_DIR;
    });
    expect(await runsPrograms(await tempFolder())).toBe(true);
  });
});
