import { execFileSync } from "node:child_process";
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import type { GlobQuery, GrepQuery, SearchResult } from "../../src/engine/ports.ts";
import { createSearch, locateRipgrep } from "../../src/host/search/ripgrep.ts";
import { eventually, longNap, processesWith, tempFolder } from "./support.ts";

const ripgrep = createSearch();
const builtIn = createSearch({ locate: async () => undefined });

const everything: Omit<GrepQuery, "pattern" | "path"> = {
  globs: [],
  mode: "content",
  caseInsensitive: false,
  fixedString: false,
  multiline: false,
  lineNumbers: true,
  before: 0,
  after: 0,
  limit: 1000,
};

async function tree(contents: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempFolder();
  for (const [path, text] of Object.entries(contents)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  }
  return folder;
}

function found(lines: readonly string[], truncated = false): SearchResult {
  return { lines, truncated };
}

const sample = {
  ".gitignore": "ignored/\n*.log\n!kept.log\n/only-root.txt\n",
  ".hidden/fox.txt": "a hidden fox\n",
  ".git/config": "fox in git\n",
  "a/fox.ts": "one\nthe Fox\nthree\nfour\nfox again\n",
  "a/deep/fox.md": "fox in a deep place\n",
  "a/deep/.gitignore": "secret.*\n",
  "a/deep/secret.txt": "secret fox\n",
  "a/only-root.txt": "fox below\n",
  "b-c/x y:1:.txt": "strange fox name\n",
  "fox.log": "logged fox\n",
  "ignored/fox.ts": "ignored fox\n",
  "kept.log": "kept fox\n",
  "only-root.txt": "root fox\n",
};

describe.each([
  ["ripgrep", ripgrep],
  ["the built-in search", builtIn],
])("%s", (_, search) => {
  const grep = (pattern: string, path: string, changes: Partial<GrepQuery> = {}) =>
    search.grep({ ...everything, pattern, path, ...changes }, new AbortController().signal);
  const glob = (folder: string, include: readonly string[], changes: Partial<GlobQuery> = {}) =>
    search.glob({ folder, include, exclude: [], limit: 1000, ...changes }, new AbortController().signal);

  test("finds lines respecting .gitignore, in hidden files too, sorted by path", async () => {
    expect(await grep("fox", await tree(sample))).toEqual(
      found([
        "./.hidden/fox.txt:1:a hidden fox",
        "./a/deep/fox.md:1:fox in a deep place",
        "./a/fox.ts:5:fox again",
        "./a/only-root.txt:1:fox below",
        "./b-c/x y:1:.txt:1:strange fox name",
        "./kept.log:1:kept fox",
      ]),
    );
  });

  test("respects the rules of the folders above, inside a repository", async () => {
    const folder = await tree({ ...sample, "a/deep/fox.log": "fox\n", "a/ignored/fox": "fox\n" });
    expect(await grep("fox", join(folder, "a"), { mode: "file_paths" })).toEqual(
      found(["./deep/fox.md", "./fox.ts", "./only-root.txt"]),
    );
  });

  test("lists only paths on request", async () => {
    const folder = await tree(sample);
    expect(await grep("fox", folder, { mode: "file_paths", globs: ["*.ts", "a/**/*.md"] })).toEqual(
      found(["./a/deep/fox.md", "./a/fox.ts"]),
    );
  });

  test("prints lines with and without numbers, and context as ripgrep does", async () => {
    const path = join(await tree(sample), "a");
    const globs = ["fox.ts"];
    expect(await grep("again|Fox", path, { globs, lineNumbers: false })).toEqual(
      found(["./fox.ts:the Fox", "./fox.ts:fox again"]),
    );
    expect(await grep("one|again", path, { globs, after: 1 })).toEqual(
      found(["./fox.ts:1:one", "./fox.ts-2-the Fox", "--", "./fox.ts:5:fox again"]),
    );
    expect(await grep("Fox|four", path, { globs, before: 1, lineNumbers: false })).toEqual(
      found(["./fox.ts-one", "./fox.ts:the Fox", "./fox.ts-three", "./fox.ts:four"]),
    );
  });

  test("puts a separator between files if there is context", async () => {
    const folder = await tree({ "a.txt": "x\n", "b.txt": "x\n" });
    expect(await grep("x", folder, { after: 1 })).toEqual(found(["./a.txt:1:x", "--", "./b.txt:1:x"]));
  });

  test("supports case, plain text and multi-line matches", async () => {
    const folder = await tree({ "x.txt": "a.b\nA.B\naxb\n(\n" });
    expect(await grep("A.B", folder, { caseInsensitive: true })).toEqual(
      found(["./x.txt:1:a.b", "./x.txt:2:A.B", "./x.txt:3:axb"]),
    );
    expect(await grep("a.b", folder, { fixedString: true })).toEqual(found(["./x.txt:1:a.b"]));
    expect(await grep("(", folder, { fixedString: true })).toEqual(found(["./x.txt:4:("]));
    expect(await grep("A.B.axb", folder, { multiline: true })).toEqual(found(["./x.txt:2:A.B", "./x.txt:3:axb"]));
  });

  test("searches one file, whatever rules and globs say", async () => {
    const folder = await tree({ ...sample, "-n": "dash fox\n" });
    expect(await grep("fox", join(folder, "fox.log"))).toEqual(found(["./fox.log:1:logged fox"]));
    expect(await grep("fox", join(folder, "-n"), { globs: ["*.ts"] })).toEqual(found(["./-n:1:dash fox"]));
  });

  test("takes no word of a query as an option", async () => {
    const folder = await tree({ "x.txt": "-v --files --pre=touch\n", "y.txt": "nothing\n" });
    for (const pattern of ["-v", "--files", "--pre=touch", "-e"]) {
      const expected = pattern === "-e" ? [] : ["./x.txt:1:-v --files --pre=touch"];
      expect(await grep(pattern, folder)).toEqual(found(expected));
    }
    expect(await grep("nothing", folder, { globs: ["--no-ignore", "-uuu"] })).toEqual(found([]));
    await expect(grep("nothing", folder, { fileType: "--files" })).rejects.toThrow("unrecognized file type: --files");
    expect(await glob(folder, ["--files", "-x"], { exclude: ["--follow"] })).toEqual(found([]));
  });

  test("stops at the limit and reports that there is more", async () => {
    const folder = await tree({ "a.txt": "x\nx\nx\n", "b.txt": "x\n" });
    expect(await grep("x", folder, { limit: 2 })).toEqual(found(["./a.txt:1:x", "./a.txt:2:x"], true));
    expect((await grep("x", folder, { limit: 4 })).truncated).toBe(false);
    expect(await grep("x", folder, { limit: 1, mode: "file_paths" })).toEqual(found(["./a.txt"], true));
    expect(await glob(folder, ["*"], { limit: 1 })).toEqual(found(["./a.txt"], true));
    expect(await glob(folder, ["*"], { limit: 2 })).toEqual(found(["./a.txt", "./b.txt"]));
  });

  test("supports file types and exclude globs", async () => {
    const folder = await tree({ "a.ts": "x\n", "b.py": "x\n", "sub/c.ts": "x\n", "sub/d.ts": "x\n", "e.rs": "x\n" });
    const paths = { mode: "file_paths" } as const;
    expect(await grep("x", folder, { ...paths, fileType: "ts" })).toEqual(
      found(["./a.ts", "./sub/c.ts", "./sub/d.ts"]),
    );
    expect(await grep("x", folder, { ...paths, fileType: "ts", globs: ["sub/*"] })).toEqual(
      found(["./sub/c.ts", "./sub/d.ts"]),
    );
    expect(await grep("x", folder, { ...paths, globs: ["!sub"] })).toEqual(found(["./a.ts", "./b.py", "./e.rs"]));
    expect(await grep("x", folder, { ...paths, globs: ["*.{ts,py}", "!d.*"] })).toEqual(
      found(["./a.ts", "./b.py", "./sub/c.ts"]),
    );
  });

  test("rejects an invalid query with a message", async () => {
    const folder = await tree({ "a.txt": "x\n" });
    await expect(grep("(unclosed", folder)).rejects.toThrow(
      /^(regex parse error: unclosed group|.*Unterminated group)$/,
    );
    await expect(grep("x", folder, { fileType: "nonsense" })).rejects.toThrow("unrecognized file type: nonsense");
    await expect(grep("x", folder, { globs: ["[a"] })).rejects.toThrow('Invalid pattern [a: its "[" is not closed.');
    await expect(glob(folder, ["{a,b"])).rejects.toThrow('Invalid pattern {a,b: its "{" is not closed.');
    await expect(grep("x", join(folder, "missing"))).rejects.toThrow("ENOENT");
  });

  test("does not wait for a pipe", async () => {
    const folder = await tree({ "a.txt": "x\n" });
    execFileSync("mkfifo", [join(folder, "pipe")]);
    await expect(grep("x", join(folder, "pipe"))).rejects.toThrow(/pipe is neither a file nor a folder\.$/);
    expect(await grep("x", folder)).toEqual(found(["./a.txt:1:x"]));
  });

  test("skips binary files and links", async () => {
    const folder = await tree({ "text.txt": "x\n", "binary.bin": "\0\0\0x\n" });
    await symlink("text.txt", join(folder, "link.txt"));
    expect(await grep("x", folder)).toEqual(found(["./text.txt:1:x"]));
    expect(await glob(folder, ["*.txt"])).toEqual(found(["./text.txt"]));
  });

  test("cuts long lines", async () => {
    const folder = await tree({ "long.txt": `needle${"y".repeat(300_000)}\n` });
    const { lines } = await grep("needle", folder);
    expect(lines.length).toBe(1);
    expect(lines[0]).toMatch(/^\.\/long\.txt:1:needley{1990,1994}( \[.*\])?$/);
  });

  test("finds files by name respecting .gitignore, with several patterns at once", async () => {
    const folder = await tree(sample);
    expect(await glob(folder, ["*.ts", "**/*.log"])).toEqual(found(["./a/fox.ts", "./kept.log"]));
    expect(await glob(folder, ["a/**"])).toEqual(
      found(["./a/deep/.gitignore", "./a/deep/fox.md", "./a/fox.ts", "./a/only-root.txt"]),
    );
    expect(await glob(folder, ["**/*"], { exclude: ["a/", "*.txt", "./.gitignore"] })).toEqual(found(["./kept.log"]));
    expect(await glob(folder, ["./a/*.ts"])).toEqual(found(["./a/fox.ts"]));
    expect(await glob(folder, ["nothing-like-it"])).toEqual(found([]));
  });

  test("does not begin if it is already aborted", async () => {
    const folder = await tree({ "a.txt": "x\n" });
    const signal = AbortSignal.abort();
    await expect(search.grep({ ...everything, pattern: "x", path: folder }, signal)).rejects.toThrow("aborted");
    await expect(search.glob({ folder, include: ["*"], exclude: [], limit: 1 }, signal)).rejects.toThrow("aborted");
  });
});

describe("the ripgrep process", () => {
  /** A stand-in for a ripgrep that finds something and then keeps searching. */
  async function slowSearch(nap: string, lines: number) {
    const folder = await tree({
      rg: `#!/bin/sh\nfor i in $(seq ${lines}); do printf '././%s\\0' "$i"; done\nexec sleep ${nap}\n`,
    });
    await chmod(join(folder, "rg"), 0o755);
    return { folder, search: createSearch({ locate: async () => join(folder, "rg") }) };
  }

  test("is ended at the limit", async () => {
    const nap = longNap();
    const { folder, search } = await slowSearch(nap, 3);
    const query = { folder, include: [], exclude: [], limit: 2 };
    expect(await search.glob(query, new AbortController().signal)).toEqual(found(["./1", "./2"], true));
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
  });

  test("is ended by an abort", async () => {
    const nap = longNap();
    const { folder, search } = await slowSearch(nap, 1);
    const abort = new AbortController();
    const searching = search.glob({ folder, include: [], exclude: [], limit: 2 }, abort.signal);
    expect(await eventually(() => processesWith(nap).length === 1)).toBe(true);
    abort.abort();
    await expect(searching).rejects.toThrow("aborted");
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
  });

  test("is an error if it cannot start", async () => {
    const search = createSearch({ locate: async () => "/nowhere/rg" });
    const query = { folder: await tempFolder(), include: [], exclude: [], limit: 2 };
    await expect(search.glob(query, new AbortController().signal)).rejects.toThrow("ENOENT");
  });

  test("is the bundled one", async () => {
    expect(await locateRipgrep()).toMatch(/node_modules\/@vscode\/ripgrep.*\/rg$/);
  });

  test("reads no configuration of the user", async () => {
    const folder = await tree({ "a.txt": "x\n", config: "--files-without-match\n" });
    const before = process.env.RIPGREP_CONFIG_PATH;
    process.env.RIPGREP_CONFIG_PATH = join(folder, "config");
    try {
      const query = { ...everything, pattern: "^x$", path: folder };
      expect(await ripgrep.grep(query, new AbortController().signal)).toEqual(found(["./a.txt:1:x"]));
    } finally {
      if (before === undefined) delete process.env.RIPGREP_CONFIG_PATH;
      else process.env.RIPGREP_CONFIG_PATH = before;
    }
  });
});

test("the built-in search does not wait for rules in a pipe", async () => {
  const folder = await tree({ "a.txt": "x\n" });
  execFileSync("mkfifo", [join(folder, ".gitignore")]);
  const query = { folder, include: ["*.txt"], exclude: [], limit: 10 };
  expect(await builtIn.glob(query, new AbortController().signal)).toEqual(found(["./a.txt"]));
});
