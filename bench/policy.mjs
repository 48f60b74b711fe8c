import { loadBundled } from "./bundle.mjs";
import { inFreshPlace, judge, options, printTable, show, spread } from "./measure.mjs";

/**
 * The cost of deciding on a command: parsing, judging every node, and the verdict, without the machine's path lookups.
 */
const commands = [
  "ls -la",
  "git status --short",
  "cat package.json | jq .scripts",
  "cd src && grep -rn TODO --include='*.ts' . | head -20",
  "find . -name '*.ts' -not -path './node_modules/*' | xargs wc -l | sort -n | tail -5",
  'for f in src/*.ts; do echo "$f: $(wc -l < "$f")"; done',
  "npm test -- --run 2>&1 | tail -40",
  "git log --oneline -10 && git diff --stat HEAD~3 2>/dev/null",
  "rm -rf build && mkdir -p build && cp -r src/* build/",
  "bash -lc 'timeout 60 env CI=1 npm run build'",
];
const most = 100;
const batch = 200;

/** @param {string} folder */
async function loadPolicy(folder) {
  const { policy, permission } = await loadBundled(folder, {
    policy: "permissions/policy.ts",
    permission: "engine/permission.ts",
  });
  /** @type {typeof import("../src/permissions/policy.ts")} */
  const { createPermissionPolicy } = policy;
  /** @type {typeof import("../src/engine/permission.ts")} */
  const { lookupKey } = permission;
  return { policy: createPermissionPolicy(() => "bash"), lookupKey };
}

const { check, pairs } = options();

await inFreshPlace(async ({ folder }) => {
  const { policy, lookupKey } = await loadPolicy(folder);
  /** @type {import("../src/engine/permission.ts").DecisionContext} */
  const context = {
    tool: "Execute",
    autonomy: "off",
    mode: "auto",
    cwd: "/ws",
    readable: [],
    home: "/home/u",
    temp: "/tmp",
    ownHome: "/home/u/.tinman",
    rules: { allow: [], deny: [], alwaysDeny: [] },
    approver: true,
    unsafe: false,
    enabledTools: [],
  };
  /** @param {string} command */
  const decide = async (command) => {
    const reading = await policy.read(command, context);
    const found = new Map(reading.lookups.map((at) => [lookupKey(at), at.what === "path" ? [at.path] : []]));
    return policy.decide([{ type: "command", command, background: false, evidence: { reading, found } }], context);
  };
  const results = [];
  for (const command of commands) {
    const { class: accessClass } = await decide(command);
    /** @type {number[]} */
    const values = [];
    for (let round = 0; round < (pairs ?? 40) + 10; round++) {
      const startedAt = performance.now();
      for (let i = 0; i < batch; i++) await decide(command);
      // The first rounds warm up the compiler.
      if (round >= 10) values.push(((performance.now() - startedAt) / batch) * 1000);
    }
    results.push({ command, accessClass, microseconds: spread(values) });
  }
  printTable([
    ["command", "class", "microseconds, median (p10-p90)"],
    ...results.map(({ command, accessClass, microseconds }) => [command, accessClass, show(microseconds, 1)]),
  ]);
  const median = spread(results.map(({ microseconds }) => microseconds.value)).value;
  const worst = Math.max(...results.map(({ microseconds }) => microseconds.value));
  judge(
    [
      { what: "a typical command", text: `${median.toFixed(1)} us`, value: median, target: most },
      { what: "the slowest of these", text: `${worst.toFixed(1)} us`, value: worst, target: most },
    ],
    check,
  );
});
