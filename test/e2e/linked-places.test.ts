import { mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isFullRun } from "../full-run.ts";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";
import type { ToolCall } from "./tool-results.ts";
import { toolResults } from "./tool-results.ts";

/** A home whose dotfiles are links into another folder, and repositories whose git folder is not called `.git`. */
const secret = "PRIVATE-KEY-MATERIAL";

let bench: Bench;

async function write(path: string, text: string, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text, { mode });
}

beforeAll(async () => {
  bench = await createBench();
  const { home } = bench;
  const dotfiles = join(home, "dotfiles");
  for (const name of ["bashrc", "ssh/id_rsa", "sshconfig", "tinman.yaml", "vim/plugin/a.vim", "current/zshrc"])
    await write(join(dotfiles, name), `# ${secret}\n`);
  await write(join(dotfiles, "notes.txt"), "plain notes\n");
  await write(join(dotfiles, "other/readme.txt"), "plain readme\n");
  await write(join(home, ".aws/credentials"), `${secret}\n`);
  await mkdir(join(home, ".tinman"));
  for (const [link, target] of [
    [".bashrc", "dotfiles/bashrc"],
    [".ssh", "dotfiles/ssh"],
    ["dotfiles/ssh/config", "../sshconfig"],
    [".tinman/config.yaml", "../dotfiles/tinman.yaml"],
    [".vim", "dotfiles/vim"],
    [".profile", "dotfiles/profile"],
    [".netrc", ".netrc"],
    ["dotfiles/now", "current"],
    [".zshrc", "dotfiles/now/zshrc"],
  ] as const)
    await symlink(target, join(home, link));

  const made = await bench.shell(
    [
      "git init -q --separate-git-dir=store wt",
      "git init -q linked && rm -r linked/.git/hooks && mkdir linked/realhooks && ln -s ../realhooks linked/.git/hooks",
      "git init -q husky && mkdir -p husky/.husky/_ husky/src && git -C husky config core.hooksPath .husky/_",
      "git init -q outer && mkdir shared-hooks && git -C outer config core.hooksPath ../shared-hooks",
      "git init -q --bare depot.git",
      "mkdir -p evil/store/hooks plain && echo : > evil/store/hooks/pre-commit && echo x > plain/a.txt",
      "echo 'echo pwned' > payload && chmod +x payload",
    ].join(" && "),
  );
  expect([made.code, made.stderr]).toEqual([0, ""]);
});
afterAll(() => bench.remove());

const results = (cwd: string, flags: readonly string[], ...calls: readonly ToolCall[]) =>
  toolResults(bench, cwd, flags, calls);

/** Calls denied at the highest level are denied below it; the long run checks both. */
const levels = isFullRun ? ["low", "high"] : ["high"];

/** One reply per call, all in one run per level. */
const inDotfiles: readonly ToolCall[] = [
  ["Create", { file_path: "../.bashrc", content: "x" }],
  ["Create", { file_path: "bashrc", content: "x" }],
  ["Create", { file_path: "profile", content: "x" }],
  ["Create", { file_path: "tinman.yaml", content: "x" }],
  ["Create", { file_path: "vim/plugin/b.vim", content: "x" }],
  ["Create", { file_path: "../.vim/plugin/b.vim", content: "x" }],
  ["Create", { file_path: "sshconfig", content: "x" }],
  ["Edit", { file_path: "bashrc", old_str: "#", new_str: "x" }],
  ["Read", { file_path: "../.ssh/id_rsa" }],
  ["Read", { file_path: "ssh/id_rsa" }],
  ["Read", { file_path: "../.ssh/config" }],
  ["Read", { file_path: "sshconfig" }],
  ["Grep", { pattern: "K", path: "ssh", output_mode: "content" }],
  ["LS", { directory_path: "ssh" }],
  ["Execute", { command: "cat ~/.ssh/id_rsa" }],
  ["Execute", { command: "cat ssh/id_rsa" }],
  ["Execute", { command: "cat ssh/id*" }],
  ["Execute", { command: "cat ~/.ssh/config" }],
  ["Execute", { command: "cat sshconfig" }],
  ["Execute", { command: "cat SSHCONFIG sshconfi?" }],
  ["Execute", { command: "cd .. && cat dotfiles/bashrc" }],
  ["Execute", { command: "grep -r PRIVATE ." }],
  ["Execute", { command: "grep -r PRIVATE ~/dotfiles" }],
  ["Execute", { command: "cp -r ../dotfiles ../copy" }],
  ["Execute", { command: "cp notes.txt ~/.bashrc" }],
  ["Execute", { command: "cp notes.txt bashrc" }],
  ["Execute", { command: "cp notes.txt vim/plugin/" }],
  ["Execute", { command: "echo x >> bashrc" }],
  ["Execute", { command: "echo x > profile" }],
  ["Execute", { command: "mv ssh keys" }],
  ["Execute", { command: "mv ../dotfiles ../moved" }],
  ["Execute", { command: "mv ../dotfile* ../moved" }],
  ["Execute", { command: "ln -sfn other now" }],
];

describe.each(levels)("in the target folder of the dotfiles, approval is needed at %s", (level) => {
  let values: readonly string[];
  beforeAll(async () => {
    const replies = inDotfiles.map((call) => [call]);
    values = await toolResults(bench, join(bench.home, "dotfiles"), ["--auto", level], ...replies);
  });

  test.each(inDotfiles.map(([name, input], index) => [name, input, index] as const))("for %s %j", (_, __, index) => {
    expect(values[index]).toMatch(/^Error: .*(protected place|the whole workspace)/);
    expect(values[index]).not.toContain(secret);
  });
});

test("work next to them is unaffected", async () => {
  const [notes = "", found = "", made = "", listed = "", vim = "", moved = ""] = await results(
    join(bench.home, "dotfiles"),
    ["--auto", "low"],
    ["Read", { file_path: "notes.txt" }],
    ["Execute", { command: "grep -r plain other" }],
    ["Create", { file_path: "new.txt", content: "x" }],
    ["Execute", { command: "ls" }],
    ["Read", { file_path: "../.vim/plugin/a.vim" }],
    ["Execute", { command: "mv other/readme.txt other/moved.txt && mv other/moved.txt other/readme.txt" }],
  );
  expect(notes).toContain("plain notes");
  expect(found).toMatch(/^other\/readme\.txt:plain readme\n/);
  expect(made).toBe("File created successfully");
  expect(listed).toContain("sshconfig");
  expect(vim).toContain(secret);
  expect(moved).not.toContain("protected place");
});

test.each([[[]], [["--auto", "high"]]])("searches exclude their targets: %j", async (flags) => {
  const [content = "", names = ""] = await results(
    bench.home,
    flags,
    ["Grep", { pattern: secret, output_mode: "content" }],
    ["Glob", { patterns: ["**/*"] }],
  );
  expect(content).toBe(`./dotfiles/vim/plugin/a.vim:# ${secret}`);
  for (const name of ["id_rsa", "sshconfig", "bashrc", "tinman.yaml", "zshrc"]) expect(names).not.toContain(name);
  expect(names).toContain("dotfiles/notes.txt");
});

test("a link created later counts for the next reply", async () => {
  const [home, cwd] = [bench.home, bench.cwd];
  await writeFile(join(cwd, "later.txt"), `${secret}\n`);
  const [before = ""] = await results(cwd, ["--auto", "low"], ["Read", { file_path: "later.txt" }]);
  await symlink(join(cwd, "later.txt"), join(home, ".pypirc"));
  const [after = ""] = await results(cwd, ["--auto", "high"], ["Read", { file_path: "later.txt" }]);
  expect([before.includes(secret), after.includes(secret)]).toEqual([true, false]);
  expect(after).toMatch(/protected place/);
});

const whereGitLooks: readonly ToolCall[] = [
  ["Create", { file_path: "store/hooks/pre-commit", content: "x" }],
  ["Create", { file_path: "store/config", content: "x" }],
  ["Create", { file_path: "store/info/attributes", content: "x" }],
  ["Create", { file_path: "depot.git/hooks/update", content: "x" }],
  ["Create", { file_path: "linked/realhooks/pre-commit", content: "x" }],
  ["Create", { file_path: "husky/.husky/pre-commit", content: "x" }],
  ["Create", { file_path: "husky/.husky/_/pre-commit", content: "x" }],
  ["Create", { file_path: "shared-hooks/pre-commit", content: "x" }],
  ["Read", { file_path: "store/config" }],
  ["Execute", { command: "cp payload store/hooks/pre-commit" }],
  ["Execute", { command: "cp payload store/hooks" }],
  ["Execute", { command: "mv payload store/hooks/pre-commit" }],
  ["Execute", { command: "cd store && cp ../payload hooks/pre-commit" }],
  ["Execute", { command: "echo x > store/hooks/pre-commit" }],
  ["Execute", { command: "cp -r evil/. ." }],
  ["Execute", { command: "cp -r evil/store ." }],
  ["Execute", { command: "cp payload linked/realhooks/pre-commit" }],
  ["Execute", { command: "mv linked/realhooks linked/gone" }],
  ["Execute", { command: "tee husky/.husky/pre-commit < payload" }],
  ["Execute", { command: "mv husky/.husky husky/gone" }],
  ["Execute", { command: "cp payload shared-hooks/pre-commit" }],
  ["Execute", { command: "grep -r url store" }],
  ["Execute", { command: "cat store/config" }],
];

describe.each(levels)("where git would find it, approval is needed at %s", (level) => {
  let values: readonly string[];
  beforeAll(async () => {
    values = await toolResults(bench, bench.cwd, ["--auto", level], ...whereGitLooks.map((call) => [call]));
  });

  test.each(whereGitLooks.map(([name, input], index) => [name, input, index] as const))("for %s %j", (_, __, index) => {
    expect(values[index]).toMatch(/^Error: .*(protected place|run as hooks)/);
  });
});

test("a repository created by an earlier call of the same reply counts as well", async () => {
  const [, value = ""] = await results(
    bench.cwd,
    ["--auto", "high"],
    ["Execute", { command: "git init -q --separate-git-dir=fresh tree" }],
    ["Create", { file_path: "fresh/hooks/pre-commit", content: "x" }],
  );
  expect(value).toMatch(/has changed since this call was allowed/);
  await expect(readFile(join(bench.cwd, "fresh/hooks/pre-commit"))).rejects.toThrow(/ENOENT/);
});

test("work around them is unaffected", async () => {
  const values = await results(
    bench.cwd,
    ["--auto", "low"],
    ["Create", { file_path: "wt/hooks/pre-commit", content: "not a hook of git" }],
    ["Create", { file_path: "husky/src/a.ts", content: "x" }],
    ["Execute", { command: "cp -r plain/. husky/" }],
    ["Execute", { command: "cp -r plain copied" }],
    ["Execute", { command: "mv husky/src husky/lib" }],
    ["Execute", { command: "mv linked moved" }],
    ["Execute", { command: "cat store/HEAD" }],
    ["Execute", { command: "ls husky/.husky" }],
    ["Execute", { command: "grep -rn x husky/lib" }],
  );
  expect(values.filter((value) => value.startsWith("Error"))).toEqual([]);
  expect(values.at(-1)).toMatch(/^husky\/lib\/a\.ts:1:x\n/);
});

describe("in the home", () => {
  const names = [
    ".bash_aliases",
    ".config/autostart/a.desktop",
    ".config/systemd/user/a.service",
    ".tmux.conf",
    ".config/nvim/init.lua",
    ".emacs.d/init.el",
    ".cargo/config.toml",
    ".local/bin/git",
    "bin/git",
    "Library/LaunchAgents/a.plist",
  ];
  let values: readonly string[];
  beforeAll(async () => {
    const replies = names.map((name): readonly ToolCall[] => [
      ["Create", { file_path: join(bench.home, name), content: "x" }],
      ["Execute", { command: `echo x > ~/${name}` }],
      ["Execute", { command: `cat ~/${name}` }],
    ]);
    values = await toolResults(bench, bench.cwd, ["--auto", "high"], ...replies);
  });

  test.each(names.map((name, index) => [name, index] as const))(
    "%s is writable only with approval, and readable as usual",
    (_, index) => {
      const [file, redirected, missing] = values.slice(3 * index);
      for (const value of [file, redirected]) expect(value).toMatch(/^Error: .*protected place/);
      expect(missing).toMatch(/No such file or directory/);
    },
  );
});
