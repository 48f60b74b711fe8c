import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";
import type { ToolCall } from "./tool-results.ts";
import { toolResults } from "./tool-results.ts";

/** A key in the user's home, and an agent working there. */
const secret = "PRIVATE-KEY-MATERIAL";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  for (const folder of [".ssh", "project", "[odd]"]) await mkdir(join(bench.home, folder));
  await writeFile(join(bench.home, ".ssh", "id_rsa"), `${secret}\n`);
  await writeFile(join(bench.home, "project", "notes.txt"), `not ${secret}\n`);
  await symlink(join(bench.home, ".ssh", "id_rsa"), join(bench.home, "project", "link"));
  for (const folder of ["project/.git/modules/a/hooks", "project/.tinman"])
    await mkdir(join(bench.home, folder), { recursive: true });
  for (const file of [".git/config", ".git/config.worktree", ".git/modules/a/config", ".git/modules/a/hooks/x"])
    await writeFile(join(bench.home, "project", file), `${secret}\n`);
  await writeFile(join(bench.home, "project", ".tinman", "config.yaml"), `# ${secret}\n`);
  await writeFile(join(bench.home, "project", ".git", "HEAD"), `not ${secret}\n`);
});
afterAll(() => bench.remove());

const results = (cwd: string, flags: readonly string[], ...calls: readonly ToolCall[]) =>
  toolResults(bench, cwd, flags, calls);

test.each([[[]], [["--auto", "low"]], [["--auto", "high"]]])(
  "searches from a parent folder skip protected files: %j",
  async (flags) => {
    const [content = "", paths = "", names = ""] = await results(
      bench.home,
      flags,
      ["Grep", { pattern: secret, output_mode: "content" }],
      ["Grep", { pattern: secret }],
      ["Glob", { patterns: ["**/*", ".ssh/*", "**/id_rsa"] }],
    );
    expect(content).toBe(`./project/notes.txt:not ${secret}`);
    expect(paths).toBe("./project/notes.txt");
    expect(names).not.toContain("id_rsa");
    expect(names).not.toContain(".tinman");
  },
);

describe("even at --auto low, approval is needed", () => {
  /** One reply per call, all in one run. */
  const calls: readonly ToolCall[] = [
    ["Read", { file_path: ".ssh/id_rsa" }],
    ["Read", { file_path: "project/link" }],
    ["Grep", { pattern: "K", path: ".ssh", output_mode: "content" }],
    ["Grep", { pattern: "K", path: ".ssh/id_rsa", output_mode: "content" }],
    ["LS", { directory_path: ".ssh" }],
    ["Glob", { patterns: "*", folder: ".ssh" }],
    ["Execute", { command: "cat .ssh/id_rsa" }],
    ["Execute", { command: "cat project/link" }],
    ["Execute", { command: "grep -r PRIVATE ." }],
    ["Execute", { command: "grep -rn PRIVATE" }],
    ["Create", { file_path: ".ssh/authorized_keys", content: "x" }],
    ["Create", { file_path: ".bashrc", content: "x" }],
    ["Create", { file_path: ".tinman/config.yaml", content: "model: x" }],
    ["Create", { file_path: "project/.git/hooks/pre-commit", content: "x" }],
    ["Create", { file_path: "project/.git/info/attributes", content: "x" }],
    ["Create", { file_path: "project/new/.git", content: "gitdir: x" }],
    ["Edit", { file_path: "project/.git/HEAD", old_str: "not", new_str: "so" }],
    ["Read", { file_path: "project/.git/config.worktree" }],
    ["Read", { file_path: "project/.git/modules/a/config" }],
    ["Grep", { pattern: "K", path: "project/.git/modules/a/hooks", output_mode: "content" }],
    ["Execute", { command: "grep -r PRIVATE project/.git" }],
    ["Execute", { command: "cat /proc/self/cwd/.ssh/id_rsa" }],
    ["Execute", { command: "cat /proc/self/root/etc/hosts" }],
    ["Execute", { command: "cat /proc/self/environ" }],
    ["Execute", { command: "cat /proc/thread-self/cwd/../home/.ssh/id_rsa" }],
    ["Execute", { command: "grep -r PATH /proc/self" }],
  ];
  let values: readonly string[];
  beforeAll(async () => {
    values = await toolResults(bench, bench.home, ["--auto", "low"], ...calls.map((call) => [call]));
  });

  test.each(calls.map(([name, input], index) => [name, input, index] as const))("for %s %j", (_, __, index) => {
    expect(values[index]).toMatch(/^Error: .*(protected place|no approver to ask)/);
    expect(values[index]).not.toContain(secret);
  });
});

test("searches in a git folder skip files that can start programs", async () => {
  const project = join(bench.home, "project");
  for (const path of [".git", ".git/modules", ".git/modules/a"]) {
    const found = await results(
      project,
      ["--auto", "high"],
      ["Grep", { pattern: secret, path, output_mode: "content" }],
      ["Glob", { patterns: ["**/*", "config", "hooks/*"], folder: path }],
    );
    expect(found.map((text) => text.split("\n")[0])).toEqual(
      path === ".git" ? [`./HEAD:not ${secret}`, "./HEAD"] : Array(2).fill("No matching files found"),
    );
  }
});

test("a command that searches one folder reads only that folder", async () => {
  const [value = ""] = await results(bench.home, [], ["Execute", { command: "grep -rn PRIVATE project/notes.txt" }]);
  expect(value).toMatch(/^1:not PRIVATE/);
});

test("the program's own environment cannot be read back", async () => {
  const [value = ""] = await results(bench.home, ["--auto", "high"], ["Read", { file_path: "/proc/self/environ" }]);
  expect(value).toMatch(/protected place/);
});

test("--skip-permissions-unsafe skips nothing", async () => {
  const [content = ""] = await results(
    bench.home,
    ["--skip-permissions-unsafe"],
    ["Grep", { pattern: secret, output_mode: "content", path: "." }],
  );
  expect(content).toContain(`./.ssh/id_rsa:${secret}`);
});
