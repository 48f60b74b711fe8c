import { describe, expect, test } from "vitest";
import { withEvidence } from "../../src/engine/calls/evidence.ts";
import type { Access, DecisionContext, ProtectedPaths } from "../../src/engine/permission.ts";
import { lookupKey } from "../../src/engine/permission.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { closed, context, policy, reading, rule, writing } from "./at-high.ts";

const nothing: ProtectedPaths = { closed: [], kept: [], programs: [], links: [] };

async function running(command: string, changes: Partial<DecisionContext> = {}, links: Record<string, string> = {}) {
  const host = createMemoryHost({}, { links });
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, context);
  return policy.decide(accesses, { ...context, ...changes });
}

test("closes a named configuration file in any folder", async () => {
  const at = { ownConfig: "/ws/serve.yaml" };
  expect([reading("/ws/serve.yaml", at), writing("/ws/serve.yaml", at)]).toEqual([closed, closed]);
  expect([reading("/ws/serve.yaml"), writing("/ws/serve.yml", at)]).toEqual([
    "allow read-workspace",
    "allow write-workspace",
  ]);
});

test("a path in a reason stays on one line", () => {
  const access = { type: "write", path: "/etc/a\nb\u001b" } as const;
  expect(policy.decide([access], { ...context, autonomy: "low", enabledTools: [] }).why).toBe(
    "T writes /etc/a\\x0ab\\x1b, which belongs to the system. This run has no permission for that and no approver to ask.",
  );
});

describe("a protected place's link target", () => {
  const reached = { ...nothing, closed: ["/ws/keys"], kept: ["/ws/Vim"], programs: ["/ws/tools"], links: ["/ws/now"] };

  test("is as protected as the place", () => {
    const at = { reached };
    expect([reading("/ws/keys", at), reading("/ws/keys/a", at), writing("/ws/KEYS/a", at)]).toEqual([
      closed,
      closed,
      closed,
    ]);
    expect([reading("/ws/vim/a", at), writing("/ws/vim/a", at)]).toEqual(["allow read-workspace", closed]);
    expect([reading("/ws/tools/a", at), writing("/ws/tools/a", at)]).toEqual(["allow read-workspace", closed]);
    expect(writing("/ws/tools/a", { reached, cwd: "/ws/tools" })).toBe("allow write-workspace");
    expect([reading("/ws/keysx", at), writing("/ws/vimrc", at)]).toEqual([
      "allow read-workspace",
      "allow write-workspace",
    ]);
    expect(reading("/ws/keys/outputs/1.txt", at)).toBe("allow read-workspace");
  });

  test("is skipped by searches, and closes folders around it for recursive reads", () => {
    expect(policy.protectedPlaces({ ...context, reached })).toContain("/ws/keys");
    expect(policy.protectedPlaces({ ...context, reached })).not.toContain("/ws/Vim");
    expect(rule({ type: "read", path: "/ws", recursive: true }, { reached })).toBe(closed);
    expect(rule({ type: "read", path: "/ws/src", recursive: true }, { reached })).toBe("allow read-workspace");
  });

  test.each([
    ["cat keys/a", true],
    ["cat src/a", false],
    ["grep -r x .", true],
    ["grep -r x src", false],
    ["cp a vim/b", true],
    ["cat vim/b", false],
    ["echo x > tools/a", true],
    ["mv keys x", true],
    ["mv vim x", true],
    ["mv src x", false],
    ["cp -r . /tmp/x", true],
  ])("%s: %s", async (command, isProtected) => {
    expect((await running(command, { reached })).rule === "protected-place").toBe(isProtected);
  });

  test("depends on links that can be used but not replaced", async () => {
    const host = createMemoryHost({}, { links: { "/ws/now": "/ws/v1" } });
    const looking = { ...host, guards: { ...host.guards, way: async () => ["/ws/now", "/ws/v1"] } };
    const at = async (command: string) => {
      const accesses = await withEvidence([{ type: "command", command, background: false }], policy, looking, context);
      return policy.decide(accesses, { ...context, reached }).rule;
    };
    expect(await at("touch now")).toBe("protected-place");
    expect(await at("touch now/a")).not.toBe("protected-place");
    expect(await at("cat now")).not.toBe("protected-place");
  });
});

describe("the way to a path", () => {
  const met = (...way: readonly string[]) => ({
    ways: new Map([[lookupKey({ what: "path", path: "/written" }), way]]),
    around: nothing,
  });

  test("through a protected place makes the path protected, whatever its target", () => {
    const through = (type: "read" | "write", ...way: readonly string[]) =>
      policy.decide([{ type, path: "/ws/a", written: "/written", met: met(...way) }], context);
    expect(through("read", "/home/u/.ssh/config", "/ws/a")).toMatchObject({
      verdict: "deny",
      class: "high",
      rule: "protected-place",
      why: expect.stringContaining("T reads /ws/a through /home/u/.ssh/config, a protected place"),
    });
    expect(through("write", "/home/u/.vim/a", "/ws/a").rule).toBe("protected-place");
    expect(through("read", "/home/u/.vim/a", "/ws/a").rule).toBe("read-workspace");
    expect(through("read", "/tmp/link", "/ws/a").rule).toBe("read-workspace");
  });
});

describe("repositories found on the machine", () => {
  const repositories = {
    ...nothing,
    closed: ["/ws/store/config", "/ws/store/hooks", "/ws/.git/config"],
    kept: ["/ws/store", "/ws/.git", "/ws/tools/hooks"],
  };
  const around = (access: Access & { type: "read" | "write" }) =>
    rule({ ...access, met: { ways: new Map(), around: repositories } });

  test.each([
    ["read", "/ws/store/HEAD", false],
    ["read", "/ws/store/config", true],
    ["read", "/ws/store/hooks/a", true],
    ["write", "/ws/store/HEAD", true],
    ["read", "/ws/tools/hooks/a", false],
    ["write", "/ws/tools/hooks/a", true],
    ["write", "/ws/tools/a", false],
    ["write", "/ws/storex", false],
  ] as const)("%s %s: %s, whether found for the reply or for the call", (type, path, isProtected) => {
    const outcome = isProtected ? closed : `allow ${type}-workspace`;
    expect([rule({ type, path }, { repositories }), around({ type, path })]).toEqual([outcome, outcome]);
  });

  test("can be read recursively from above, but not by naming their folder", () => {
    const all = (path: string) => rule({ type: "read", path, recursive: true }, { repositories });
    expect([all("/ws"), all("/ws/store"), all("/ws/store/refs"), all("/ws/tools")]).toEqual([
      "allow read-workspace",
      closed,
      "allow read-workspace",
      "allow read-workspace",
    ]);
  });

  test("protect a folder around their hooks from being moved", async () => {
    const rules = async (command: string) => (await running(command, { repositories })).rule === "protected-place";
    expect([await rules("mv tools old"), await rules("mv tool* old"), await rules("mv src old")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await rules("cp -r src tools")).toBe(false);
  });

  test("have settings that searches skip, unless they skip their folder anyway", () => {
    const places = policy.protectedPlaces({ ...context, repositories });
    expect(places.filter((place) => place.startsWith("/ws"))).toEqual(["/ws/store/config", "/ws/store/hooks"]);
  });
});

describe("files and commands that decide which MCP servers start", () => {
  test.each([
    "tinman mcp trust --yes",
    "tinman mcp add x -- sh -c evil",
    "/usr/local/bin/tinman mcp enable x",
    "echo x > .mcp.json",
    "cp evil.json sub/.MCP.json",
    "mytool --out=.mcp.json",
    "rm .mcp.json",
  ])("%s needs a yes at every level", async (command) => {
    expect((await running(command)).rule).toBe("protected-place");
  });

  test("can be read", async () => {
    expect([reading("/ws/.mcp.json"), writing("/ws/sub/.mcp.json"), writing("/ws/x.mcp.json")]).toEqual([
      "allow read-workspace",
      closed,
      "allow write-workspace",
    ]);
    expect((await running("cat .mcp.json; git add .mcp.json")).verdict).toBe("allow");
  });
});
