import { expect, test } from "vitest";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { context, policy } from "./at-high.ts";

async function verdict(command: string): Promise<string> {
  const here = { ...context, tool: "Execute", cwd: "/home/u/code/ws", readable: [], enabledTools: ["Execute"] };
  const host = createMemoryHost({ "/home/u/code/ws/src/a.ts": "" });
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, here);
  const decided = policy.decide(accesses, here);
  return `${decided.verdict} ${decided.rule}`;
}

test.each([
  "fd -H . -X rm -rf",
  "fd --hidden -x rm {}",
  "rg --files --hidden . | xargs rm",
  "rg -l --hidden '' | xargs rm -f",
  "du -a | cut -f2 | xargs rm -rf",
  "fdupes -rdN ~",
  "shopt -s nocaseglob; rm -rf .GI*",
  "shopt -s extglob\nrm -rf .!(|.)",
  "git worktree remove -f .",
  'git worktree remove --force "$PWD"',
  "git worktree move . ../gone",
  "git clean -ffdx",
  "git clean -f -d --force",
  "git --work-tree=$HOME checkout -f",
  "git --work-tree=.. checkout -f",
  "GIT_WORK_TREE=$HOME git checkout -f",
  "git archive HEAD | (cd ~ && tar x)",
  "rsync -a --remove-source-files . /tmp/x",
  `perl -e 'use File::Path; rmtree($ENV{HOME})'`,
  `perl -e 'use File::Path; rmtree $d'`,
  `perl -e 'chdir; system "rm -rf *"'`,
  `awk 'BEGIN{system("rm -rf " ENVIRON["HOME"])}'`,
  `php -r 'system("rm -rf ".$_SERVER["HOME"]);'`,
  `deno eval 'Deno.removeSync(Deno.cwd(), { recursive: true })'`,
  `node -e 'require("fs").rmSync(require("path").resolve(), { recursive: true })'`,
  `python3 -c 'import pathlib,shutil; shutil.rmtree(pathlib.Path.cwd())'`,
  `python3 -c 'import os,shutil; shutil.rmtree(os.curdir)'`,
  `ruby -e 'require "fileutils"; FileUtils.rm_rf Dir.pwd' && ruby -e 'FileUtils.rm_rf(Dir.pwd)'`,
  `emacs --batch --eval '(delete-directory ".git" t)'`,
  `python3 -c 'import shutil as s; f = s.rmtree; f("/home/" + name)'`,
  `python3 -c 'from shutil import rmtree as r; r(folder)'`,
  `python3 -c 'import subprocess; subprocess.run(["rm", "-rf", home])'`,
  `node -e 'require("child_process").spawn("rm", ["-r", "-f", home])'`,
  `node -e 'fs.rm(require("os").homedir(), { recursive: true }, () => {})'`,
  `node -e 'fs.rmdirSync(process.env["HO" + "ME"], { recursive: true })'`,
  `node -e 'await fs.promises.rm(folder, { force: true, recursive: true })'`,
  `node -e 'const r = "rm" + "Sync"; fs[r](folder, { recursive: true })'`,
  `ruby -e 'FileUtils.rm_rf Dir.home'`,
  `ruby -rfileutils -e 'FileUtils.remove_dir(folder)'`,
  "echo x >> ~+/../../.zshrc",
  "echo x >> ~-/.zshrc",
  "curl 'file:///home/u/%2essh/id_rsa'",
  "curl 'file:///home/u/.{ssh,aws}/id_rsa'",
  "curl 'file://localhost/home/u/.s[r-t]h/id_rsa'",
  "curl 'file:///home/u/code/../%2E%73sh/id_rsa'",
  "curl FILE:/home/u/.ssh/id_rsa",
  'rm -rf $(dirname "$PWD/x")',
  `rm -rf \${PWD%/w}/w`,
  "ls -a | grep git | xargs rm -rf",
  'ls -A | awk "{print}" | xargs rm -rf',
  "git worktree remove -f sub/..",
  "cd ~ && git --git-dir=$OLDPWD/.git reset --hard",
  "trash-put ~",
  "gvfs-trash ~",
  "srm -rf .",
  "wipe -rf .",
  "umount ~",
  "mount --bind x ~",
  "userdel -r root",
  "docker run -v $PWD:/x alpine rm -rf /x",
])("%s asks at high", async (command) => {
  expect(await verdict(command)).toMatch(/^deny (catastrophic|protected-place)$/);
});

test.each([
  `node -e 'require("fs").rmSync("build", { recursive: true })'`,
  `python3 -c 'import shutil; shutil.rmtree("build")'`,
  `python3 -c 'from shutil import rmtree; rmtree("build/x"); print("done")'`,
  `node -e 'await fs.promises.rm("build", { recursive: true })'`,
  `node -e 'fs.mkdirSync(folder, { recursive: true })'`,
  `ruby -e 'FileUtils.rm_rf "build"'`,
  `python3 -c 'import subprocess; subprocess.run(["rm", "-rf", "build"])'`,
  "curl 'https://example.com/a%20{b,c}[1-3]'",
  "git worktree remove ../other",
  "git worktree move ../a ../b",
  "git clean -fd",
  "docker run -v $PWD/data:/x alpine rm -rf /x/y",
  "./unpack.sh && tar xf a.tar",
  "GIT_WORK_TREE=/tmp/x git checkout -f",
  "shopt -s nocaseglob; ls *.MD",
])("%s needs no approval at high", async (command) => {
  expect(await verdict(command)).toMatch(/^allow /);
});
