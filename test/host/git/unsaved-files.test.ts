import { execFileSync } from "node:child_process";
import { appendFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ask, tree } from "../look-up-tree.ts";

const identity = ["-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false"];

function git(cwd: string, ...args: string[]): void {
  const env = { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" };
  execFileSync("git", [...identity, ...args], { cwd, env });
}

/** A repository with tracked files, one of them changed, and untracked ones. */
async function repository(init: readonly string[] = []): Promise<string> {
  const { ws } = await tree(["src/a.ts", "src/deep/b.ts", "lib/c.ts", "docs/d.md"]);
  for (const name of ["src/a.ts", "src/deep/b.ts", "lib/c.ts"]) await writeFile(join(ws, name), `${name}\n`);
  await symlink("a.ts", join(ws, "src", "link.ts"));
  git(ws, "init", "-q", ...init);
  git(ws, "add", ".");
  git(ws, "commit", "-q", "-m", "all");
  await appendFile(join(ws, "lib/c.ts"), "changed\n");
  await mkdir(join(ws, "out/x"), { recursive: true });
  await writeFile(join(ws, "out/x/y"), "");
  await mkdir(join(ws, "plans/a"), { recursive: true });
  await writeFile(join(ws, "plans/a/b.md"), "");
  await writeFile(join(ws, "plans/c.md"), "");
  await writeFile(join(ws, "notes.txt"), "");
  return ws;
}

describe("files that git could not restore", () => {
  test.each([
    ["sha1", []],
    ["sha256", ["--object-format=sha256"]],
  ])("are the untracked ones, with %s", async (_, init) => {
    const ws = await repository(init);
    const found: Record<string, unknown> = {};
    for (const name of [
      "src/a.ts",
      "src",
      "src/link.ts",
      "docs",
      "notes.txt",
      "out",
      "plans",
      "gone.txt",
      "*.txt",
      "s*",
    ]) {
      found[name] = await ask("unsaved", join(ws, name));
    }
    expect(found).toEqual({
      "src/a.ts": [],
      src: [],
      "src/link.ts": [],
      docs: [],
      "notes.txt": [join(ws, "notes.txt")],
      out: [join(ws, "out")],
      plans: [join(ws, "plans/a/b.md"), join(ws, "plans/c.md")],
      "gone.txt": [join(ws, "gone.txt")],
      "*.txt": [join(ws, "notes.txt")],
      "s*": [],
    });
  });

  test("are unknown if a tracked file has changed", async () => {
    const ws = await repository();
    expect([await ask("unsaved", join(ws, "lib/c.ts")), await ask("unsaved", join(ws, "lib"))]).toEqual([
      undefined,
      undefined,
    ]);
    await rm(join(ws, "lib/c.ts"));
    expect(await ask("unsaved", join(ws, "lib"))).toEqual([]);
  });

  test("include new files in a tracked folder", async () => {
    const ws = await repository();
    await writeFile(join(ws, "src/deep/new.ts"), "");
    expect(await ask("unsaved", join(ws, "src"))).toEqual([join(ws, "src/deep/new.ts")]);
  });

  test("are unknown for a new file in a folder named like a build's that has tracked files", async () => {
    const ws = await repository();
    await mkdir(join(ws, "src/build"));
    await writeFile(join(ws, "src/build/tracked.ts"), "");
    git(ws, "add", ".");
    await writeFile(join(ws, "src/build/new.ts"), "");
    await mkdir(join(ws, "build"));
    await writeFile(join(ws, "build/new.js"), "");
    expect(await ask("unsaved", join(ws, "src/build/new.ts"))).toBeUndefined();
    expect(await ask("unsaved", join(ws, "build/new.js"))).toEqual([join(ws, "build/new.js")]);
  });

  test("are all files outside a repository, and where another folder's files are shown", async () => {
    const { ws } = await tree(["a"]);
    expect(await ask("unsaved", join(ws, "a"))).toEqual([join(ws, "a")]);
    const other = await repository();
    git(other, "config", "core.worktree", ws);
    expect(await ask("unsaved", join(other, "src/a.ts"))).toBeUndefined();
  });

  test("follow a link with a trailing slash, as rm does", async () => {
    const ws = await repository();
    await symlink("lib", join(ws, "dist"));
    await symlink("plans", join(ws, "build"));
    expect(await ask("unsaved", join(ws, "dist/"))).toBeUndefined();
    expect(await ask("unsaved", join(ws, "build/"))).toEqual([join(ws, "plans/a/b.md"), join(ws, "plans/c.md")]);
    expect(await ask("unsaved", join(ws, "build"))).toEqual([join(ws, "build")]);
  });

  test("exclude files that are only staged", async () => {
    const ws = await repository();
    git(ws, "add", "notes.txt");
    expect(await ask("unsaved", join(ws, "notes.txt"))).toEqual([]);
  });
});
