import { execFileSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ask, tree } from "./look-up-tree.ts";

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync("git", args, { cwd, env: { PATH: process.env.PATH, HOME: cwd, GIT_CONFIG_NOSYSTEM: "1" } });
}

test("checks whether a pattern's first pattern matches a name with a leading dash", async () => {
  const { ws } = await tree(["a.txt", "src/-o", "-x.md", "d/b"], { "-l": "OUT" });
  for (const pattern of ["*.txt", "a*/x", "none/*"].map((name) => `${ws}/${name}`))
    expect([pattern, await ask("dashes", pattern)]).toEqual([pattern, []]);
  for (const pattern of ["*", "*.md", "?l", "src/*", "*/b"].map((name) => `${ws}/${name}`))
    expect([pattern, await ask("dashes", pattern)]).toEqual([pattern, undefined]);
  expect(await ask("dashes", `${ws}/a.txt`)).toBeUndefined();
});

test("checks whether every tracked name is one plain word, even of missing files", async () => {
  const { ws } = await tree(["a.txt", "src/b.ts"]);
  expect(await ask("tracked-names", ws)).toEqual([]);
  git(ws, "init", "-q");
  git(ws, "add", ".");
  expect(await ask("tracked-names", join(ws, "src"))).toEqual([]);
  await mkdir(join(ws, "a ", "etc"), { recursive: true });
  await writeFile(join(ws, "a ", "etc", "passwd"), "");
  git(ws, "add", ".");
  await rm(join(ws, "a "), { recursive: true });
  expect(await ask("tracked-names", join(ws, "src"))).toBeUndefined();
  await writeFile(join(ws, ".git", "index"), "damaged");
  expect(await ask("tracked-names", ws)).toBeUndefined();
  await rm(join(ws, ".git", "index"));
  execFileSync("mkfifo", [join(ws, ".git", "index")]);
  expect(await ask("tracked-names", ws)).toBeUndefined();
});

test("finds names of repositories in or below a folder", async () => {
  const { ws } = await tree(["p/.git/hooks/x", "p/q/.GIT", "p/.gitignore", "src/a", "t/.tinman/config.yaml"]);
  expect(await ask("repositories-below", join(ws, "p"))).toEqual([join(ws, "p/.git"), join(ws, "p/q/.GIT")]);
  expect(await ask("repositories-below", join(ws, "p/.git"))).toEqual([join(ws, "p/.git")]);
  expect(await ask("repositories-below", join(ws, "t"))).toEqual([join(ws, "t/.tinman")]);
  expect(await ask("repositories-below", join(ws, "src"))).toEqual([]);
  expect(await ask("repositories-below", join(ws, "src/a"))).toEqual([]);
  expect(await ask("repositories-below", "/")).toBeUndefined();
});

test("finds credentials in remotes' addresses of the repository around a folder", async () => {
  const { ws } = await tree(["src/a"]);
  git(ws, "init", "-q");
  git(ws, "remote", "add", "origin", "https://example.com/x.git");
  expect(await ask("remotes", join(ws, "src"))).toEqual([]);
  git(ws, "remote", "set-url", "origin", "https://user:secret@example.com/x.git");
  expect(await ask("remotes", join(ws, "src"))).toEqual([join(ws, ".git/config")]);
});

test.each([
  ['[url "https://oauth2:secret@example.com/"]\ninsteadOf = https://example.com/', undefined],
  ['[url "https://secret@example.com/"]\npushInsteadOf = git@example.com:', undefined],
  ['[remote "origin"]\npushurl = https://user:secret@example.com/x.git', undefined],
  ["[include]\npath = more", undefined],
  ['[url "ssh://git@example.com/"]\ninsteadOf = https://example.com/', []],
  ['[url "https://example.com/"]\ninsteadOf = git@example.com:', []],
])("finds credentials that the user's settings put into addresses: %s", async (config, expected) => {
  const { ws, out } = await tree(["src/a"]);
  git(ws, "init", "-q");
  git(ws, "remote", "add", "origin", "https://example.com/x.git");
  await writeFile(join(out, "more"), '[url "https://user:secret@example.com/"]\ninsteadOf = https://example.com/\n');
  await writeFile(join(out, "gitconfig"), `${config}\n`);
  const before = process.env.GIT_CONFIG_GLOBAL;
  process.env.GIT_CONFIG_GLOBAL = join(out, "gitconfig");
  onTestFinished(() => {
    if (before === undefined) delete process.env.GIT_CONFIG_GLOBAL;
    else process.env.GIT_CONFIG_GLOBAL = before;
  });
  expect(await ask("remotes", join(ws, "src"))).toEqual(expected);
});
