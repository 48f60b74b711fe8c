import { execFileSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { chmod, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { credentialsBelow } from "../../src/host/git/git-credentials.ts";
import { ask, tree } from "./look-up-tree.ts";
import { tempFolder } from "./support.ts";

describe("git credentials", () => {
  async function found(config: string): Promise<readonly string[] | undefined> {
    const { ws } = await tree([".git/HEAD"]);
    await writeFile(join(ws, ".git", "config"), config);
    return (await ask("credentials", ws))?.map((path) => relative(ws, path));
  }

  test.each([
    '[remote "origin"]\n\turl = https://user:password@example.com/a.git\n',
    '[remote "origin"]\n\turl = https://ghp_token@example.com/a.git\n',
    '[remote "origin"]\n\tpushurl = HTTPS://x-access-token:abc@example.com/a.git\n',
    '[remote "origin"]\n\turl = ssh://me:password@example.com/a.git\n',
    '[remote "origin"]\n\turl = "https://user:pass\\\n word@example.com/a.git"\n',
    '[remote "origin"]\n\turl = https:"//"us\\\ner@example.com/a.git\n',
    '[url "https://token@example.com/"]\n\tinsteadOf = https://example.com/\n',
    '[http "https://example.com/"]\n\textraheader = AUTHORIZATION: basic abc\n',
    "[http] ExtraHeader=x\n",
    "[http]\n\tproxy = user:pw@proxy:8080\n",
    "[sendemail]\n\tsmtpPass = x\n",
    "[github]\n\toauth-token = x\n",
    "[x] client-secret = x\n",
    '[credential]\n\thelper = "!f() { echo username=a; echo password=b; }; f"\n',
  ])("are found in %j", async (config) => {
    expect(await found(config)).toEqual([".git/config"]);
  });

  test.each([
    "",
    '[remote "origin"]\n\turl = git@example.com:a/b.git\n',
    '[remote "origin"]\n\turl = ssh://git@example.com:22/a/b.git\n',
    '[remote "origin"]\n\turl = https://example.com/a@b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    '[url "https://example.com/"]\n\tinsteadOf = git@example.com:\n',
    "[core]\n\taskPass = program\n\tautocrlf = input\n",
    "[credential]\n\thelper = store\n\tusername = me\n",
  ])("are not found in %j", async (config) => {
    expect(await found(config)).toEqual([]);
  });

  test("are unknown if the settings continue elsewhere, or are unreadable", async () => {
    expect(await found("[include]\n\tpath = more\n")).toBeUndefined();
    expect(await found('[includeIf "gitdir:/"]\n\tpath = more\n')).toBeUndefined();
    expect(await found("#".repeat(300_000))).toBeUndefined();
    const { ws } = await tree([".git/HEAD"]);
    execFileSync("mkfifo", [join(ws, ".git", "config")]);
    expect(await ask("credentials", ws)).toBeUndefined();
  });

  test("are searched for in repositories below, and unknown if there are too many folders", async () => {
    const { ws } = await tree(["a/b/c/.git/HEAD", "a/d/", "e/"]);
    const config = join(ws, "a/b/c/.git/config");
    await writeFile(config, '[remote "origin"]\n\turl = https://token@example.com/a.git\n');
    expect([await ask("credentials", ws), await credentialsBelow(ws, 6)]).toEqual([[config], [config]]);
    expect([await credentialsBelow(ws, 3), await credentialsBelow(ws, 2)]).toEqual([undefined, undefined]);
  });

  test("are searched in submodules, working trees, and where a file leads", async () => {
    const { ws, out } = await tree([".git/HEAD", ".git/modules/a/HEAD", ".git/modules/libs/b/HEAD", "src/"]);
    const secret = '[remote "origin"]\n\turl = https://token@example.com/a.git\n';
    const holding = [
      ".git/config.worktree",
      ".git/modules/a/config",
      ".git/modules/libs/b/config",
      ".git/modules/libs/b/modules/c/config",
      ".git/worktrees/w/config.worktree",
    ];
    for (const name of holding) {
      await mkdir(join(ws, dirname(name)), { recursive: true });
      await writeFile(join(ws, name), secret);
    }
    await writeFile(join(ws, ".git/config"), "[core]\n\tbare = false\n");
    const all = holding.map((name) => join(ws, name));
    expect(await ask("credentials", ws)).toEqual(all);
    expect(await ask("credentials", join(ws, "src"))).toEqual([]);
    await symlink(ws, join(out, "link"));
    expect(await ask("credentials", join(out, "link"))).toEqual(all);

    await writeFile(join(ws, "src", ".git"), "gitdir: ../.git/modules/libs/b\n");
    expect(await ask("credentials", join(ws, "src"))).toEqual(all.slice(2, 4));
    await writeFile(join(ws, "src", ".git"), "gitdir: nowhere\n");
    expect(await ask("credentials", join(ws, "src"))).toBeUndefined();

    const linked = join(out, "linked");
    await mkdir(linked);
    await writeFile(join(ws, ".git/worktrees/w/HEAD"), "");
    await writeFile(join(ws, ".git/worktrees/w/commondir"), "../..\n");
    await writeFile(join(linked, ".git"), `gitdir: ${ws}/.git/worktrees/w\n`);
    expect(await ask("credentials", linked)).toEqual(all);
  });
});

describe("a program's file", () => {
  function usePath(path: string | undefined): void {
    const before = process.env.PATH;
    onTestFinished(() => {
      process.env.PATH = before;
    });
    if (path === undefined) delete process.env.PATH;
    else process.env.PATH = path;
  }

  async function program(path: string): Promise<string> {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, "#!/bin/sh\n");
    await chmod(path, 0o755);
    return path;
  }

  test("is the first executable on the PATH, links resolved", async () => {
    const base = await tempFolder();
    const real = await program(join(base, "real", "tool-1.0"));
    for (const folder of ["a/tool", "b", "c", "d"]) await mkdir(join(base, folder), { recursive: true });
    await writeFile(join(base, "b", "tool"), "not executable");
    await symlink(real, join(base, "c", "tool"));
    await program(join(base, "d", "tool"));
    usePath(["none", "a", "b", "c", "d"].map((name) => join(base, name)).join(":"));
    expect(await ask("program", "tool")).toEqual([real]);
    await rm(join(base, "c", "tool"));
    expect(await ask("program", "tool")).toEqual([join(base, "d", "tool")]);
    await rename(join(base, "d"), join(base, "e"));
    expect(await ask("program", "tool")).toEqual([]);
  });

  test("is unknown if it depends on the folder, unless it is in ours", async () => {
    const base = await tempFolder();
    const file = await program(join(base, "bin", "tool"));
    const ours = `${relative(process.cwd(), base)}/bin`;
    const found: unknown[] = [];
    for (const path of [
      `${base}/bin:`,
      `${base}/bin::x`,
      `:${base}/bin`,
      `.:${base}/bin`,
      ours,
      `${ours}:/bin`,
      "",
      undefined,
    ]) {
      usePath(path);
      found.push(await ask("program", "tool"));
    }
    expect(found).toEqual([[file], [file], undefined, undefined, [file], [file], undefined, undefined]);
  });

  test("needs a plain name", async () => {
    for (const name of ["", "/bin/sh", "./sh", "a\0b"]) expect(await ask("program", name)).toBeUndefined();
    expect(await ask("program", "sh")).toEqual([realpathSync("/bin/sh")]);
    expect(basename((await ask("program", "bash"))?.[0] ?? "")).toBe("bash");
  });
});

test("git is inspected where a folder leads, except where that differs between processes", async () => {
  const { ws, out } = await tree(["link-target/"], { link: "OUT" });
  await mkdir(join(out, ".git"));
  await writeFile(join(out, ".git", "config"), "[core]\n\tfsmonitor = x\n");
  expect([await ask("git", ws), await ask("git", `${ws}/link`), await ask("git", "/proc/self/cwd")]).toEqual([
    [],
    undefined,
    undefined,
  ]);
});
