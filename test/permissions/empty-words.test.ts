import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { DecisionContext } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { context as atHigh, policy } from "./at-high.ts";

for (const name of ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"]) process.env[name] = "/dev/null";

const root = realpathSync(mkdtempSync(join(tmpdir(), "tinman-empty-words-")));
afterAll(() => rmSync(root, { recursive: true, force: true }));
const home = join(root, "home");
const cwd = join(home, "code/ws");

for (const name of [".ssh/id_rsa", ".npmrc", "Documents/x", "code/ws/src/a.ts", "code/ws/README.md"]) {
  mkdirSync(dirname(join(home, name)), { recursive: true });
  writeFileSync(join(home, name), "x");
}
execFileSync("git", ["init", "-q", "-b", "main", cwd], { env: { PATH: process.env.PATH, HOME: root } });

const host = createNodeHost({ outputsDir: join(root, "outputs") });
const context: DecisionContext = {
  ...atHigh,
  tool: "Execute",
  cwd,
  home,
  temp: join(root, "temp"),
  ownHome: join(home, ".tinman"),
  readable: [],
  enabledTools: ["Execute"],
};

async function verdict(command: string): Promise<string> {
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, context);
  const decided = policy.decide(accesses, context);
  return `${decided.verdict} ${decided.rule}`;
}

describe("an unknown word may be empty", () => {
  test.each([
    "cd $BUILD_DIR && rm -rf *",
    "cd $(cat nonexist) && rm -rf *",
    "cd $x; find . -delete",
    'cd "$BUILD_DIR" && rm -rf *',
    "find $BUILD_DIR -delete",
    'find "$x." -delete',
    "find $(git diff --name-only) -delete",
    "find . $x -delete",
    "find $x -exec rm -rf {} +",
    "find $x -print0 | xargs -0 rm -rf",
    "rm -rf ./$(cat nonexist)*",
    "ls $x | xargs rm -rf",
    "rm -rf $(ls $x)",
    'cd "$x"; chmod -R 000 .',
    'cd "$x"; shred -u *',
    'cd "$x"; mv * /tmp',
    "cd $x && mv * /tmp",
    "pushd src; popd; rm -rf *",
    "pushd src && popd && rm -rf *",
    "cd src/$x && rm -rf ../*",
    "trap 'rm -rf *' EXIT",
    "f() { ls; }; rm -rf *",
    "cd $(git rev-parse --show-cdup) && rm -rf *",
    "rm -rf ./$(git rev-parse --show-prefix)*",
  ])("%s asks at high", async (command) => {
    expect(await verdict(command)).toBe("deny catastrophic");
  });

  test.each([
    "cd $x && cat .ss?/id_rsa",
    "cd $x && cat .npmrc",
    "cd $x && echo x >> .zshrc",
    "cd $x && rm -rf .ssh",
    "echo x > $(git rev-parse --git-path hooks/pre-commit)",
    "rm -rf $(git rev-parse --git-path .)",
    "cat $(git rev-parse --git-path config)",
    "rm -rf $(git -C . rev-parse --git-path .)",
    "rm -rf $(git -C . rev-parse --git-dir)",
  ])("%s uses a protected place", async (command) => {
    expect(await verdict(command)).toBe("deny protected-place");
  });
});

test.each([
  'find . | while read f; do rm -rf "$f"; done',
  'find . -type f | while read f; do rm -f "$f"; done',
  "find . -mindepth 1 | tac | xargs rm -rf",
  `mapfile -t a < <(ls -A); rm -rf "\${a[@]}"`,
  `a=(*); rm -rf "\${a[@]}"`,
  "X=*; rm -rf $X",
  "((1)); rm -rf *",
  "if ((x)); then rm -rf *; fi",
  "ls > l; xargs rm -rf < l",
  'find . > l; while read f; do rm "$f"; done < l',
  'set -- $(ls); rm -rf "$@"',
  "coproc rm -rf *",
  "npx cross-env X=1 rm -rf *",
  "uv run rm -rf *",
  "npm exec -- rm -rf *",
  "flock x rm -rf *",
  "watch rm -rf *",
  'watch "rm -rf *"',
  "unshare rm -rf *",
  "unshare -r sh -c 'rm -rf *'",
  "busybox rm -rf *",
  "busybox sh -c 'rm -rf *'",
  'script -c "rm -rf *"',
  "script -qc 'find . -delete' /dev/null",
  "flock x find . -delete",
  "python3 -c 'import os; os.system(\"rm -rf *\")'",
  'for f in $(find .); do rm -rf "$f"; done',
  "files=$(ls); rm -rf $files",
  'while read f; do rm -rf "$f"; done < <(find .)',
])("%s deletes all the names that something else listed", async (command) => {
  expect(await verdict(command)).toBe("deny catastrophic");
});

test.each([
  'cd "$(git rev-parse --show-toplevel)" && npm test',
  "cd $BUILD_DIR && make -j4",
  "cd $BUILD_DIR && rm -rf build",
  'cd "$x" && grep -rn foo .',
  'cd "$x" && ls -la',
  "cd \"$x\" && find . -name '*.log' -delete",
  "find $x -name '*.log' -delete",
  "find \"$DIR\" -type f -name '*.pyc' -delete",
  "find . -type f | wc -l; rm -rf $OUT",
  "n=$(find . | wc -l); rm -rf $TMP",
  "for f in $(find src -name '*.ts'); do ./x $f; rm $f; done",
  'find src -type f | while read f; do rm "$f"; done',
  'find . > all.txt; rm -f "$FILE"',
  "ls $x | head",
  `files=(src/*.ts); ./run "\${files[@]}"`,
  "((i=1)); ls",
  'tmp=$(mktemp -d) && cd "$tmp" && git init -q',
  "cd $(mktemp -d) && git clone https://x.org/y",
  "kubectl exec p -- rm -rf /data/*",
  "pushd src && npm test && popd",
  "pushd src; npm test; popd; git status",
  "flock x npm test",
  "watch -n 1 ls",
  'rm -rf "$OUT"',
  "for f in $(ls src); do ./check $f; done; rm -rf $OUT",
  "find . -name '*.o' | xargs rm -f",
  "git ls-files -d | xargs git rm",
  'cp -r src "$(pwd)/lib"',
])("%s needs no approval at high", async (command) => {
  expect(await verdict(command)).toMatch(/^allow /);
});
