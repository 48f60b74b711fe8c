import { execFileSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ProtectedPaths } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { tempFolder } from "./support.ts";

const { guards, lookUp } = createNodeHost({ outputsDir: "/nowhere" });
const nothing: ProtectedPaths = { closed: [], kept: [], programs: [], links: [] };

/** A folder with these files (a name with a trailing slash is a folder) and links. */
async function folder(files: readonly string[], links: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = await tempFolder();
  for (const name of files) {
    await mkdir(join(root, name.endsWith("/") ? name : dirname(name)), { recursive: true });
    if (!name.endsWith("/")) await writeFile(join(root, name), "");
  }
  for (const [name, target] of Object.entries(links)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await symlink(target, join(root, name));
  }
  return root;
}

describe("targets of places", () => {
  const leadTo = async (root: string, places: Partial<ProtectedPaths>) => {
    const full = (names: readonly string[] = []) => names.map((name) => join(root, name));
    const found = await guards.leadTo({
      ...nothing,
      closed: full(places.closed),
      kept: full(places.kept),
      programs: full(places.programs),
    });
    const short = (paths: readonly string[]) => paths.map((path) => path.replace(`${root}/`, ""));
    return {
      closed: short(found.closed),
      kept: short(found.kept),
      programs: short(found.programs),
      links: short(found.links),
    };
  };

  test("include links themselves, on their way and in them, and missing paths", async () => {
    const root = await folder(["dots/bashrc", "dots/ssh/id", "dots/sshconfig", "dots/v1/zshrc", "fish/a/b/c/"], {
      ".bashrc": "dots/bashrc",
      ".ssh": "dots/ssh",
      "dots/ssh/config": "../sshconfig",
      ".profile": "dots/profile",
      ".config": "dots/config",
      now: "dots/v1",
      ".zshrc": "now/zshrc",
      "fish/inside": "a",
      "fish/a/deep": "../../dots/deep",
      "fish/a/b/deeper": "../../../dots/deeper",
    });
    const closed = [".bashrc", ".ssh", ".profile", ".zshrc", ".netrc", "fish"];
    expect(await leadTo(root, { closed, kept: [".config/nvim"] })).toEqual({
      closed: ["dots/bashrc", "dots/deep", "dots/profile", "dots/ssh", "dots/sshconfig", "dots/v1/zshrc"],
      kept: ["dots/config/nvim"],
      programs: [],
      links: [".config", "now"],
    });
  });

  test("exclude loops, devices, and folders around the place itself; and individual programs", async () => {
    const root = await folder(["real/a", "bin/", "tools/x"], {
      a: "b",
      b: "a",
      null: "/dev/null",
      "up/here": "..",
      up2: ".",
      "bin/x": "../tools/x",
      bin2: "tools",
    });
    expect(await leadTo(root, { closed: ["a", "null", "up", "up2"], programs: ["bin", "bin2"] })).toEqual({
      closed: [],
      kept: [],
      programs: ["tools"],
      links: ["b"],
    });
  });

  test("are searched in a few hundred files, not more", async () => {
    const links = Array.from({ length: 400 }, (_, index) => [`ssh/${index}`, `../dots/${index}`] as const);
    const root = await folder([], Object.fromEntries(links));
    expect((await leadTo(root, { closed: ["ssh"] })).closed.length).toBe(300);
  });
});

test("a path has its links, each in its own folder, and its end", async () => {
  const root = await folder(["real/sub/a"], { one: "two", two: "real", "real/b": "sub/a", loop: "loop" });
  const way = async (path: string) => (await guards.way(`${root}/${path}`)).map((at) => at.replace(`${root}/`, ""));
  expect({
    plain: await way("real/sub/a"),
    chain: await way("one/sub/a"),
    both: await way("one/b"),
    up: await way("one/../one/sub/../b"),
    missing: await way("one/none/x"),
    loop: await way("loop/x"),
  }).toEqual({
    plain: ["real/sub/a"],
    chain: ["one", "two", "real/sub/a"],
    both: ["one", "two", "real/b", "real/sub/a"],
    up: ["one", "two", "one", "two", "real/b", "real/sub/a"],
    missing: ["one", "two", "real/none/x"],
    loop: ["loop", "loop"],
  });
  expect(await guards.way("/proc/self/cwd/x")).toEqual(["/proc/self/cwd/x"]);
});

describe("repositories", () => {
  const git = (cwd: string, ...args: readonly string[]) =>
    execFileSync("git", args, { cwd, env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", HOME: cwd } });
  const around = async (root: string, path: string, below = false) => {
    const found = await guards.repositories([path === "" ? root : join(root, path)], { below });
    const short = (paths: readonly string[]) =>
      paths.filter((at) => at.startsWith(root)).map((at) => at.slice(root.length + 1));
    return { closed: short(found.closed), kept: short(found.kept) };
  };
  const settingsIn = (...folders: readonly string[]) =>
    folders.flatMap((at) => [`${at}/config`, `${at}/config.worktree`, `${at}/hooks`]);

  test("are found by their look, and by what points at them", async () => {
    const root = await folder(["wt/src/a", "other/a"]);
    git(root, "init", "-q", "--separate-git-dir=store", "wt");
    const store = { closed: settingsIn("store"), kept: ["store"] };
    const tree = { ...store, kept: ["store", "wt/.git"] };
    expect({
      inside: await around(root, "store/hooks/pre-commit"),
      itself: await around(root, "store"),
      tree: await around(root, "wt/src/new/file"),
      beside: await around(root, "other/a"),
      above: await around(root, ""),
      below: await around(root, "", true),
    }).toEqual({
      inside: store,
      itself: store,
      tree,
      beside: { closed: [], kept: [] },
      above: { closed: [], kept: [] },
      below: tree,
    });
  });

  test("are found further down, but not in build folders", async () => {
    const root = await folder(["a/b/c/d/x", "node_modules/p/x", "s/file"]);
    for (const path of ["a/b", "a/b/c/d", "node_modules/p"]) git(join(root, path), "init", "-q");
    const { kept } = await around(root, "", true);
    expect(kept).toEqual(["a/b/.git", "a/b/c/d/.git"]);
  });

  test("have the hooks that links and settings name, existing or not", async () => {
    const root = await folder(["realhooks/", "tools/", "a"]);
    git(root, "init", "-q");
    git(root, "config", "core.hooksPath", "tools/hooks/deep");
    execFileSync("rm", ["-r", join(root, ".git/hooks")]);
    await symlink("../realhooks", join(root, ".git/hooks"));
    const of = async (value: string) => {
      git(root, "config", "core.hooksPath", value);
      return (await around(root, "a")).kept.filter((path) => !path.startsWith(".git"));
    };
    expect((await around(root, "a")).closed).toEqual([...settingsIn(".git"), "realhooks"]);
    expect({
      missing: await of("tools/hooks/deep"),
      there: await of("tools"),
      absolute: await of(join(root, "tools")),
      husky: await of(".husky/_"),
      odd: await of('to"ols #1'),
      nowhere: await of("/dev/null"),
      everything: await of("."),
    }).toEqual({
      missing: ["tools/hooks"],
      there: ["tools"],
      absolute: ["tools"],
      husky: [".husky"],
      odd: ["tools", "tools #1"],
      nowhere: [],
      everything: [],
    });
  });

  test("have further working trees, and folders with other names", async () => {
    const root = await folder(["main/a"], { "linked/.git": "../main/.git" });
    git(join(root, "main"), "init", "-q");
    const commit = ["-c", "user.name=a", "-c", "user.email=a", "commit", "-q", "--allow-empty", "-m", "x"];
    git(join(root, "main"), ...commit);
    git(join(root, "main"), "worktree", "add", "-q", "../second");
    git(root, "init", "-q", "--bare", "depot");
    const second = await around(root, "second/a");
    expect(second.kept).toEqual(["main/.git", "main/.git/worktrees/second", "second/.git"]);
    expect((await around(root, "linked/a")).kept).toEqual(["linked/.git", "main/.git"]);
    expect((await around(root, "depot/refs/heads/x")).kept).toEqual(["depot"]);
  });

  test("can have a Tinman folder that leads elsewhere", async () => {
    const root = await folder(["rules/config.yaml", "one.yaml", "b/"], {
      "a/.tinman": "../rules",
      "b/.tinman/config.yaml": "../../one.yaml",
    });
    expect([await around(root, "a/x"), await around(root, "b/x")]).toEqual([
      { closed: ["rules", "rules/config.yaml"], kept: [] },
      { closed: ["one.yaml"], kept: [] },
    ]);
  });

  test("are not searched where none can be", async () => {
    for (const path of ["relative", "/proc/self/cwd", "/nowhere\0", ""])
      expect([path, await guards.repositories([path])]).toEqual([path, nothing]);
  });
});

test("files that git would take for hooks are found below a folder", async () => {
  const root = await folder(["a/store/hooks/pre-commit", "a/pre-push/x", "b/commit-msg.sample", "c/POST-MERGE"]);
  const below = async (name: string) => await lookUp({ what: "hooks-below", path: join(root, name) });
  expect([await below("a"), await below("b"), await below("c"), await below("none")]).toEqual([
    [join(root, "a/store/hooks")],
    [],
    [join(root, "c")],
    [],
  ]);
});
