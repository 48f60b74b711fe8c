import { execFileSync } from "node:child_process";
import { linkSync, writeFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { ask, tree } from "./look-up-tree.ts";

/** Names of one file: creating and removing as many files takes seconds. */
function fill(folder: string, count: number): void {
  const first = join(folder, "1");
  writeFileSync(first, "");
  for (let name = 2; name <= count; name += 1) linkSync(first, join(folder, `${name}`));
}

describe("where a path leads", () => {
  test("has all links resolved, even of missing paths", async () => {
    const { ws, out } = await tree(["src/deep/"], {
      leaves: "OUT",
      back: "OUT/../ws/src",
      inside: "src/deep",
      nowhere: "OUT/none/file",
      prefix: "../ws-other",
    });
    const expected = {
      [ws]: [ws],
      [`${ws}/`]: [ws],
      [`${ws}/leaves/secret`]: [join(out, "secret")],
      [`${ws}/leaves/new/folder/file`]: [join(out, "new/folder/file")],
      [`${ws}/back/x`]: [join(ws, "src/x")],
      [`${ws}/inside/../x`]: [join(ws, "src/x")],
      [`${ws}/leaves/../ws/x`]: [join(ws, "x")],
      [`${ws}/src/../../out/secret`]: [join(out, "secret")],
      [`${ws}/none/../../../x`]: [join(dirname(dirname(ws)), "x")],
      [`${ws}/nowhere`]: [join(out, "none/file")],
      [`${ws}/prefix/x`]: [`${ws}-other/x`],
      "/": ["/"],
    };
    const found: Record<string, unknown> = {};
    for (const path of Object.keys(expected)) found[path] = await ask("path", path);
    expect(found).toEqual(expected);
  });

  test("is unknown for a loop, a name with a NUL or too long, and a relative path", async () => {
    const { ws } = await tree([], { a: "b", b: "a" });
    for (const path of [`${ws}/a`, `${ws}/a/x`, `${ws}/x\0`, `${ws}/${"x".repeat(300)}`, "x", ""]) {
      expect([path, await ask("path", path)]).toEqual([path, undefined]);
    }
  });

  test("below /proc includes the written path, however it is reached", async () => {
    const { ws } = await tree([], { proc: "/proc", me: "/proc/self", there: "/proc/self/cwd", deep: "proc/self" });
    const own = `/proc/${process.pid}`;
    const expected = {
      "/proc/cpuinfo": ["/proc/cpuinfo"],
      "/proc/x/../cpuinfo": ["/proc/cpuinfo"],
      "/proc/self/environ": ["/proc/self/environ", `${own}/environ`],
      "/proc/mounts": ["/proc/mounts", `${own}/mounts`],
      "/proc/self/cwd/../x": ["/proc/self/cwd/../x"],
      "/proc/12/task/13/root/etc/hosts": ["/proc/12/task/13/root/etc/hosts"],
      "/proc/thread-self/fd/3": ["/proc/thread-self/fd/3"],
      "/dev/fd/3": ["/proc/self/fd/3"],
      [`${ws}/proc/self/environ`]: ["/proc/self/environ", `${own}/environ`],
      [`${ws}/me/environ`]: ["/proc/self/environ", `${own}/environ`],
      [`${ws}/deep/root/etc/passwd`]: ["/proc/self/root/etc/passwd"],
      [`${ws}/there/x`]: ["/proc/self/cwd/x"],
      [`/proc/../${ws}/x`]: [`${ws}/x`],
    };
    const found: Record<string, unknown> = {};
    for (const path of Object.keys(expected)) found[path] = await ask("path", path);
    expect(found).toEqual(expected);
  });
});

describe("a pattern's matches", () => {
  test("come with the folders that contain them", async () => {
    const { ws } = await tree(["src/a.ts", "src/b.ts", "src/c.js", "src/.d.ts", "lib/a.ts", "lib/sub/x.ts", "e.ts/f"]);
    const of = async (pattern: string) =>
      (await ask("matches", `${ws}/${pattern}`))?.map((path) => relative(ws, path) || ".");
    expect({
      files: await of("src/*.ts"),
      hidden: await of("src/.d*"),
      folders: await of("*/a.ts"),
      deep: await of("*/*/*.ts"),
      "no globstar": await of("**.js"),
      slash: await of("lib/*/"),
      one: await of("src/?.js"),
      escaped: await of("src/\\*.ts"),
      parent: await of("src/*.js/../../lib/a*"),
      up: await of("lib/*/.."),
    }).toEqual({
      files: ["src", "src/a.ts", "src/b.ts"],
      hidden: ["src", "src/.d.ts"],
      folders: ["lib", "lib/a.ts", "src", "src/a.ts"],
      deep: ["lib/sub", "lib/sub/x.ts"],
      "no globstar": ["**.js"],
      slash: ["lib", "lib/sub"],
      one: ["src", "src/c.js"],
      escaped: ["src/*.ts"],
      // Without such a folder the system finds nothing, and the word stays unchanged.
      parent: ["lib/a*"],
      up: ["lib", "lib/sub"],
    });
  });

  test("come with the targets of links, in the matches and on the way", async () => {
    const { ws, out } = await tree(["a/x", "b/x"], { "c.txt": "OUT/secret", d: "OUT", "a/dead.txt": "OUT/none" });
    await mkdir(join(out, "sub"));
    await writeFile(join(out, "sub", "y"), "");
    expect(await ask("matches", `${ws}/*.txt`)).toEqual([join(out, "secret"), ws]);
    expect(await ask("matches", `${ws}/a/*.txt`)).toEqual([join(out, "none"), join(ws, "a")]);
    expect(await ask("matches", `${ws}/*/secret`)).toEqual([out, join(out, "secret")]);
    expect(await ask("matches", `${ws}/d/s*/y`)).toEqual([join(out, "sub"), join(out, "sub", "y")]);
    expect(await ask("matches", `${ws}/d*`)).toEqual([out, ws]);
  });

  test("include the folder itself and the one above if the pattern could mean them", async () => {
    const { ws } = await tree(["a/.x", "a/.yy"]);
    const a = join(ws, "a");
    expect(await ask("matches", `${a}/.*`)).toEqual([ws, a, join(a, ".*"), join(a, ".x"), join(a, ".yy")]);
    expect(await ask("matches", `${a}/.??*`)).toEqual([a, join(a, ".yy")]);
  });

  test("are never fewer than bash's", async () => {
    const names = [
      "a",
      "b1",
      "B2",
      "a.ts",
      "ab.ts",
      "[a]",
      "a]b",
      "é",
      "éé.ts",
      "with space",
      "-n",
      "*",
      "\\x",
      "^",
      "!",
    ];
    const hidden = [".a", "..b", ".ts", ".[a]"];
    const { ws } = await tree([...names, ...hidden, "sub/a", "sub/.b", "sub/a.ts", "sub/[a]/a"], {
      link: "sub",
      out: "OUT",
      dead: "nowhere",
    });
    const patterns = [
      ["*", "?", "??", "*.ts", "?.ts", "a*", "*a*", "*a*a*", "**", "*.*", ".*", ".?*", "..*", ".a*", "*é*", "???s"],
      ["[ab]", "[!a]", "[^a]", "[a-z]*", "[]a]*", "[!]a]*", "[[]a]", "[a", "a]*", "[[:alpha:]]", "[[:upper:]]*"],
      ["[[:alpha:]x]*", "[[.a.]]", "[\\]a]*", "[a\\]b]*", "[é]", "[.]a", "[*]", "[", "[]", "[!]", "[[a]*]", "[a[]"],
      [
        "\\*",
        "\\[a]",
        "\\\\*",
        "\\[*",
        "*\\]*",
        "\\.*",
        "*/a",
        "*/*",
        "*/.b",
        "s*/",
        "link/*",
        "*/../*",
        "*//a",
        "*/.",
      ],
      [
        "out/*",
        "*/secret",
        "d*",
        "n*",
        "sub/[a]/*",
        "sub/\\[a]/*",
        "sub/[[]a]/*",
        "*/*/a",
        "??/../a*",
        "\\a*",
        "[!-a]*",
        "[s/]ub/a",
        "sub[/]a",
        "[a/b]",
        "sub\\/a*",
        "[s]ub/*",
        "sub/a/.*",
        "sub/[a]/.*",
        ".*/]",
        "*\\",
      ],
    ].flat();
    for (const locale of ["C", "C.UTF-8"]) {
      const script = `printf '%s\\0' ${patterns.map((pattern) => `P ${pattern}`).join(" ")}`;
      const printed = execFileSync("/bin/bash", ["--noprofile", "--norc", "-c", script], {
        cwd: ws,
        env: { LC_ALL: locale },
        encoding: "utf8",
      });
      const found = printed.split("P\0").slice(1);
      expect(found.length).toBe(patterns.length);
      for (const [index, pattern] of patterns.entries()) {
        const words = (found[index] ?? "").split("\0").slice(0, -1);
        const answer = (await ask("matches", `${ws}/${pattern}`)) ?? [];
        const needed = await Promise.all(words.map((word) => ask("path", `${ws}/${word}`)));
        expect([locale, pattern, needed.flat().filter((path) => path !== undefined && !answer.includes(path))]).toEqual(
          [locale, pattern, []],
        );
      }
    }
  });

  test("are unknown if there are too many files, or one with a name that is not text", async () => {
    const { ws } = await tree([]);
    for (const name of ["a", "b"]) {
      await mkdir(join(ws, name));
      fill(join(ws, name), 6_000);
    }
    expect((await ask("matches", `${ws}/a/*`))?.length).toBe(6001);
    expect(await ask("matches", `${ws}/*/1`)).toEqual(["a", "a/1", "b", "b/1"].map((name) => join(ws, name)));
    expect(await ask("matches", `${ws}/*/*1`)).toBeUndefined();
    execFileSync("bash", ["-c", "mkdir c; ln -s /etc c/$'\\xff'"], { cwd: ws });
    expect(await ask("matches", `${ws}/c/*`)).toBeUndefined();
  });

  test("are found in bounded time for any pattern", async () => {
    const { ws } = await tree(["a".repeat(255)]);
    const pattern = `${ws}/${"*a".repeat(100)}*b`;
    expect(await ask("matches", pattern)).toEqual([pattern]);
  });
});

describe("a folder's content", () => {
  test("includes the links that leave it", async () => {
    const { ws, out } = await tree(["a/b/file", "plain"], {
      "a/b/leaves": "OUT/secret",
      "a/up": "..",
      "a/inside": "b/file",
      "a/over": "OUT/../ws/a/b",
      "a/dead": "OUT/none",
      "a/sibling": "../plain",
      prefix: "../ws-other",
      start: "a",
    });
    expect(await ask("links-below", ws)).toEqual([join(out, "none"), join(out, "secret"), `${ws}-other`]);
    const ofA = [join(out, "none"), join(out, "secret"), ws, join(ws, "plain")];
    expect(await ask("links-below", join(ws, "a"))).toEqual(ofA);
    expect(await ask("links-below", join(ws, "start"))).toEqual(ofA);
    expect(await ask("names-below", join(ws, "a"))).toEqual(ofA);
    expect(await ask("links-below", join(ws, "a", "b", "file"))).toEqual([]);
    expect(await ask("links-below", join(ws, "missing"))).toEqual([]);
  });

  test("is unknown if links differ per process, or form a loop", async () => {
    const { ws } = await tree(["a/"], { "a/loop": "loop", proc: "/proc/self" });
    for (const path of ["/", "/proc", "/proc/self/cwd", `${ws}/proc`, `${ws}/a`]) {
      expect([path, await ask("links-below", path)]).toEqual([path, undefined]);
    }
  });

  test.each([
    "with space",
    "tab\there",
    "new\nline",
    "no\u00a0break",
    'quo"te',
    "it's",
    "back`tick",
    "back\\slash",
    "-rf",
    "\u0007",
  ])("has no list of plain names with one like %j", async (name) => {
    const { ws } = await tree(["a/b/plain.txt", "a/b/ä-$x;&(1)=~#"]);
    expect(await ask("names-below", ws)).toEqual([]);
    await writeFile(join(ws, "a", "b", name), "");
    expect(await ask("names-below", ws)).toBeUndefined();
    expect(await ask("links-below", ws)).toEqual([]);
    await rm(join(ws, "a", "b", name));
    await mkdir(join(ws, name));
    expect(await ask("names-below", ws)).toBeUndefined();
  });

  test("is inspected up to 20,000 files", async () => {
    const { ws } = await tree(["a/"]);
    fill(join(ws, "a"), 19_999);
    expect([await ask("links-below", ws), await ask("names-below", ws)]).toEqual([[], []]);
    await writeFile(join(ws, "one-more"), "");
    expect([await ask("links-below", ws), await ask("names-below", ws)]).toEqual([undefined, undefined]);
  });
});
