import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { testPolicy } from "../../src/commands/policy/policy-test.ts";
import { isFullRun } from "../full-run.ts";
import { installedTools } from "../permissions/installed-tools.ts";
import type { Bench, RunOptions } from "./tinman.ts";
import { createBench } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const explain = (args: readonly string[], options: RunOptions = {}) =>
  bench.tinman(["policy", "explain", ...args], options);
const explained = async (command: string, options: RunOptions = {}) =>
  JSON.parse((await explain(["--json", command], options)).stdout);

const levels = ["off", "low", "medium", "high", "unsafe", "spec"];
const everywhere = (verdict: string) => Object.fromEntries(levels.map((level) => [level, verdict]));

describe("explain", () => {
  test("prints the command as a tree, its class, and what each level does with it", async () => {
    const command = "cd docs && cat *.md 2>/dev/null | tee out.txt; if [ -f x ]; then bash -c 'git push'; fi";
    const { stdout, ...run } = await explain([command]);
    expect(run).toEqual({ code: 0, signal: null, stderr: "" });
    expect(stdout).toBe(`script  cd docs && cat *.md 2>/dev/null | tee out.txt; if [ -f x ]; then bash -c 'git push'; fi
├─ list  cd docs && cat *.md 2>/dev/null | tee out.txt
│  ├─ command  cd docs
│  │     read: it changes to another folder [shell builtin]
│  └─ pipeline  cat *.md 2>/dev/null | tee out.txt
│     ├─ command  cat *.md 2>/dev/null
│     │  │  read: it prints files [row cat]
│     │  └─ redirection  2>/dev/null
│     │        read: it redirects to a stream that stores nothing [redirection]
│     └─ command  tee out.txt
│           low: it writes its input to files [row tee]
└─ if  if [ -f x ]; then bash -c 'git push'; fi
   ├─ command  [ -f x ]
   │     read: it compares [shell builtin]
   └─ command  bash -c 'git push'
      │  read: it has bash run a script [unwrapped bash]
      └─ command  git push
            high: it sends commits to another repository [row git push]

class     high, because it sends commits to another repository
programs  cat, tee, [, git push

off       asks (in exec: denied)
low       asks (in exec: denied)
medium    asks (in exec: denied)
high      runs
unsafe    runs
spec      refused
`);
  });

  test("prints the same as one object", async () => {
    const { stdout, ...run } = await explain(["--json", "cat ~/.ssh/id_rsa | grep -c KEY"]);
    expect(run).toEqual({ code: 0, signal: null, stderr: "" });
    const why = `reads ${bench.home}/.ssh/id_rsa, a protected place`;
    const node = { kind: "command", protected: false, parts: [] };
    expect(JSON.parse(stdout)).toEqual({
      command: "cat ~/.ssh/id_rsa | grep -c KEY",
      class: "high",
      impactLevel: "high",
      programs: ["cat", "grep"],
      protected: true,
      rule: "protected-place",
      because: `it ${why}`,
      tree: {
        kind: "pipeline",
        source: "cat ~/.ssh/id_rsa | grep -c KEY",
        class: "read",
        protected: false,
        rule: "parts",
        why: "does only what its parts do",
        parts: [
          { ...node, source: "cat ~/.ssh/id_rsa", class: "high", protected: true, rule: "protected-place", why },
          { ...node, source: "grep -c KEY", class: "read", rule: "row grep", why: "searches files for a pattern" },
        ],
      },
      verdicts: { ...everywhere("asks"), unsafe: "runs", spec: "refused" },
    });
  });

  // Each is a process; `policy test` judges commands of every class in one.
  const classes: readonly (readonly [command: string, wanted: string, verdicts: object])[] = [
    ["cat notes.md", "read", everywhere("runs")],
    ["touch new.md", "low", { ...everywhere("runs"), off: "asks", spec: "refused" }],
    ["chmod +x new.md", "medium", { ...everywhere("runs"), off: "asks", low: "asks", spec: "refused" }],
    ["rm new.md", "high", { ...everywhere("asks"), high: "runs", unsafe: "runs", spec: "refused" }],
    ["cat .git/config", "high", { ...everywhere("asks"), unsafe: "runs", spec: "refused" }],
    ["ls \u202e", "refused", everywhere("refused")],
  ];
  const fewer = ["touch new.md", "cat .git/config", "ls \u202e"];
  test.each(classes.filter(([command]) => isFullRun || fewer.includes(command)))(
    "%j is %s",
    async (command, wanted, verdicts) => {
      expect(await explained(command)).toMatchObject({ class: wanted, verdicts });
    },
  );

  test.each([
    ["off", "ls", "runs", 0],
    ["off", "touch x", "asks", 5],
    ["low", "touch x", "runs", 0],
    ["medium", "rm x", "asks", 5],
    ["high", "rm x", "runs", 0],
    ["high", "cat ~/.ssh/id_rsa", "asks", 5],
    ["high", "ls \u200b", "refused", 5],
  ])("with --auto %s, the exit code says whether %j runs unasked", async (level, command, verdict, code) => {
    const text = await explain(["--auto", level, command]);
    const shown = verdict === "asks" ? "asks (in exec: denied)" : verdict;
    expect([text.code, text.stdout.split("\n\n").at(-1)]).toEqual([code, `${level.padEnd(10)}${shown}\n`]);
    if (!isFullRun && level !== "off") return;
    const object = await explain(["--json", "--auto", level, command]);
    expect([object.code, JSON.parse(object.stdout).verdicts]).toEqual([code, { [level]: verdict }]);
  });

  test("a refused text has a reason, and does not reach the terminal", async () => {
    const run = await explain(["-"], { stdin: "ls \u001b[2K\r\n" });
    const why = "it contains the character U+001B, which is invisible or ambiguous";
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toMatch(`ls \\u{1b}[2K\\u{d}\n\nclass     refused, because ${why}\n`);
    expect((await explained("ls\r")).refused).toBe("it contains the character U+000D, which is invisible or ambiguous");
  });

  test("takes multi-line commands from an argument or standard input, and shows them on one line", async () => {
    const command = "cat <<'EOF'\n$(rm x)\nEOF\npwd";
    const run = await explain([command]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout).toMatch("script  cat <<'EOF'↵$(rm x)↵EOF↵pwd\n");
    expect(await explain(["-"], { stdin: command })).toEqual(run);
    expect(await explain(["-"], { stdin: `${command}\n` })).toEqual(run);
    expect(await explain(["--", command])).toEqual(run);
  });

  test("runs and writes nothing, whatever the command", async () => {
    const before = [await readdir(bench.cwd), await readdir(bench.home)];
    const commands = ["touch a", "ls $(touch b)", "`touch c`", "cat <(touch d) > e", "bash -c 'touch f' &"];
    for (const command of isFullRun ? commands : [commands.join("\n")]) {
      expect((await explain([command])).code).toBe(0);
    }
    expect([await readdir(bench.cwd), await readdir(bench.home)]).toEqual(before);
  });

  test("the folder decides what is inside and outside", async () => {
    await mkdir(join(bench.cwd, "inner"), { recursive: true });
    expect((await explained("cat ../notes.md", { cwd: join(bench.cwd, "inner") })).class).toBe("low");
    expect((await explained("cat inner/notes.md")).class).toBe("read");
    const run = await explain(["--json", "--cwd", "inner", "cat ../notes.md"]);
    expect(JSON.parse(run.stdout)).toMatchObject({ class: "low", rule: "read-outside" });
  });

  test("long and deeply nested commands are cut, not rejected", async () => {
    const nested = `${"$(".repeat(40)}ls${")".repeat(40)}`;
    const run = await explain(["-"], { stdin: `echo ${"x".repeat(50_000)} ${nested}` });
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(Math.max(...run.stdout.split("\n").map((line) => line.length))).toBeLessThan(300);
    const { tree } = JSON.parse((await explain(["--json", "-"], { stdin: `echo ${"x".repeat(50_000)}` })).stdout);
    expect(tree.source).toBe(`echo ${"x".repeat(3_995)}…`);
  });

  test.each([
    [[], "No command given. Try: tinman policy explain 'ls -la'"],
    [["  "], "The command is empty."],
    [["-"], "The command is empty."],
    [["ls", "-la", "x"], "unknown option '-la'. Put the command in quotes."],
    [["rm", "x"], "too many arguments for 'explain'. Expected 1 argument but got 2. Put the command in quotes."],
    [["--", "rm", "x"], "Give the command as one argument: put it in quotes."],
    [
      ["--auto", "unsafe", "ls"],
      "option '--auto <level>' argument 'unsafe' is invalid. Allowed choices are off, low, medium, high.",
    ],
    [["--cwd", "nowhere", "ls"], "The folder nowhere does not exist."],
  ])("%j is a usage error", async (args, words) => {
    expect(await explain(args)).toEqual({ code: 2, signal: null, stdout: "", stderr: `tinman: ${words}\n` });
  });

  test("standard input is limited, and must be text", async () => {
    const tooLong = await explain(["-"], { stdin: "x".repeat(1_000_001) });
    expect([tooLong.code, tooLong.stderr]).toEqual([2, "tinman: The command is larger than 1 MB.\n"]);
    const bytes = await bench.shell("printf 'ls \\377' | tinman policy explain -");
    expect([bytes.code, bytes.stderr]).toEqual([2, "tinman: The command is not UTF-8 text.\n"]);
  });
});

describe("rules of the configuration", () => {
  let ruled: Bench;
  beforeAll(async () => {
    ruled = await createBench();
    await mkdir(join(ruled.home, ".tinman"));
    const rules = { allow: ["npm run deploy", "own-tool *"], deny: ["git push *"] };
    await writeFile(join(ruled.home, ".tinman", "config.yaml"), JSON.stringify({ permissions: rules }));
    await writeFile(join(ruled.root, "admin.yaml"), "permissions: { deny: [shutdown *] }\n");
  });
  afterAll(() => ruled.remove());

  const judged = async (command: string) => {
    const env = { TINMAN_ADMIN_CONFIG: join(ruled.root, "admin.yaml") };
    const run = await ruled.tinman(["policy", "explain", "--sandbox", "off", "--json", command], { env });
    const { class: found, rule, because, denied, verdicts } = JSON.parse(run.stdout);
    return { class: found, rule, because, denied, verdicts };
  };

  test("the rule is shown as the deciding part", async () => {
    expect(await judged("own-tool --fast")).toMatchObject({
      rule: "allow-rule",
      because: "it is allowed by the rule own-tool *",
      verdicts: { off: "runs" },
    });
    expect(await judged("npm run deploy --now")).toMatchObject({ class: "high", verdicts: { off: "asks" } });
    expect(await judged("ls && git push origin")).toMatchObject({
      class: "high",
      denied: "Execute would run a command that a rule denies: git push *.",
      verdicts: { ...everywhere("denied"), unsafe: "runs" },
    });
    expect(await judged("shutdown now")).toMatchObject({
      denied: "Execute would run a command that an administrator's rule denies: shutdown *.",
      verdicts: everywhere("denied"),
    });
  });

  test("denials are printed, and set the exit code", async () => {
    const run = await ruled.tinman(["policy", "explain", "--auto", "high", "git push origin main"]);
    expect(run).toMatchObject({ code: 5, stderr: "" });
    expect(run.stdout).toContain("denied    Execute would run a command that a rule denies: git push *.\n");
    expect(run.stdout.endsWith("\n\nhigh      denied\n")).toBe(true);
  });

  test("a repository's rules apply in it, and keys it may not set are named", async () => {
    const repository = join(ruled.root, "repository");
    await mkdir(join(repository, ".tinman"), { recursive: true });
    await writeFile(
      join(repository, ".tinman", "config.yaml"),
      "model: x\npermissions: { allow: [rm *], deny: [make *] }\n",
    );
    const run = await ruled.tinman(["policy", "explain", "--json", "--cwd", repository, "make all"]);
    const path = join(await realpath(repository), ".tinman", "config.yaml");
    const words = "model, permissions.allow are ignored: a repository's configuration can only deny commands.";
    expect(run).toMatchObject({ code: 0, stderr: `tinman: ${path}: ${words}\n` });
    expect(JSON.parse(run.stdout).verdicts).toEqual({ ...everywhere("denied"), unsafe: "runs" });
  });

  test("an invalid configuration is exit code 2", async () => {
    const run = await ruled.tinman(["policy", "explain", "ls"], { env: { TINMAN_ADMIN_CONFIG: "/nowhere.yaml" } });
    expect(run).toMatchObject({ code: 2, stdout: "" });
    expect(run.stderr).toMatch(/^tinman: \/nowhere\.yaml: .*TINMAN_ADMIN_CONFIG.*\n$/);
  });
});

describe("test", () => {
  const check = async (document: unknown, ...flags: string[]) => {
    const text = typeof document === "string" ? document : JSON.stringify(document);
    await writeFile(join(bench.root, "cases.yaml"), text);
    const { signal: _, ...run } = await bench.tinman(["policy", "test", "../cases.yaml", ...flags]);
    return run;
  };

  test("passes cases that match", async () => {
    const yaml = `
cases:
  - { command: ls -la, class: read, why: it only lists }
  - { command: touch x, level: off, expect: asks }
  - { command: touch x, level: off, expect: denied }
  - { command: touch x, level: low, expect: runs }
  - { command: rm x, class: high, level: high, expect: runs }
  - { command: "ls \\u200b", class: refused, level: high, expect: refused }
  - { command: "   ", class: read }
  - command: |
      ls
      pwd
    class: read
`;
    expect(await check(yaml)).toEqual({ code: 0, stdout: "8 passed, 0 failed\n", stderr: "" });
    expect(await check(yaml, "--json")).toEqual({
      code: 0,
      stdout: '{"passed":8,"failed":0,"failures":[]}\n',
      stderr: "",
    });
  });

  test("reports each failing case with what decided, and exits with 1", async () => {
    const cases = [
      { command: "ls", class: "read" },
      { command: "ssh x", class: "low", why: "I thought so" },
      { command: "ssh\nx", level: "medium", expect: "runs" },
      { command: "cat x", level: "off", expect: "denied" },
      { command: "ls \u001b", class: "read", level: "high", expect: "runs" },
    ];
    const lines = [
      "case 2: expected low, got high: ssh x, because it connects to another machine",
      "case 3: expected runs at medium, got asks: ssh↵x, because it connects to another machine",
      "case 4: expected denied at off, got runs: cat x, because it prints files",
      "case 5: expected read, got refused: ls \\u{1b}, because it contains the character U+001B, which is invisible or ambiguous",
      "1 passed, 4 failed",
    ];
    expect(await check({ cases })).toEqual({ code: 1, stdout: `${lines.join("\n")}\n`, stderr: "" });
    const { code, stdout } = await check({ cases: cases.slice(0, 2) }, "--json");
    const failure = {
      case: 2,
      command: "ssh x",
      expected: "low",
      got: "high",
      rule: "row ssh",
      because: "it connects to another machine",
    };
    expect([code, JSON.parse(stdout)]).toEqual([1, { passed: 1, failed: 1, failures: [failure] }]);
  });

  test("judges as in the sandbox only if asked, whatever this machine has", async () => {
    const cases = (own: string) => ({ cases: [{ command: "./build.sh", class: own }] });
    expect(await check(cases("high"))).toMatchObject({ code: 0 });
    expect(await check(cases("medium"), "--sandbox", "required")).toMatchObject({ code: 0 });
  });

  test("applies the configuration's rules", async () => {
    const ruled = await createBench();
    await ruled.shell("mkdir ~/.tinman; echo 'permissions: { deny: [git push *] }' > ~/.tinman/config.yaml");
    await ruled.file("cases.yaml", "cases: [{ command: git push, level: high, expect: runs }]");
    expect(await ruled.tinman(["policy", "test", "cases.yaml"])).toMatchObject({
      code: 1,
      stdout:
        "case 1: expected runs at high, got denied: git push, because Execute would run a command that a rule denies: git push *.\n0 passed, 1 failed\n",
    });
    await ruled.remove();
  });

  const wrong: readonly (readonly [document: unknown, words: string])[] = [
    ["cases: []", "cases is empty, so nothing would be tested"],
    ["", "the file must contain an object with cases"],
    ["[]", "the file must contain an object with cases"],
    ["cases: ls", "cases must be a list"],
    ["cases: [ls]", "cases[0] must be an object with a command"],
    ["case: []", "case is unknown; available: cases"],
    ["cases: [{ command: ls, class: read }, { class: read }]", "cases[1].command must be a string"],
    ["cases: [{ command: ls }]", "cases[0] must have a class, or level and expect"],
    ["cases: [{ command: ls, level: low }]", "cases[0] must have level and expect together"],
    ["cases: [{ command: ls, class: read, expect: runs }]", "cases[0] must have level and expect together"],
    ["cases: [{ command: ls, class: none }]", "cases[0].class must be one of read, low, medium, high, refused"],
    ["cases: [{ command: ls, level: unsafe, expect: runs }]", "cases[0].level must be one of off, low, medium, high"],
    ["cases: [{ command: ls, level: low, expect: ok }]", "cases[0].expect must be one of runs, asks, denied, refused"],
    ["cases: [{ command: ls, clas: read }]", "cases[0].clas is unknown; available: command, class, level, expect, why"],
    ["cases: [{ command: ls, class: read, why: 1 }]", "cases[0].why must be a string"],
    [{ cases: Array(10_001).fill({ command: "ls", class: "read" }) }, "cases has more than 10000 entries"],
  ];
  test.each(wrong.map(([document, words]) => [words, document] as const))("wrong: %s", async (words, document) => {
    const file = join(bench.root, "wrong.yaml");
    await writeFile(file, typeof document === "string" ? document : JSON.stringify(document));
    const silent = {
      isTerminal: false,
      columns: 80,
      write: () => Promise.reject(new Error("nothing is to be said")),
      gone: new AbortController().signal,
    };
    const io = { stdout: silent, stderr: silent, onSignal: () => () => undefined };
    await expect(testPolicy(file, {}, io)).rejects.toMatchObject({ code: "usage", message: `${file}: ${words}` });
  });

  const rows = isFullRun ? wrong : wrong.filter((_, index) => index % 5 === 0);
  test.each(rows.map(([document, words]) => [words, document] as const))("wrong usage: %s", async (words, document) => {
    expect(await check(document)).toEqual({ code: 2, stdout: "", stderr: `tinman: ../cases.yaml: ${words}\n` });
  });

  test("reports an unreadable or malformed file in one line with exit code 2", async () => {
    const broken = await check("cases: [\n  - {");
    expect([broken.code, broken.stdout]).toEqual([2, ""]);
    expect(broken.stderr).toMatch(/^tinman: \.\.\/cases\.yaml: line \d+, column \d+: [^\n]+\n$/);
    const missing = await bench.tinman(["policy", "test", "nowhere.yaml"]);
    expect([missing.code, missing.stdout]).toEqual([2, ""]);
    expect(missing.stderr).toMatch(/^tinman: nowhere\.yaml: [^\n]+\n$/);
  });

  test("judges the commands of Tinman's own tests correctly in a new repository", async () => {
    const all = parse(await readFile(new URL("../permissions/commands.yaml", import.meta.url), "utf8")) as {
      cases: readonly object[];
    };
    // All are judged in process; here some of every kind, or all.
    const cases = all.cases.filter((_, index) => isFullRun || index % 8 === 0);
    // Not in the temp folder, because writing there is judged differently.
    const root = await realpath(await mkdtemp("/var/tmp/tinman-e2e-"));
    try {
      const [home, cwd] = [join(root, "home"), join(root, "project")];
      for (const folder of [home, join(cwd, "node_modules/.bin")]) await mkdir(folder, { recursive: true });
      for (const tool of installedTools) await writeFile(join(cwd, tool), "");
      const file = join(root, "cases.yaml");
      await writeFile(file, JSON.stringify({ cases }));
      // A word that git could read as a branch is a path if such a file exists.
      expect(await bench.shell("git init -q && touch README.md", { cwd })).toMatchObject({ code: 0 });
      const { stdout, ...run } = await bench.tinman(["policy", "test", file], { cwd, env: { HOME: home } });
      expect([run, stdout]).toEqual([{ code: 0, signal: null, stderr: "" }, `${cases.length} passed, 0 failed\n`]);
    } finally {
      await rm(root, { recursive: true });
    }
  });
});
