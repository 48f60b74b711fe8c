import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

let bench: Bench;
let admin: string;
beforeAll(async () => {
  bench = await createBench();
  admin = join(bench.root, "admin.yaml");
  await writeFile(admin, "permissions:\n  deny: ['rm *']\n");
  await mkdir(join(bench.home, ".tinman"));
  await writeFile(join(bench.home, ".tinman", "config.yaml"), "permissions:\n  allow: [./deploy.sh now]\n");
  await bench.file("deploy.sh", "#!/bin/sh\necho deployed\n");
  await bench.shell("chmod +x deploy.sh && git init -q .");
});
afterAll(() => bench.remove());

async function run(command: string, flags: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const model = await bench.script([{ tool_calls: [{ name: "Execute", input: { command } }] }, { text: "done" }]);
  const { code, stdout, stderr } = await bench.tinman(["exec", "-o", "json", ...flags, "-m", model, "go"], { env });
  const { result, denials } = stdout === "" ? {} : JSON.parse(stdout);
  return { code, result, denials, stderr };
}

const adminWords = "Execute would run a command that an administrator's rule denies: rm *.";

test.each([[[]], [["--auto", "high"]], [["--skip-permissions-unsafe"]], [["--enabled-tools", "Execute"]]])(
  "the administrator's rule applies with %j",
  async (flags) => {
    await bench.file("keep.txt", "keep\n");
    expect(await run("ls; rm keep.txt", flags, { TINMAN_ADMIN_CONFIG: admin })).toEqual({
      code: 5,
      result: adminWords,
      denials: [{ toolCallId: expect.any(String), toolName: "Execute", rule: "deny-rule", reason: adminWords }],
      stderr: `tinman: ${adminWords}\n`,
    });
    expect(await bench.read("keep.txt")).toBe("keep\n");
  },
);

test("nothing runs with an unreadable administrator's file", async () => {
  const broken = join(bench.root, "broken.yaml");
  await writeFile(broken, "permissions:\n  allow: ['rm *']\n");
  const { code, stderr } = await run("ls", ["--skip-permissions-unsafe"], { TINMAN_ADMIN_CONFIG: broken });
  expect([code, stderr]).toEqual([2, expect.stringContaining(broken)]);
});

test("the user's exact rule lets one command run unasked, and no other", async () => {
  expect(await run("./deploy.sh now")).toMatchObject({ code: 0, result: "done" });
  for (const command of ["./deploy.sh", "./deploy.sh now -f", "./deploy.sh now; rm x", "cd src; ./deploy.sh now"])
    expect([command, (await run(command)).code]).toEqual([command, 5]);
  expect(await run("./deploy.sh now > out.txt")).toMatchObject({ code: 5 });
});

test("a repository can only deny", async () => {
  await bench.file(".tinman/config.yaml", "permissions:\n  deny: ['cat *']\n  allow: ['rm *']\nmodel: offline\n");
  const denied = await run("cat deploy.sh");
  expect(denied).toMatchObject({ code: 5, result: "Execute would run a command that a rule denies: cat *." });
  expect(denied.stderr).toContain("ignored: a repository's configuration can only deny commands.");
  expect(await run("rm deploy.sh")).toMatchObject({ code: 5 });
  expect(await run("ls")).toMatchObject({ code: 0 });
  expect(await run("cat deploy.sh", ["--skip-permissions-unsafe"])).toMatchObject({ code: 0 });
  await bench.file(".tinman/config.yaml", "permissions:\n  deny: 7\n");
  expect(await run("ls")).toMatchObject({ code: 2, stderr: expect.stringContaining(".tinman/config.yaml") });
});
