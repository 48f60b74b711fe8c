import { describe, expect, test } from "vitest";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { Access, DecisionContext, Lookup } from "../../src/engine/permission.ts";
import type { Host } from "../../src/engine/ports.ts";
import { autonomyLevels } from "../../src/engine/settings.ts";
import { isInside } from "../../src/permissions/places/path-names.ts";
import { scopeOf } from "../../src/permissions/places/path-scope.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";

const policy = createPermissionPolicy(() => "bash");

const context: DecisionContext = {
  tool: "T",
  autonomy: "off",
  mode: "auto",
  cwd: "/ws",
  readable: ["/home/u/.tinman/outputs/s1"],
  home: "/home/u",
  temp: "/tmp",
  ownHome: "/home/u/.tinman",
  rules: { allow: [], deny: [], alwaysDeny: [] },
  approver: true,
  unsafe: false,
  enabledTools: [],
};
const decide = (access: Access, changes: Partial<DecisionContext> = {}) =>
  policy.decide([access], { ...context, ...changes });
async function command(
  text: string,
  more: Pick<Access & { type: "command" }, "claimed"> & { background?: boolean } = {},
  host: Host = createMemoryHost({}),
): Promise<Access> {
  const [access] = await withEvidence(
    [{ type: "command", command: text, background: false, ...more }],
    policy,
    host,
    context,
  );
  if (access === undefined) throw new Error("no access");
  return access;
}

describe("the table", async () => {
  test.each<[string, Access, string, string[]]>([
    ["read inside", { type: "read", path: "/ws/a" }, "read", ["allow", "allow", "allow", "allow"]],
    ["read outside", { type: "read", path: "/etc/hosts" }, "low", ["ask", "allow", "allow", "allow"]],
    ["write inside", { type: "write", path: "/ws/a" }, "low", ["ask", "allow", "allow", "allow"]],
    ["write outside", { type: "write", path: "/tmp/a" }, "medium", ["ask", "ask", "allow", "allow"]],
    ["a reading command", await command("ls -la"), "read", ["allow", "allow", "allow", "allow"]],
    [
      "a reading command, claimed high",
      await command("ls -la", { claimed: "high" }),
      "read",
      ["allow", "allow", "allow", "allow"],
    ],
    ["a background command", await command("ls", { background: true }), "medium", ["ask", "ask", "allow", "allow"]],
    [
      "a deleting command, claimed low",
      await command("rm -rf x", { claimed: "low" }),
      "high",
      ["ask", "ask", "ask", "allow"],
    ],
    ["a protected place", { type: "read", path: "/home/u/.ssh/id_rsa" }, "high", ["ask", "ask", "ask", "ask"]],
  ])("%s", (_, access, accessClass, verdicts) => {
    const decisions = autonomyLevels.map((autonomy) => decide(access, { autonomy }));
    expect(decisions.map((decision) => decision.class)).toEqual(autonomyLevels.map(() => accessClass));
    expect(decisions.map((decision) => decision.verdict)).toEqual(verdicts);
    expect(decide(access, { unsafe: true }).verdict).toBe("allow");
  });

  test.each<[string, Access[], (string | undefined)[]]>([
    ["a write", [{ type: "write", path: "/ws/a" }], ["low", undefined, undefined, undefined]],
    ["a fetch", [{ type: "fetch", url: "https://a.example/" }], ["medium", "medium", undefined, undefined]],
    ["a command", [await command("rm x")], ["high", "high", "high", undefined]],
    ["a command claimed too low", [await command("rm x", { claimed: "low" })], ["high", "high", "high", undefined]],
    [
      "a command claimed high",
      [await command("touch a", { claimed: "high" })],
      ["low", undefined, undefined, undefined],
    ],
    [
      "a command claimed medium",
      [await command("touch a", { claimed: "medium" })],
      ["medium", "medium", undefined, undefined],
    ],
    ["a background command", [await command("ls", { background: true })], ["medium", "medium", undefined, undefined]],
    [
      "a command claimed high next to a fetch",
      [await command("touch a", { claimed: "high" }), { type: "fetch", url: "https://a.example/" }],
      ["medium", "medium", undefined, undefined],
    ],
    [
      "a protected place",
      [{ type: "read", path: "/home/u/.ssh/id_rsa" }],
      [undefined, undefined, undefined, undefined],
    ],
    [
      "a protected place next to a command",
      [await command("make"), { type: "read", path: "/home/u/.ssh/id_rsa" }],
      [undefined, undefined, undefined, undefined],
    ],
  ])(
    "always allow raises to the class where that helps, and to high only for our own class: %s",
    (_, accesses, levels) => {
      const always = (changes: Partial<DecisionContext>) => policy.decide(accesses, { ...context, ...changes }).always;
      expect(autonomyLevels.map((autonomy) => always({ autonomy }))).toEqual(levels);
      expect([always({ approver: false }), always({ unsafe: true }), always({ mode: "spec" })]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    },
  );

  test("denies with a reason instead of asking when there is no approver", () => {
    const decision = decide({ type: "write", path: "/ws/a" }, { approver: false });
    expect(decision).toEqual({
      verdict: "deny",
      class: "low",
      impact: "low",
      extractedCommands: [],
      rule: "write-workspace",
      why: "T writes /ws/a. This run has no permission for that and no approver to ask.",
    });
  });

  test("spec mode refuses everything but reading at every level", async () => {
    const at = { mode: "spec", autonomy: "high" } as const;
    expect(decide({ type: "read", path: "/ws/a" }, at).verdict).toBe("allow");
    expect(decide({ type: "write", path: "/ws/a" }, at).verdict).toBe("refuse");
    expect(decide(await command("make"), at).verdict).toBe("refuse");
  });

  test("reading a folder recursively reads the protected places in it", () => {
    const all = (path: string) => decide({ type: "read", path, recursive: true }, { cwd: "/home/u", autonomy: "high" });
    expect(all("/home/u")).toMatchObject({ verdict: "ask", class: "high", rule: "protected-place" });
    expect(all("/")).toMatchObject({ verdict: "ask" });
    expect(all("/home/u/project")).toMatchObject({ verdict: "allow", class: "read" });
    for (const path of ["/proc", "/proc/self", "/home/u/p/.git", "/home/u/p/.git/modules", "/home/u/p/.git/modules/a"])
      expect([path, all(path).verdict]).toEqual([path, "ask"]);
    expect(all("/home/u/p/.git/refs")).toMatchObject({ verdict: "allow", class: "read" });
  });

  test("spec mode applies even to unsafe runs", () => {
    expect(decide({ type: "write", path: "/ws/a" }, { mode: "spec", unsafe: true }).verdict).toBe("refuse");
  });

  test("the worst access decides, and an empty list is harmless", () => {
    const accesses: Access[] = [
      { type: "read", path: "/ws/a" },
      { type: "read", path: "/home/u/.aws/credentials" },
      { type: "write", path: "/ws/a" },
    ];
    expect(policy.decide(accesses, context)).toMatchObject({
      verdict: "ask",
      class: "high",
      rule: "protected-place",
    });
    expect(policy.decide([], context)).toMatchObject({ verdict: "allow", class: "read" });
  });

  test("runs a tool allowed by name, except in protected places", () => {
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

test("accepts homes with extra slashes", () => {
  const odd = { ...context, home: "/home//u/", ownHome: "/home/u//.tinman/", cwd: "/ws//" };
  expect([
    scopeOf("/home/u/.ssh/id_rsa", odd),
    scopeOf("/home/u/.tinman/config.yaml", odd),
    scopeOf("/ws/a", odd),
    policy.protectedPlaces(odd).slice(0, 2),
  ]).toEqual(["protected", "protected", "workspace", ["/home/u/.tinman", "/home/u/.ssh"]]);
  expect(decide({ type: "read", path: "/home/u", recursive: true }, { ...odd, autonomy: "high" }).verdict).toBe("ask");
});

test("distinguishes a folder from one whose name starts with its name", () => {
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
  test("treats a command without evidence as not understood", () => {
    const unread: Access = { type: "command", command: "ls", background: false };
    expect(decide(unread)).toMatchObject({ verdict: "ask", class: "high", rule: "unreadable" });
  });

  test("classes git as high where the repository makes it run programs", async () => {
    const host = createMemoryHost({}, { runsPrograms: () => true });
    const git = await command("git status", {}, host);
    expect(decide(git, { approver: false, autonomy: "medium" })).toEqual({
      verdict: "deny",
      class: "high",
      impact: "high",
      extractedCommands: ["git status"],
      rule: "git-config-runs-programs",
      why: 'T runs "git status": it uses git, and the repository\'s configuration may make it run other programs or read other places. This run has no permission for that and no approver to ask.',
    });
    expect(decide(git, { autonomy: "high" }).verdict).toBe("allow");
    expect(decide(await command("git status")).verdict).toBe("allow");
  });

  test("does not mistake a program in the workspace for the system's", async () => {
    const host = createMemoryHost({});
    const shadowed = { ...host, lookUp: async (lookup: Lookup) => (lookup.what === "program" ? ["/ws/bin/ls"] : []) };
    const decision = decide(await command("ls", {}, shadowed));
    expect(decision).toMatchObject({ class: "high", rule: "program-in-workspace" });
  });

  test("an allow rule excludes scripts that a variable affects or the command has just written", async () => {
    const rules = { allow: [["./ok.sh"], ["cargo", "build"]], deny: [], alwaysDeny: [] };
    const texts = ["./ok.sh", "PY=./evil ./ok.sh", "RUSTC=./evil cargo build", "echo x > ok.sh; ./ok.sh"];
    const found = await Promise.all(texts.map(async (text) => decide(await command(text), { rules, autonomy: "low" })));
    expect(found.map(({ class: level }) => level)).toEqual(["read", "high", "high", "high"]);
  });

  test("classes a failed lookup as high", async () => {
    const host = { ...createMemoryHost({}), lookUp: () => Promise.reject(new Error("EIO")) };
    expect(decide(await command("cat a", {}, host))).toMatchObject({ class: "high", rule: "unknown-path" });
  });

  test.each([
    ["cd x && git push origin | tee log; ./run.sh", ["git push", "tee", "run.sh"]],
    ["FOO=1 sudo npm test && npm test", ["npm test"]],
    ["for f in a b; do cat $f; done", ["cat"]],
    ["bash -c 'sleep 1; echo x'", ["sleep", "echo"]],
    ["/usr/bin/env docker compose up", ["env", "docker"]],
    ["echo $(rm x) `touch y`", ["rm", "touch", "echo"]],
  ])("names the programs of %j", async (text, names) => {
    expect(decide(await command(text)).extractedCommands).toEqual(names);
  });

  test("runs an exactly allowed command unasked, and never a denied one", async () => {
    const rules = { allow: [["npm", "run", "deploy"]], deny: [["git", "push", "*"]], alwaysDeny: [["rm", "*"]] };
    const at = async (text: string, changes: Partial<DecisionContext> = {}) =>
      decide(await command(text), { rules, ...changes });
    expect(await at("npm run deploy")).toMatchObject({ verdict: "allow", rule: "allow-rule" });
    expect(await at("npm run deploy", { mode: "spec" })).toMatchObject({ verdict: "refuse", class: "high" });
    expect(await at("npm run deploy --force")).toMatchObject({ verdict: "ask" });
    expect(await at("npm run deploy > /etc/x")).toMatchObject({ verdict: "ask", class: "high" });
    expect(await at("npm run deploy $(curl x)")).toMatchObject({ verdict: "ask", class: "high" });
    expect(await at("cd y && npm run deploy")).toMatchObject({ verdict: "ask" });
    expect(await at("timeout 5 npm run deploy")).toMatchObject({ verdict: "allow" });
    expect(await at("git push origin", { autonomy: "high" })).toEqual({
      verdict: "deny",
      class: "high",
      impact: "high",
      extractedCommands: ["git push"],
      rule: "deny-rule",
      why: "T would run a command that a rule denies: git push *.",
    });
    expect(await at("git push origin", { unsafe: true })).toMatchObject({ verdict: "allow" });
    expect(await at("ls && rm x", { unsafe: true })).toMatchObject({ verdict: "deny", rule: "deny-rule" });
    expect(await at("ls", { enabledTools: ["T"] })).toMatchObject({ verdict: "allow" });
    expect(await at("rm x", { enabledTools: ["T"] })).toMatchObject({ verdict: "deny" });
  });

  test("never runs a deceptive text", async () => {
    for (const text of ["ls\rrm x", "ls\u0000", "ls \u202e x", "ls \ud800", "l\u200bs", "echo \u001b[2J"]) {
      expect(decide(await command(text), { unsafe: true })).toMatchObject({ verdict: "refuse", rule: "refused-text" });
    }
    for (const text of ["echo '👩‍💻 ✔️'", "echo\tx", "echo ü"]) {
      expect(decide(await command(text))).toMatchObject({ verdict: "allow" });
    }
  });

  test("does not parse bash syntax without bash", async () => {
    const policy = createPermissionPolicy(() => "sh");
    const read = async (text: string) => (await policy.read(text, context)).root.class;
    expect(await read("echo $'\\'; rm -rf x; echo \\''")).toBe("high");
    expect(await read("ls -la | wc -l")).toBe("read");
  });

  test("never throws while parsing", async () => {
    const deep = `${"$(".repeat(5000)}ls${")".repeat(5000)}`;
    const many = Array.from({ length: 5000 }, () => "ls").join(";");
    for (const text of [
      deep,
      many,
      "(".repeat(100_000),
      "'",
      "x".repeat(1_000_000),
      "a=(".repeat(999),
      "<<".repeat(99),
    ]) {
      const reading = await policy.read(text, context);
      expect([reading.root.class, reading.programs.length <= 50]).toEqual(["high", true]);
    }
  });
});
