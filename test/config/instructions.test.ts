import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readInstructions, readInstructionsBelow } from "../../src/config/instructions.ts";

let root: string;
let home: string;
let repo: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "tinman-agents-")));
  [home, repo] = [join(root, "home"), join(root, "repo")];
  for (const folder of [home, join(repo, ".git"), join(repo, "packages", "a")])
    await mkdir(folder, { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

test("the user's file comes first, then the repository's from its root down", async () => {
  await writeFile(join(home, "AGENTS.md"), "Be brief.\n");
  await writeFile(join(repo, "AGENTS.md"), "Use tabs.\n");
  await writeFile(join(repo, "packages", "a", "AGENTS.md"), "Test with make.\n");
  await writeFile(join(root, "AGENTS.md"), "Above the repository.\n");
  expect(await readInstructions(home, join(repo, "packages", "a"))).toEqual([
    `Instructions from ${join(home, "AGENTS.md")}:\n\nBe brief.`,
    `Instructions from ${join(repo, "AGENTS.md")}:\n\nUse tabs.`,
    `Instructions from ${join(repo, "packages", "a", "AGENTS.md")}:\n\nTest with make.`,
  ]);
});

test("outside a repository, only the folder's own file counts", async () => {
  const plain = join(root, "plain", "deep");
  await mkdir(plain, { recursive: true });
  await writeFile(join(root, "plain", "AGENTS.md"), "Parent.");
  expect(await readInstructions(home, plain)).toEqual([]);
});

test("follows links within the repository, but not out of it", async () => {
  await writeFile(join(root, "secret.txt"), "the user's key");
  await symlink(join(root, "secret.txt"), join(repo, "AGENTS.md"));
  expect(await readInstructions(home, repo)).toEqual([]);
  await writeFile(join(repo, "docs.md"), "Shared words.");
  await symlink("../../docs.md", join(repo, "packages", "a", "AGENTS.md"));
  expect(await readInstructions(home, join(repo, "packages", "a"))).toEqual([expect.stringContaining("Shared words.")]);
});

test("CLAUDE.md counts if a folder has no AGENTS.md", async () => {
  await writeFile(join(repo, "CLAUDE.md"), "Not read.");
  await writeFile(join(repo, "AGENTS.md"), "Read.");
  await writeFile(join(repo, "packages", "CLAUDE.md"), "Read, too.");
  expect(await readInstructions(home, join(repo, "packages"))).toEqual([
    `Instructions from ${join(repo, "AGENTS.md")}:\n\nRead.`,
    `Instructions from ${join(repo, "packages", "CLAUDE.md")}:\n\nRead, too.`,
  ]);
});

test("below a workspace, only the folders down to the path count", async () => {
  await writeFile(join(repo, "AGENTS.md"), "The workspace's own.");
  await writeFile(join(repo, "packages", "a", "AGENTS.md"), "Of a.");
  const ofA = `Instructions from ${join(repo, "packages", "a", "AGENTS.md")}:\n\nOf a.`;
  expect(await readInstructionsBelow(repo, join(repo, "packages", "a", "src", "main.c"))).toEqual([ofA]);
  expect(await readInstructionsBelow(repo, join(repo, "packages", "a"))).toEqual([ofA]);
  expect(await readInstructionsBelow(repo, join(repo, "main.c"))).toEqual([]);
});

test("skips an empty file and a folder, and cuts a long file", async () => {
  await writeFile(join(repo, "AGENTS.md"), "  \n");
  await mkdir(join(repo, "packages", "AGENTS.md"));
  await writeFile(join(repo, "packages", "a", "AGENTS.md"), "x".repeat(100_000));
  const [text = "", ...rest] = await readInstructions(home, join(repo, "packages", "a"));
  expect(rest).toEqual([]);
  expect(text.length).toBeLessThan(33_000);
  expect(text.endsWith("[cut at 32 KiB]")).toBe(true);
});

test.each([".git/config", ".tinman/config.yaml", ".env", ".git/notes.md"])(
  "does not follow a link to %s",
  async (target) => {
    await mkdir(join(repo, ".tinman"), { recursive: true });
    await writeFile(join(repo, target), "url = https://u:token@example.com/x\n");
    await symlink(target, join(repo, "AGENTS.md"));
    expect(await readInstructions(home, repo)).toEqual([]);
  },
);
