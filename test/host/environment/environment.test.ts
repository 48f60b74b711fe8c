import { existsSync } from "node:fs";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { release, type } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeEnvironment } from "../../../src/host/environment/environment.ts";
import { tempFolder } from "../support.ts";

interface Setting {
  readonly folder: string;
  /** The working directory. */
  readonly cwd: string;
  /** A program in a PATH folder that records its starts. */
  addTool(name: string): Promise<void>;
  /** The same, as a link into another folder. */
  linkTool(name: string, target: string): Promise<void>;
  describe(): Promise<readonly string[]>;
  wasStarted(): boolean;
}

/** A machine with only the given tools. */
async function machine(): Promise<Setting> {
  const folder = await tempFolder();
  const bin = join(folder, "bin");
  const cwd = join(folder, "project");
  for (const made of [bin, cwd]) await mkdir(made);
  const before = process.env.PATH;
  process.env.PATH = `:relative:${join(folder, "missing")}:${bin}`;
  onTestFinished(() => {
    process.env.PATH = before;
  });
  const addTool = async (name: string): Promise<void> => {
    await mkdir(dirname(join(bin, name)), { recursive: true });
    await writeFile(join(bin, name), `#!/bin/sh\ntouch ${join(folder, "started")}\necho 9.9.9\n`);
    await chmod(join(bin, name), 0o755);
  };
  return {
    folder,
    cwd,
    addTool,
    async linkTool(name, target) {
      await addTool(join("..", target));
      await symlink(join(folder, target), join(bin, name));
    },
    describe: () => describeEnvironment(cwd),
    wasStarted: () => existsSync(join(folder, "started")),
  };
}

function toolsOf(texts: readonly string[]): string | undefined {
  return texts[0]?.split("\n").find((line) => line.startsWith("Tools: "));
}

describe("the description of the machine", () => {
  test("has place, time and tools in a fixed order, and starts none", async () => {
    const { cwd, addTool, linkTool, describe: describeMachine, wasStarted } = await machine();
    for (const name of ["jq", "gcc", "go"]) await addTool(name);
    await linkTool("java", "usr/lib/jvm/java-21-openjdk-amd64/bin/java");
    const now = new Date();
    const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"));
    expect(await describeMachine()).toEqual([
      [
        "Environment",
        `Platform: ${process.platform} ${process.arch} (${type()} ${release()})`,
        "Shell: /bin/bash",
        `Date: ${date.join("-")}`,
        `Working directory: ${cwd}`,
        "Tools: go, java 21, gcc, jq",
      ].join("\n"),
    ]);
    expect(wasStarted()).toBe(false);
  });

  test("has no line about tools if there are none", async () => {
    const { describe: describeMachine } = await machine();
    expect(toolsOf(await describeMachine())).toBeUndefined();
  });

  test.each([
    ["python3", "usr/bin/python3.11", "python3 3.11"],
    ["python3", "Cellar/python@3.12/3.12.1/bin/python3.12", "python3 3.12"],
    ["python3", "usr/bin/python3", "python3"],
    ["gcc", "usr/bin/x86_64-linux-gnu-gcc-12", "gcc 12"],
    ["clang", "usr/lib/llvm-14/bin/clang", "clang 14"],
    ["go", "usr/lib/go-1.19/bin/go", "go 1.19"],
    ["go", "usr/local/go/bin/go", "go"],
    ["php", "usr/bin/php8.2", "php 8.2"],
    ["ruby", "usr/bin/ruby3.1", "ruby 3.1"],
    ["jq", "Cellar/jq/1.7.1/bin/jq", "jq 1.7.1"],
    ["git", "nix/store/0a1b2c3d-git-2.43.0/bin/git", "git 2.43.0"],
    ["java", "jvm/jdk-21.0.2+13/bin/java", "java 21.0.2"],
    ["node", "versions/node/v22.1.0/bin/node", "node 22.1.0"],
    ["git", "opt/tools-2.0/bin/git", "git"],
    ["make", "opt/1.2.3/bin/make", "make"],
  ])("takes the version of %s from the path %s", async (name, target, expected) => {
    const { linkTool, describe: describeMachine } = await machine();
    await linkTool(name, target);
    expect(toolsOf(await describeMachine())).toBe(`Tools: ${expected}`);
  });

  test("knows the version of the running Node", async () => {
    const { folder, describe: describeMachine } = await machine();
    await symlink(process.execPath, join(folder, "bin", "node"));
    expect(toolsOf(await describeMachine())).toBe(`Tools: node ${process.versions.node}`);
  });

  test("reports no version for version managers' shims", async () => {
    const { folder, addTool, linkTool, describe: describeMachine } = await machine();
    await addTool("shims/python3");
    await linkTool("cargo", "rust-1.80.0/bin/rustup");
    process.env.PATH = `${join(folder, "bin", "shims")}:${process.env.PATH}`;
    expect(toolsOf(await describeMachine())).toBe("Tools: python3, cargo");
  });

  test("names nothing in the working directory, and nothing that a project installed", async () => {
    const { folder, cwd, addTool, describe: describeMachine } = await machine();
    for (const bin of ["project/tools", "node_modules/.bin"]) {
      for (const name of ["git", "jq", "make"]) await addTool(`../${bin}/${name}`);
    }
    await symlink(join(cwd, "tools"), join(folder, "linked"));
    await symlink(join(cwd, "tools", "make"), join(folder, "bin", "make"));
    await addTool("jq");
    const evil = [join(cwd, "tools"), join(folder, "linked"), join(folder, "node_modules", ".bin")];
    process.env.PATH = `${evil.join(":")}:${process.env.PATH}`;
    expect(toolsOf(await describeMachine())).toBe("Tools: jq");
    // Elsewhere they are the user's own.
    expect(toolsOf(await describeEnvironment(join(folder, "elsewhere")))).toBe("Tools: git, make, jq");
  });

  test("starts no git from the working directory", async () => {
    const { folder, cwd, addTool, describe: describeMachine, wasStarted } = await machine();
    await mkdir(join(cwd, ".git", "refs"), { recursive: true });
    await mkdir(join(cwd, ".git", "objects"));
    await writeFile(join(cwd, ".git", "HEAD"), "ref: refs/heads/trunk\n");
    await addTool("../project/tools/git");
    process.env.PATH = `${join(folder, "project", "tools")}:${process.env.PATH}`;
    expect((await describeMachine())[1]).toMatch(/Branch: trunk$/);
    expect(wasStarted()).toBe(false);
  });
});
