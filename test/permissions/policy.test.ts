import { describe, expect, test } from "vitest";
import type { Access, DecisionContext } from "../../src/core/permission.ts";
import { autonomyLevels } from "../../src/core/settings.ts";
import { isInside, scopeOf } from "../../src/permissions/path-scope.ts";
import { permissionPolicy } from "../../src/permissions/policy.ts";
import { commandRisk } from "../../src/permissions/shell-risk.ts";

const context: DecisionContext = {
  tool: "T",
  autonomy: "off",
  mode: "auto",
  cwd: "/ws",
  readable: ["/home/u/.tinman/outputs/s1"],
  home: "/home/u",
  ownHome: "/home/u/.tinman",
  approver: true,
  unsafe: false,
  enabledTools: [],
};
const decide = (access: Access, changes: Partial<DecisionContext> = {}) =>
  permissionPolicy.decide([access], { ...context, ...changes });
const command = (text: string, claimed?: "low" | "medium" | "high"): Access => {
  const access = { type: "command", command: text, background: false } as const;
  return claimed === undefined ? access : { ...access, claimed };
};

describe("the table", () => {
  test.each<[string, Access, string, string[]]>([
    ["read inside", { type: "read", path: "/ws/a" }, "read", ["allow", "allow", "allow", "allow"]],
    ["read outside", { type: "read", path: "/etc/hosts" }, "low", ["ask", "allow", "allow", "allow"]],
    ["write inside", { type: "write", path: "/ws/a" }, "low", ["ask", "allow", "allow", "allow"]],
    ["write outside", { type: "write", path: "/tmp/a" }, "medium", ["ask", "ask", "allow", "allow"]],
    ["a command that reads", command("ls -la"), "read", ["allow", "allow", "allow", "allow"]],
    ["the same, claimed high", command("ls -la", "high"), "read", ["allow", "allow", "allow", "allow"]],
    [
      "in the background",
      { type: "command", command: "ls", background: true },
      "medium",
      ["ask", "ask", "allow", "allow"],
    ],
    ["anything else, claimed low", command("rm -rf x", "low"), "high", ["ask", "ask", "ask", "allow"]],
    ["a protected place", { type: "read", path: "/home/u/.ssh/id_rsa" }, "high", ["ask", "ask", "ask", "ask"]],
  ])("%s", (_, access, accessClass, verdicts) => {
    const decisions = autonomyLevels.map((autonomy) => decide(access, { autonomy }));
    expect(decisions.map((decision) => decision.class)).toEqual(autonomyLevels.map(() => accessClass));
    expect(decisions.map((decision) => decision.verdict)).toEqual(verdicts);
    expect(decide(access, { unsafe: true }).verdict).toBe("allow");
  });

  test("nobody to ask turns every ask into a denial with words", () => {
    const decision = decide({ type: "write", path: "/ws/a" }, { approver: false });
    expect(decision).toEqual({
      verdict: "deny",
      class: "low",
      impact: "low",
      extractedCommands: [],
      rule: "write-workspace",
      why: "T writes /ws/a. That needs a permission which this run does not have, and nobody can be asked.",
    });
  });

  test("spec mode refuses everything but reading, whatever the level", () => {
    const at = { mode: "spec", autonomy: "high" } as const;
    expect(decide({ type: "read", path: "/ws/a" }, at).verdict).toBe("allow");
    expect(decide({ type: "write", path: "/ws/a" }, at).verdict).toBe("refuse");
    expect(decide(command("make"), at).verdict).toBe("refuse");
  });

  test("reading all of a folder is reading what is protected in it", () => {
    const all = (path: string) => decide({ type: "read", path, recursive: true }, { cwd: "/home/u", autonomy: "high" });
    expect(all("/home/u")).toMatchObject({ verdict: "ask", class: "high", rule: "protected-place" });
    expect(all("/")).toMatchObject({ verdict: "ask" });
    expect(all("/home/u/project")).toMatchObject({ verdict: "allow", class: "read" });
    for (const path of ["/proc", "/proc/self", "/home/u/p/.git", "/home/u/p/.git/modules", "/home/u/p/.git/modules/a"])
      expect([path, all(path).verdict]).toEqual([path, "ask"]);
    expect(all("/home/u/p/.git/refs")).toMatchObject({ verdict: "allow", class: "read" });
  });

  test("spec mode holds even where nothing is asked", () => {
    expect(decide({ type: "write", path: "/ws/a" }, { mode: "spec", unsafe: true }).verdict).toBe("refuse");
  });

  test("the worst access decides; no access is harmless", () => {
    const accesses: Access[] = [
      { type: "read", path: "/ws/a" },
      { type: "read", path: "/home/u/.aws/credentials" },
      { type: "write", path: "/ws/a" },
    ];
    expect(permissionPolicy.decide(accesses, context)).toMatchObject({
      verdict: "ask",
      class: "high",
      rule: "protected-place",
    });
    expect(permissionPolicy.decide([], context)).toMatchObject({ verdict: "allow", class: "read" });
  });

  test("a tool allowed by name runs, but not in protected places", () => {
    const at = { enabledTools: ["T"], approver: false };
    expect(decide({ type: "write", path: "/ws/a" }, at).verdict).toBe("allow");
    expect(decide({ type: "write", path: "/ws/.git/hooks/pre-commit" }, at).verdict).toBe("deny");
  });
});

test.each([
  ["/ws", "workspace"],
  ["/ws/deep/er", "workspace"],
  ["/ws-other/a", "outside"],
  ["/home/u/.tinman/outputs/s1/1.txt", "workspace"],
  ["/home/u/.tinman/outputs/s2/1.txt", "protected"],
  ["/home/u/.tinman/config.yaml", "protected"],
  ["/home/u/.TINMAN/config.yaml", "protected"],
  ["/ws/.tinman/config.yaml", "protected"],
  ["/ws/.git/config", "protected"],
  ["/ws/.git/hooks/post-commit", "protected"],
  ["/ws/.git/HEAD", "workspace"],
  ["/home/u/.bashrc", "protected"],
  ["/home/u/.sshx", "outside"],
  ["/proc/12/environ", "protected"],
  ["/proc/12/task/13/environ", "protected"],
  ["/proc/self/cwd/../.ssh/id_rsa", "protected"],
  ["/proc/thread-self/root/etc/hosts", "protected"],
  ["/proc/cpuinfo", "outside"],
  ["/ws/.git/config.worktree", "protected"],
  ["/ws/.git/modules/a/b/config", "protected"],
  ["/ws/.git/modules/a/hooks/post-commit", "protected"],
  ["/ws/.git/worktrees/a/config.worktree", "protected"],
  ["/ws/.git/modules/a/HEAD", "workspace"],
  ["/ws/.git/config.lock", "workspace"],
  ["/ws/config", "workspace"],
])("%s is %s", (path, scope) => {
  expect(scopeOf(path, context)).toBe(scope);
});

test.each([
  ["/ws/.git", "protected"],
  ["/ws/.git/HEAD", "protected"],
  ["/ws/sub/.GIT/info/attributes", "protected"],
  ["/ws/.github/workflows/a.yml", "workspace"],
  ["/ws/.gitignore", "workspace"],
])("for writing, %s is %s", (path, scope) => {
  expect(scopeOf(path, context, "write")).toBe(scope);
  const decision = decide({ type: "write", path }, { autonomy: "high", approver: false });
  expect(decision.verdict).toBe(scope === "protected" ? "deny" : "allow");
});

test("homes may be written with slashes too many", () => {
  const odd = { ...context, home: "/home//u/", ownHome: "/home/u//.tinman/", cwd: "/ws//" };
  expect([
    scopeOf("/home/u/.ssh/id_rsa", odd),
    scopeOf("/home/u/.tinman/config.yaml", odd),
    scopeOf("/ws/a", odd),
    permissionPolicy.protectedPlaces(odd).slice(0, 2),
  ]).toEqual(["protected", "protected", "workspace", ["/home/u/.tinman", "/home/u/.ssh"]]);
  expect(decide({ type: "read", path: "/home/u", recursive: true }, { ...odd, autonomy: "high" }).verdict).toBe("ask");
});

test("a folder is told from one whose name begins like it", () => {
  expect([
    isInside("/a/b", "/a"),
    isInside("/a", "/a"),
    isInside("/a", "/a/"),
    isInside("/ab", "/a"),
    isInside("/x", "/"),
    isInside("/", "/"),
    isInside("/a//b", "//a//"),
  ]).toEqual([true, true, true, false, true, true, true]);
});

describe("commands", () => {
  test.each([
    "ls",
    "ls -la src",
    "cat README.md",
    "git status",
    "git log --oneline -5",
    "git diff --stat",
    "grep -rn TODO src",
    "pwd",
    "wc -l a.txt",
    "date +%Y",
  ])("%s only reads", (text) => {
    expect(commandRisk(text).class).toBe("read");
  });

  test.each([
    "",
    "ls > out.txt",
    "ls; rm x",
    "ls && rm x",
    "ls | sh",
    "ls $(rm x)",
    "ls `rm x`",
    "ls *",
    "ls ~",
    "ls 'a'",
    'ls "a"',
    "ls\nrm x",
    "ls\rrm x",
    "ls\trm",
    "FOO=1 ls",
    "./ls",
    "/bin/ls",
    "sudo ls",
    "env ls",
    "git push",
    "git -c core.pager=x log",
    "git log --output=x",
    "git branch new",
    "git diff --ext-diff",
    "find . -delete",
    "tail -f log",
    "sort -o a b",
    "hostname evil",
    "date 010101",
    "rm -rf x",
    "npm test",
    "ls\u0000",
    "ls {a,b}",
    "ls #x",
    "ls !x",
  ])("%j is not known to be harmless", (text) => {
    expect(commandRisk(text).class).toBe("high");
  });

  test("git is not harmless where the repository makes it run programs", () => {
    const git = (text: string): Access => ({
      type: "command",
      command: text,
      background: false,
      runsRepositoryPrograms: true,
    });
    expect(decide(git("git status"), { approver: false, autonomy: "medium" })).toEqual({
      verdict: "deny",
      class: "high",
      impact: "high",
      extractedCommands: ["git status"],
      rule: "git-config-runs-programs",
      why: 'T runs "git status": the repository\'s own git configuration may make git run other programs, or read elsewhere. That needs a permission which this run does not have, and nobody can be asked.',
    });
    expect(decide(git("git status"), { autonomy: "high" }).verdict).toBe("allow");
    expect(decide(git("git push"))).toMatchObject({ class: "high", rule: "unknown-command" });
    expect(decide(command("git status")).verdict).toBe("allow");
  });

  test("the programs are named for display", () => {
    expect(commandRisk("cd x && git push origin | tee log; ./run.sh").extractedCommands).toEqual([
      "cd",
      "git push",
      "tee",
      "run.sh",
    ]);
  });
});
