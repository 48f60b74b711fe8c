import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, symlink, utimes, writeFile } from "node:fs/promises";
import { release, type } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { describeEnvironment } from "../../src/host/environment.ts";
import { eventually, longNap, processesWith, tempFolder } from "./support.ts";

interface Setting {
  readonly folder: string;
  /** The folder that is worked in. */
  readonly cwd: string;
  readonly cacheFile: string;
  /** What fake tools noted when they were started: their name and where. */
  calls(): Promise<readonly string[]>;
  addTool(name: string, script: string): Promise<void>;
  describe(): Promise<readonly string[]>;
}

/** A machine that has only the tools that the test puts there. */
async function machine(): Promise<Setting> {
  const folder = await tempFolder();
  const bin = join(folder, "bin");
  const log = join(folder, "calls");
  const cacheFile = join(folder, "home", "cache", "tools.json");
  const cwd = join(folder, "project");
  for (const made of [bin, cwd]) await mkdir(made);
  const before = process.env.PATH;
  process.env.PATH = `:relative:${join(folder, "missing")}:${bin}`;
  onTestFinished(() => {
    process.env.PATH = before;
  });
  return {
    folder,
    cwd,
    cacheFile,
    async calls() {
      const text = await readFile(log, "utf8").catch(() => "");
      return text.split("\n").filter(Boolean).sort();
    },
    async addTool(name, script) {
      await mkdir(dirname(join(bin, name)), { recursive: true });
      await writeFile(join(bin, name), `#!/bin/sh\necho "${name} $* in $PWD" >> ${log}\n${script}\n`);
      await chmod(join(bin, name), 0o755);
    },
    describe: () => describeEnvironment({ cacheFile })(cwd),
  };
}

function toolsOf(texts: readonly string[]): string | undefined {
  return texts[0]?.split("\n").find((line) => line.startsWith("Tools: "));
}

describe("the description of the machine", () => {
  test("says where and when we are and which tools there are, in a fixed order", async () => {
    const { cwd, addTool, describe: describeMachine } = await machine();
    await addTool("jq", "echo jq-1.7.1");
    await addTool("gcc", "echo 'gcc (Debian 12.2.0-14) 12.2.0'");
    await addTool("java", "echo 'openjdk 21.0.2 2024-01-16' >&2");
    await addTool("go", '[ "$1" = version ] && echo go version go1.22.1 linux/amd64');
    const now = new Date();
    const date = [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((part) => String(part).padStart(2, "0"));
    expect(await describeMachine()).toEqual([
      [
        "Environment",
        `Platform: ${process.platform} ${process.arch} (${type()} ${release()})`,
        "Shell: /bin/bash",
        `Date: ${date.join("-")}`,
        `Working directory: ${cwd}`,
        "Tools: go 1.22.1, java 21.0.2, gcc 12.2.0, jq 1.7.1",
      ].join("\n"),
    ]);
  });

  test("has no line about tools when there are none", async () => {
    const { describe: describeMachine } = await machine();
    expect(toolsOf(await describeMachine())).toBeUndefined();
  });

  test("starts nothing when it has the versions already, and asks again for a program that changed", async () => {
    const { addTool, calls, describe: describeMachine } = await machine();
    await addTool("jq", "echo jq-1.6");
    await addTool("make", "echo GNU Make 4.3");
    const asked = ["jq --version in /", "make --version in /"];
    expect(toolsOf(await describeMachine())).toBe("Tools: make 4.3, jq 1.6");
    expect(await calls()).toEqual(asked);
    expect(toolsOf(await describeMachine())).toBe("Tools: make 4.3, jq 1.6");
    expect(await calls()).toEqual(asked);
    await addTool("jq", "echo jq-1.7.1");
    expect(toolsOf(await describeMachine())).toBe("Tools: make 4.3, jq 1.7.1");
    expect(await calls()).toEqual(["jq --version in /", ...asked]);
  });

  test("notices a program that was replaced by one of the same size", async () => {
    const { folder, addTool, describe: describeMachine } = await machine();
    await addTool("jq", "echo jq-1.6");
    await utimes(join(folder, "bin", "jq"), 1000, 1000);
    expect(toolsOf(await describeMachine())).toBe("Tools: jq 1.6");
    await addTool("jq", "echo jq-1.7");
    expect(toolsOf(await describeMachine())).toBe("Tools: jq 1.7");
  });

  test("names a tool without its version when it fails, is silent or takes too long, and gives up asking", async () => {
    const { addTool, calls, describe: describeMachine } = await machine();
    const nap = longNap();
    await addTool("docker", `sleep ${nap} & sleep ${nap}`);
    await addTool("make", "echo 'version 1.2.3: no'; exit 1");
    await addTool("jq", "echo something else");
    for (let start = 0; start < 5; start += 1) expect(toolsOf(await describeMachine())).toBe("Tools: docker, make, jq");
    expect((await calls()).length).toBe(9);
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
  });

  test("takes the version of a script from its package and starts nothing", async () => {
    const { folder, addTool, calls, describe: describeMachine } = await machine();
    const packages = join(folder, "packages");
    for (const [name, script] of [
      ["npm", "bin/npm-cli.js"],
      ["corepack", "dist/yarn.js"],
    ] as const) {
      await mkdir(dirname(join(packages, name, script)), { recursive: true });
      await writeFile(join(packages, name, script), "throw new Error('started')");
      await chmod(join(packages, name, script), 0o755);
      await writeFile(join(packages, name, "package.json"), JSON.stringify({ name, version: "9.8.7" }));
    }
    await addTool("jq", "echo jq-1.6");
    await symlink("../packages/npm/bin/npm-cli.js", join(folder, "bin", "npm"));
    await symlink("../packages/corepack/dist/yarn.js", join(folder, "bin", "yarn"));
    expect(toolsOf(await describeMachine())).toBe("Tools: npm 9.8.7, yarn, jq 1.6");
    expect(await calls()).toEqual(["jq --version in /"]);
  });

  test("does not ask stand-ins of version managers, whose answer holds for one folder", async () => {
    const { folder, addTool, calls, describe: describeMachine } = await machine();
    await addTool("shims/python3", "echo Python 3.12.1");
    await addTool("rustup", "echo cargo 1.80.0");
    await symlink("rustup", join(folder, "bin", "cargo"));
    process.env.PATH = `${join(folder, "bin", "shims")}:${process.env.PATH}`;
    expect(toolsOf(await describeMachine())).toBe("Tools: python3, cargo");
    expect(await calls()).toEqual([]);
  });

  test.each(["", "{", "null", "[1]", '{"a":null}', '{"jq":{"version":3}}'])(
    "survives %j in its cache",
    async (content) => {
      const { cacheFile, addTool, describe: describeMachine } = await machine();
      await addTool("jq", "echo jq-1.6");
      await mkdir(dirname(cacheFile), { recursive: true });
      await writeFile(cacheFile, content);
      expect(toolsOf(await describeMachine())).toBe("Tools: jq 1.6");
      expect(Object.values(JSON.parse(await readFile(cacheFile, "utf8")).versions)).toContainEqual({
        version: "1.6",
        tries: 1,
      });
    },
  );

  test("survives a cache that cannot be written", async () => {
    const { folder, cwd, addTool } = await machine();
    await addTool("jq", "echo jq-1.6");
    await writeFile(join(folder, "file"), "");
    const texts = await describeEnvironment({ cacheFile: join(folder, "file", "cache.json") })(cwd);
    expect(toolsOf(texts)).toBe("Tools: jq 1.6");
  });

  test("gives tools no keys", async () => {
    const { folder, addTool, describe: describeMachine } = await machine();
    process.env.SOME_API_KEY = "s3cret";
    onTestFinished(() => {
      delete process.env.SOME_API_KEY;
    });
    await addTool("jq", `echo "key=$SOME_API_KEY" > ${folder}/seen; echo jq-1.6`);
    await describeMachine();
    expect(await readFile(join(folder, "seen"), "utf8")).toBe("key=\n");
    expect(existsSync(join(folder, "seen"))).toBe(true);
  });

  test("starts and names nothing that lies in the folder that is worked in, or that a project installed", async () => {
    const { folder, cwd, addTool, calls, describe: describeMachine, cacheFile } = await machine();
    for (const bin of ["project/tools", "node_modules/.bin"]) {
      for (const name of ["git", "jq", "make"]) await addTool(`../${bin}/${name}`, "echo 6.6.6");
    }
    await symlink(join(cwd, "tools"), join(folder, "linked"));
    await symlink(join(cwd, "tools", "make"), join(folder, "bin", "make"));
    await addTool("jq", "echo jq-1.6");
    const evil = [join(cwd, "tools"), join(folder, "linked"), join(folder, "node_modules", ".bin")];
    process.env.PATH = `${evil.join(":")}:${process.env.PATH}`;
    expect(toolsOf(await describeMachine())).toBe("Tools: jq 1.6");
    expect(await calls()).toEqual(["jq --version in /"]);
    // Elsewhere they are the user's own; what is known from there does not count here.
    expect(toolsOf(await describeEnvironment({ cacheFile })(join(folder, "elsewhere")))).toMatch(/git 6\.6\.6/);
    expect(toolsOf(await describeMachine())).toBe("Tools: jq 1.6");
  });

  test("starts no git that lies in the folder that is worked in", async () => {
    const { folder, cwd, addTool, calls, describe: describeMachine } = await machine();
    await mkdir(join(cwd, ".git", "refs"), { recursive: true });
    await mkdir(join(cwd, ".git", "objects"));
    await writeFile(join(cwd, ".git", "HEAD"), "ref: refs/heads/trunk\n");
    await addTool("../project/tools/git", "echo evil");
    process.env.PATH = `${join(folder, "project", "tools")}:${process.env.PATH}`;
    expect((await describeMachine())[1]).toMatch(/Branch: trunk$/);
    expect(await calls()).toEqual([]);
  });
});
