import { execFileSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createSearch, locateRipgrep } from "../../src/host/search/ripgrep.ts";
import { tempFolder } from "./support.ts";

const signal = new AbortController().signal;

/** A search with this script as ripgrep. */
async function searchWith(script: string) {
  const folder = await tempFolder();
  const program = join(folder, "rg");
  await writeFile(program, `#!/bin/sh\n${script}\n`);
  await chmod(program, 0o755);
  const search = createSearch({ locate: async () => program });
  return () => search.glob({ folder, include: ["*"], exclude: [], limit: 10 }, signal);
}

test("reports too few file descriptors instead of an empty result", async () => {
  const words = "EMFILE: too many open files, so not everything could be searched.";
  const real = await searchWith(`ulimit -n 3; exec "${await locateRipgrep()}" "$@"`);
  await expect(real()).rejects.toThrow(words);
  const late = await searchWith(
    `i=0; while [ $i -lt 500 ]; do echo "rg: ./$i: Permission denied (os error 13)" >&2; i=$((i+1)); done
     echo "rg: ./x: Too many open files in system (os error 23)" >&2; exit 2`,
  );
  await expect(late()).rejects.toThrow(words);
});

test("reports unreadable files, and keeps the matches", async () => {
  const search = await searchWith(
    "printf '././a\\0'; printf 'rg: ./two\\nlines: Permission denied (os error 13)\\n' >&2; exit 2",
  );
  expect(await search()).toEqual({ lines: ["./a"], truncated: false, unreadable: true });
});

test.each([
  ["a pipe", "mkfifo .gitignore", { timeMs: 300 }, "it took more than 0.3 seconds"],
  [
    "a link to an endless device",
    "ln -s /dev/zero .gitignore",
    { bytes: 64 * 1024 * 1024 },
    "it used more than 64 MiB of memory",
  ],
])("an ignore file that is %s does not delay a search", async (_, make, bounds, why) => {
  const folder = await tempFolder();
  execFileSync("/bin/sh", ["-c", make], { cwd: folder });
  const search = createSearch({ bounds });
  await expect(search.glob({ folder, include: ["*"], exclude: [], limit: 10 }, signal)).rejects.toThrow(
    `The search was stopped because ${why}. Search a smaller folder, and check that .gitignore and .ignore are regular files.`,
  );
  const walk = createSearch({ locate: async () => undefined });
  await writeFile(join(folder, "a.txt"), "");
  expect(await walk.glob({ folder, include: ["*.txt"], exclude: [], limit: 10 }, signal)).toMatchObject({
    lines: ["./a.txt"],
  });
});

test("searches for ripgrep again if it was not found", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, "a.txt"), "x\n");
  const answers = [undefined, "/nowhere/rg"];
  const search = createSearch({ locate: async () => answers.shift() });
  const query = { folder, include: ["*"], exclude: [], limit: 10 };
  expect(await search.glob(query, signal)).toEqual({ lines: ["./a.txt"], truncated: false });
  await expect(search.glob(query, signal)).rejects.toThrow("ENOENT");
});
