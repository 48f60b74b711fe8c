import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { seenPlaces, withEvidence } from "../../src/engine/calls/evidence.ts";
import type { DecisionContext } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { context as atHigh, policy } from "./at-high.ts";

for (const name of ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]) process.env[name] = "/dev/null";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-real-files-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = join(root, "home");
const cwd = join(root, "ws");

function put(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

function repository(folder: string): void {
  execFileSync("git", ["init", "-q", "-b", "main", folder], { env: { PATH: process.env.PATH, HOME: root } });
}

put(home, {
  ".profile": "x",
  ".bashrc": "x",
  ".ssh/authorized_keys": "k",
  ".bash_history": "x",
  "code/a/a.ts": "",
  "Desktop/x": "",
});
put(cwd, {
  "src/a.ts": "",
  "src/b.ts": "",
  "README.md": "",
  "package.json": "",
  "build/a/x": "",
  "settings/.npmrc": "logs-dir=/x",
  "settings/below/a": "",
  "modules/own/json/__init__.py": "",
  "modules/used/argparse.py": "",
  "modules/runs/pip/__main__.py": "",
  "modules/compiled/_ssl.cpython-311-x86_64-linux-gnu.so": "",
  "modules/harmless/__init__.py": "",
  "modules/harmless/test/__init__.py": "",
  "modules/harmless/json/data.txt": "",
  "modules/harmless/tool.py": "",
});
repository(cwd);
for (const name of ["libs/a", "libs/b"]) repository(join(cwd, name));
repository(join(home, "code/a"));
symlinkSync(join(home, "code"), join(cwd, "link"));

const host = createNodeHost({ outputsDir: join(root, "outputs") });
const context: DecisionContext = {
  ...atHigh,
  tool: "Execute",
  cwd,
  home,
  temp: join(root, "temp"),
  ownHome: join(home, ".tinman"),
  readable: [],
  enabledTools: [],
};

async function decided(command: string, changes: Partial<DecisionContext> = {}): Promise<string> {
  const here = { ...context, ...changes };
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, here);
  const { verdict, rule } = policy.decide(accesses, here);
  return `${verdict} ${rule}`;
}

describe("a Python module that is run by name", () => {
  test.each([
    "cd modules/harmless && python3 -m json.tool tool.py",
    "cd modules/harmless && python -m pip list",
    "mkdir fresh && cd fresh && python3 -m venv .venv",
    "python3 -m venv .venv && python3 -m pip install requests",
    "cd modules/runs && python3 -m pytest",
  ])("%s runs the installed one", async (command) => {
    expect(await decided(command, { autonomy: "medium" })).toMatch(/^allow /);
  });

  test.each([
    "cd modules/own && python3 -m json.tool a.json",
    "cd modules/used && python -m venv .venv",
    "cd modules/used && python3 -m black .",
    "cd modules/used && uv run python -m ruff check",
    "cd modules/runs && python3 -m pip list",
    "cd modules/compiled && python3 -m pip install requests",
    "cp src/a.ts json.py && python3 -m json.tool a.json",
    "cp -r modules/own/json . && python3 -m json.tool a.json",
  ])("%s could run the project's", async (command) => {
    expect(await decided(command, { autonomy: "medium" })).toMatch(/^deny (program-in-workspace|moved-path)$/);
  });
});

describe("a program that obeys the project's settings even to print its version", () => {
  test.each(["npm -v", "cd src && npm --version"])("%s reads where there are none", async (command) => {
    expect(await decided(command, { autonomy: "off" })).toMatch(/^allow /);
  });

  test.each(["cd settings && npm -v", "cd settings/below && npm --version", "echo logs-dir=/x > .npmrc; npm -v"])(
    "%s does not read",
    async (command) => {
      expect(await decided(command, { autonomy: "low" })).toMatch(/^deny (obeys-settings|moved-path)$/);
    },
  );
});

const asked = /^deny (protected-place|catastrophic)$/;

describe("every word that the shell expands", () => {
  test.each([
    "cd; echo x >> .pro*",
    "cd; echo x > .bashr?",
    "cd; echo k > .ss?/authorized_keys",
    'echo "[x]" >> .gi?/config',
    'cd .gi?; echo "[y]" >> config',
    "cd .gi? && echo x > hooks/new",
    "cd ../h*; cat .bash_history",
    "cd ../h*; echo x > .newrc",
    "cd ../h*/.ss? && cat *",
    "pushd ../home/.ss?; cat authorized_keys",
    "d=../h*; cd $d; cat .bash_history",
    "for d in ../h*; do cd $d; cat .bash_history; done",
    "exec 3< ../home/.ss?/authorized_keys; cat <&3",
    "cat 0<> ../home/.ss?/authorized_keys",
    "unknownprog --file=../home/.ss?/authorized_keys",
    "unknownprog -k../home/.ss?/authorized_keys",
    ". ../home/.pro*",
    "source ../home/.pro*",
    "for f in ../home/.pro*; do echo x >> $f; done",
    "echo x > {../home/.pro*,a}",
  ])("%s includes a protected place", async (command) => {
    expect(await decided(command)).toMatch(asked);
  });

  test.each(["echo x > src/a.*", "cd sr?; echo x > b.ts", "cd settings/*; ls > out.txt", "unknownprog --file=src/*"])(
    "%s includes none",
    async (command) => {
      expect(await decided(command)).toMatch(/^allow /);
    },
  );

  test.each([
    "rm -rf libs/*",
    "rm -rf li*",
    "rm -rf lib?",
    "rm -rf [l]ibs",
    "rm -rf libs/[ab]",
    "rm -rf libs/*/",
    "cd libs; rm -rf *",
    'for d in libs/*; do rm -rf "$d"; done',
    "for d in libs/*; do rm -rf $d; done",
    "d=libs/*; rm -rf $d",
    "ls -d libs/* | xargs rm -rf",
    "echo libs/* | xargs rm -rf",
    'set -- libs/*; rm -rf "$@"',
    'ls -d libs/* | while read -r d; do rm -rf "$d"; done',
    "find libs -delete",
    "find libs -mindepth 1 -delete",
    "find . -name HEAD -delete",
    "find . -name 'conf*' -delete",
    "find . -name config -delete",
    "find . -name '[a-z]*' -delete",
    "find . -iname Head -delete",
    "find . -name x -o -name HEAD -delete",
    "find . -path '*/objects/*' -delete",
    "find . -path './libs/*' -delete",
    "find . -regex '.*/HEAD' -delete",
    "find . -type d -name objects -exec rm -rf {} +",
    "find . -type d -name objects | xargs rm -rf",
    "find . -type d -name libs -exec rm -rf {} +",
    "chmod -R 000 libs/*",
    "chown -R nobody libs/*",
    "shred libs/*/.git/HEAD",
    "rm -rf ~/code/*",
    "rm -rf link/*",
    "find ../home/code -delete",
    "npx rimraf 'libs/'*",
  ])("%s deletes a repository", async (command) => {
    expect(await decided(command)).toMatch(asked);
  });

  test.each([
    "rm -rf src/*",
    "rm -rf build/*",
    "find . -name '*.log' -delete",
    "find . -name '*.pyc' -exec rm {} +",
    "find . -name __pycache__ -type d -exec rm -rf {} +",
    "find . -name '.DS_Store' -print0 | xargs -0 rm -f",
    "find . -path './src/*' -name config -delete",
    "ls -d libs/*; rm src/a.ts",
    "chmod -R 755 src/*",
    "chmod -R +x .",
    "chmod -R u+w .",
    "rm -f *.md",
  ])("%s deletes no repository", async (command) => {
    expect(await decided(command)).toMatch(/^allow /);
  });

  test.each([
    "cd; rm -rf *",
    "cd --; rm -rf *",
    "cd -P; rm -rf *",
    "cd ~; rm -rf ./*",
    "builtin cd; rm -rf *",
    "command cd && rm -rf *",
    "(cd; rm -rf *)",
    "bash -c 'cd; rm -rf *'",
    "if cd; then rm -rf *; fi",
    "cd; rm *",
    "cd; rm -rf */",
    "cd; rm -rf ?*",
    "cd; rm -rf [!.]*",
    "cd; shred *",
    "cd; truncate -s0 *",
    "cd; echo * | xargs rm -rf",
    "cd; ls | xargs rm -rf",
    "rm -rf ~/*",
    "rm -rf *",
    "rm -rf ./*",
    "rm -rf */",
    'rm -rf "$PWD"/*',
    'for f in *; do rm -rf "$f"; done',
    "rm -rf /etc/*",
  ])("%s empties a home, the workspace or a system folder", async (command) => {
    expect(await decided(command)).toMatch(asked);
  });
});

test.each([
  ["rm -rf [a-m]* [n-z]*", true],
  ["rm -rf [a-m]*; rm -rf [n-z]*", true],
  ["rm -rf ./[a-m]* && cd . && rm -rf [!a-m]*", true],
  ["rm -rf notes letters o*", true],
  ["rm -rf [ln]* other.txt", true],
  ["ls -d [a-m]* [n-z]* | xargs rm -rf", true],
  ["bash -c 'rm -rf [a-m]*'; rm -r [n-z]*", true],
  ["rm -rf [a-m]* other.txt", false],
  ["rm -rf n* more/*", false],
  ["ls [a-m]* [n-z]*; rm -rf n*", false],
])("%s empties the folder together with others: %s", async (command, isAsked) => {
  const plain = join(root, "plain");
  put(plain, { "letters/a": "", "notes/a": "", "other.txt": "", "more/a": "" });
  rmSync(join(plain, "more"), { recursive: true });
  expect(/^deny (catastrophic|protected-place)/.test(await decided(command, { cwd: plain }))).toBe(isAsked);
});

describe("unpacking", () => {
  const hooks = { closed: [], kept: [join(cwd, "tools/hooks")], programs: [], links: [] };

  test.each(["tar xf a.tar -C tools", "unzip -o a.zip -d tools", "tar xf a.tar -C libs", "unzip a.zip -d libs"])(
    "%s writes any name in a folder with hooks",
    async (command) => {
      expect(await decided(command, { autonomy: "medium", repositories: hooks })).toMatch(/^deny /);
    },
  );

  test("runs in other folders", async () => {
    expect(await decided("tar xf a.tar -C src", { autonomy: "medium", repositories: hooks })).toMatch(/^allow /);
  });
});

describe("fetching", () => {
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", args, { cwd: folder, env: { PATH: process.env.PATH, HOME: root } });

  test.each([
    "git fetch -p origin 'refs/heads/*:refs/heads/*'",
    "git fetch origin 'refs/heads/*:refs/heads/*'",
    "git pull -p origin 'refs/heads/*:refs/heads/*'",
  ])("%s may delete branches", async (command) => {
    expect(await decided(command, { autonomy: "medium" })).toMatch(/^deny /);
  });

  test("runs at medium unless a remote is fetched into local branches", async () => {
    const folder = join(cwd, "libs/a");
    const at = { autonomy: "medium", cwd: folder } as const;
    git(folder, "remote", "add", "origin", "https://example.com/a.git");
    for (const command of ["git fetch -p", "git pull --prune", "git remote update -p", "git fetch origin main:main"])
      expect([command, await decided(command, at)]).toEqual([command, expect.stringMatching(/^allow /)]);
    git(folder, "config", "remote.origin.fetch", "+refs/heads/*:refs/heads/*");
    for (const command of ["git fetch -p", "git pull", "git remote update"])
      expect([command, await decided(command, at)]).toEqual([command, "deny fetches-branches"]);
  });
});

test("moving a hooks folder away with git is asked about", async () => {
  const repositories = { closed: [], kept: [join(cwd, "tools/hooks")], programs: [], links: [] };
  expect(await decided("git mv tools t2", { autonomy: "medium", repositories })).toMatch(asked);
  expect(await decided("git mv src t2", { autonomy: "medium", repositories })).toMatch(/^allow /);
});

test("the folder of the running program is protected, unless the session works there", async () => {
  const homes = { home, ownHome: join(home, ".tinman") };
  const program = process.cwd();
  const at = async (folder: string) => {
    const seen = await seenPlaces({ policy, host }, { cwd: folder, ...homes }, []);
    return decided(`echo x > ${program}/dist/main.cjs`, { ...seen, cwd: folder });
  };
  expect(await at(cwd)).toMatch(asked);
  expect(await at(program)).toMatch(/^allow /);
});

describe("credentials in a repository below", () => {
  const below = join(root, "many");

  test.each([
    "find . -name config -exec cat {} +",
    "find . -name config | xargs cat",
    "find . -type f -exec cat {} +",
    "head $(find deep -name 'conf*')",
    "grep url $(find deep -name 'con*')",
    "rg -uu url",
    "grep -r url .",
  ])("%s prints them", async (command) => {
    repository(join(below, "deep/inner"));
    put(below, {
      "deep/inner/.git/config": '[remote "origin"]\n\turl = https://u:secret@example.com/a.git\n',
      "plain/a": "",
    });
    expect(await decided(command, { autonomy: "low", cwd: below })).toMatch(asked);
    const elsewhere = command.replace("deep", ".");
    expect(await decided(elsewhere, { autonomy: "low", cwd: join(below, "plain") })).toMatch(/^allow /);
  });
});

test("adding permissions to hooks is asked about", async () => {
  const repositories = { closed: [], kept: [join(cwd, "tools/hooks")], programs: [], links: [] };
  expect(await decided("chmod -R +x .", { repositories })).toMatch(asked);
  expect(await decided("chmod -R +x .", { autonomy: "medium" })).toMatch(/^deny /);
});
