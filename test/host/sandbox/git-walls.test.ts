import { existsSync } from "node:fs";
import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { canContain, createWorld, testRefusal, type World } from "./contained.ts";

const identity = "git -c user.name=a -c user.email=a@example.org";

async function worldWithRepository(name: string): Promise<World> {
  const world = await createWorld(name);
  onTestFinished(world.end);
  const made = await world.run("git init -q . && git commit -q --allow-empty -m first", null, {
    variables: { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a" },
  });
  expect(made.end).toEqual({ type: "exit", code: 0 });
  return world;
}

async function program(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

if (await canContain()) {
  test("git writes the folder of a linked working tree, and none that a planted file names", async () => {
    const world = await worldWithRepository("linked");
    const tree = join(world.folder, "tree");
    expect((await world.run(`git worktree add -q ${tree}`, null)).end).toEqual({ type: "exit", code: 0 });
    const folders = [join(world.workspace, ".git"), join(world.workspace, ".git/worktrees/tree")];
    const inTree = { cwd: tree, variables: { HOME: world.home } };
    const walls = { writable: [tree, world.sandbox.tempOf(world.sessionId)], repositories: folders };
    const commit = `${identity} commit -q --allow-empty -m second`;
    expect((await world.run(commit, walls, inTree)).end).toEqual({ type: "exit", code: 0 });

    const planted = join(world.workspace, "planted");
    await mkdir(planted);
    await writeFile(join(planted, ".git"), `gitdir: ${world.home}\n`);
    await symlink(world.home, join(world.workspace, "linked"));
    const write = `echo x > ${world.home}/planted; echo x > ${world.home}/HEAD`;
    await world.run(write, { writable: [world.workspace], repositories: [world.home] }, { cwd: planted });
    await world.run(write, { writable: [world.workspace], repositories: [world.home] });
    expect([existsSync(join(world.home, "planted")), existsSync(join(world.home, "HEAD"))]).toEqual([false, false]);
    // Control: with rights to the folder, the same command writes there.
    await world.run(write, { writable: [world.workspace, world.home] });
    expect(existsSync(join(world.home, "planted"))).toBe(true);
  });

  test("a hook's file that redirects git is removed when its command ends", async () => {
    const world = await worldWithRepository("redirected");
    const pointer = join(world.workspace, ".git/commondir");
    await program(join(world.workspace, ".git/hooks/pre-commit"), "echo ../evil > .git/commondir");
    const commit = `${identity} commit -q --allow-empty -m second; true`;
    // Control: without walls it stays.
    await world.run(commit, null);
    expect(existsSync(pointer)).toBe(true);
    await world.run(`rm ${pointer}`, null);
    const result = await world.run(commit, { unwanted: [pointer] });
    expect(existsSync(pointer)).toBe(false);
    expect(result.head + result.tail).toContain(`[${pointer} was removed: it appeared while this command ran.]`);
  });

  test("a command that changes git's settings runs no hooks", async () => {
    const world = await worldWithRepository("settings");
    const evil = `git config core.fsmonitor evil`;
    await program(join(world.workspace, ".git/hooks/post-checkout"), evil);
    const config = () => readFile(join(world.workspace, ".git/config"), "utf8");
    await world.run("git switch -q -c one", { runsHooks: false });
    expect(await config()).not.toContain("evil");
    expect((await world.run("git branch --show-current", null)).head).toBe("one\n");
    // Control: with hooks, the setting changes.
    await world.run("git switch -q -c two", {});
    expect(await config()).toContain("evil");
  });

  test("installers leave git's hooks alone, and git runs them", async () => {
    const world = await worldWithRepository("husky");
    const folder = join(world.workspace, ".git");
    const look = `echo "husky: $HUSKY"`;
    await program(join(folder, "hooks/pre-commit"), look);
    const commit = `${identity} commit -q --allow-empty -m second`;
    expect([
      (await world.run(look)).head,
      (await world.run(commit, { writable: [world.workspace], repositories: [folder] })).head,
    ]).toEqual(["husky: 0\n", "husky: \n"]);
  });

  test("a folder that git creates outside the workspace is opened, an existing one is not", async () => {
    const world = await worldWithRepository("folders");
    const [fresh, old] = [join(world.folder, "fresh"), join(world.folder, "old")];
    await mkdir(old);
    const writing = (path: string) =>
      world.run(`git worktree add -q ${path}`, { newFolders: [path], runsHooks: false });
    expect((await writing(fresh)).end).toEqual({ type: "exit", code: 0 });
    expect(existsSync(join(fresh, ".git"))).toBe(true);
    expect((await writing(old)).end).not.toEqual({ type: "exit", code: 0 });
    expect(existsSync(join(old, ".git"))).toBe(false);
  });
} else {
  testRefusal();
}
