import { execFileSync } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { ask, tree } from "./look-up-tree.ts";

describe("where a path leads", () => {
  test("is told with all links resolved, also of what is not there yet", async () => {
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

  test("is not told of a loop, of a name with a zero byte or too long, and of what is not absolute", async () => {
    const { ws } = await tree([], { a: "b", b: "a" });
    for (const path of [`${ws}/a`, `${ws}/a/x`, `${ws}/x\0`, `${ws}/${"x".repeat(300)}`, "x", ""]) {
      expect([path, await ask("path", path)]).toEqual([path, undefined]);
    }
  });

  test("is told below /proc as it is written, however it is reached", async () => {
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

describe("what a pattern matches", () => {
  test("is told with the folders that hold it", async () => {
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
      // There is no such folder, so the system finds nothing, and the word stays as it is.
      parent: ["lib/a*"],
      up: ["lib", "lib/sub"],
    });
  });

  test("is told with where links lead, in the matches and on the way", async () => {
    const { ws, out } = await tree(["a/x", "b/x"], { "c.txt": "OUT/secret", d: "OUT", "a/dead.txt": "OUT/none" });
    await mkdir(join(out, "sub"));
    await writeFile(join(out, "sub", "y"), "");
    expect(await ask("matches", `${ws}/*.txt`)).toEqual([join(out, "secret"), ws]);
    expect(await ask("matches", `${ws}/a/*.txt`)).toEqual([join(out, "none"), join(ws, "a")]);
    expect(await ask("matches", `${ws}/*/secret`)).toEqual([out, join(out, "secret")]);
    expect(await ask("matches", `${ws}/d/s*/y`)).toEqual([join(out, "sub"), join(out, "sub", "y")]);
    expect(await ask("matches", `${ws}/d*`)).toEqual([out, ws]);
  });

  test("has the folder itself and the one above it when the pattern could mean them", async () => {
    const { ws } = await tree(["a/.x", "a/.yy"]);
    const a = join(ws, "a");
    expect(await ask("matches", `${a}/.*`)).toEqual([ws, a, join(a, ".*"), join(a, ".x"), join(a, ".yy")]);
    expect(await ask("matches", `${a}/.??*`)).toEqual([a, join(a, ".yy")]);
  });

  test("is never less than what bash finds", async () => {
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

  test("is not told when there are too many files, or one with a name that is no text", async () => {
    const { ws } = await tree([]);
    execFileSync("bash", ["-c", "mkdir a b; touch a/{1..6000} b/{1..6000}"], { cwd: ws });
    expect((await ask("matches", `${ws}/a/*`))?.length).toBe(6001);
    expect(await ask("matches", `${ws}/*/1`)).toEqual(["a", "a/1", "b", "b/1"].map((name) => join(ws, name)));
    expect(await ask("matches", `${ws}/*/*1`)).toBeUndefined();
    execFileSync("bash", ["-c", "mkdir c; ln -s /etc c/$'\\xff'"], { cwd: ws });
    expect(await ask("matches", `${ws}/c/*`)).toBeUndefined();
  });

  test("is found in a time that no pattern can make long", async () => {
    const { ws } = await tree(["a".repeat(255)]);
    const pattern = `${ws}/${"*a".repeat(100)}*b`;
    expect(await ask("matches", pattern)).toEqual([pattern]);
  });
});

describe("what lies below a folder", () => {
  test("has its links told that leave it", async () => {
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

  test("is not told where every process has other links, or a link goes in circles", async () => {
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

  test("is looked through up to 20,000 files", async () => {
    const { ws } = await tree(["a/"]);
    execFileSync("bash", ["-c", "touch a/{1..19999}"], { cwd: ws });
    expect([await ask("links-below", ws), await ask("names-below", ws)]).toEqual([[], []]);
    await writeFile(join(ws, "one-more"), "");
    expect([await ask("links-below", ws), await ask("names-below", ws)]).toEqual([undefined, undefined]);
  });
});
