import { describe, expect, test } from "vitest";
import { withEvidence } from "../../src/core/evidence.ts";
import type { DecisionContext } from "../../src/core/permission.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";

const policy = createPermissionPolicy(() => "bash");
const closed = "deny protected-place";

const context: DecisionContext = {
  tool: "Execute",
  autonomy: "high",
  mode: "auto",
  cwd: "/home/u/work/ws",
  readable: [],
  home: "/home/u",
  temp: "/tmp",
  ownHome: "/home/u/.tinman",
  rules: { allow: [], deny: [], alwaysDeny: [] },
  approver: false,
  unsafe: false,
  enabledTools: ["Execute"],
};

describe("what must never go unasked", () => {
  async function verdict(command: string, changes: Partial<DecisionContext> = {}): Promise<string> {
    const here = { ...context, ...changes };
    const host = createMemoryHost({ "/home/u/work/ws/src/a.ts": "" });
    const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, here);
    const decided = policy.decide(accesses, here);
    return `${decided.verdict} ${decided.rule}`;
  }

  test.each([
    "rm -rf /",
    "rm -rf --no-preserve-root /",
    "rm -rf ~",
    'rm -rf "$HOME"',
    "rm -rf /home",
    "rm -rf .",
    "rm -rf ./",
    'rm -rf "$PWD"',
    "rm -rf ..",
    "rm -rf /home/u/work",
    "sudo rm -rf /",
    "bash -c 'rm -rf ~'",
    "cd .. && rm -rf ws",
    "find . -delete",
    "find . -type f -delete",
    "find ~ -delete",
    "find . -exec rm -rf {} +",
    "mv . /tmp/x",
    "mv ~ /tmp/x",
    "mv .. /tmp/x",
    "chown -R nobody .",
    "shred -u ~",
    "rsync -a --delete empty/ ~/",
  ])("%s needs a yes at every level but unsafe", async (command) => {
    expect(await verdict(command)).toMatch(/^deny (catastrophic|protected-place)$/);
    expect(await verdict(command, { unsafe: true })).toBe("allow unsafe");
  });

  test.each([
    "rm -rf .git",
    "rm -r .git/hooks",
    "mv .git old",
    "find .git -delete",
    "truncate -s 0 .git/HEAD",
    "dd if=/dev/zero of=.git/HEAD",
    "shred .git/index",
    "install evil ~/.local/bin/ls",
    "cp --backup evil ~/.local/bin/ls",
    "docker run -v ~/.ssh:/x alpine",
    'docker run -v "$HOME/.ssh:/x" alpine',
    "docker run --mount type=bind,source=/home/u/.ssh,target=/x alpine",
    "sometool -k~/.ssh/id_rsa",
    "sometool --key=~/.ssh/id_rsa",
    "sometool KEY=~/.ssh/id_rsa",
    "FOO=~/.ssh/id_rsa sometool",
    "scp src/a.ts ~/.ssh/authorized_keys",
  ])("%s touches a protected place", async (command) => {
    expect(await verdict(command)).toBe(closed);
  });

  test.each(["rm -rf src", "find . -name '*.log' -delete", "mv src lib", "rsync -a src/ /tmp/x/", "chown -R u src"])(
    "%s runs at its level",
    async (command) => {
      expect(await verdict(command)).toMatch(/^allow /);
    },
  );

  test("what the session has made can go at medium, and nothing beside it", async () => {
    const ws = "/home/u/work/ws";
    const made = { created: new Set([`${ws}/out.txt`, `${ws}/tmp`]), moved: new Set([`${ws}/dist/.env`]) };
    const medium = { autonomy: "medium", enabledTools: [], made } as const;
    expect(await verdict("rm out.txt", medium)).toBe("allow row rm");
    expect(await verdict("rm -rf tmp build", medium)).toBe("allow row rm");
    expect(await verdict("rm out.txt2", medium)).toBe("deny delete");
    expect(await verdict("rm -rf tmp src", medium)).toBe("deny delete");
    expect(await verdict("rm -rf dist", medium)).toBe("deny delete");
    expect(await verdict("rm -rf dist/.env", medium)).toBe("deny delete");
    expect(await verdict("rm -rf dist/js", medium)).toBe("allow row rm");
  });
});
