import type { CommandRow } from "../command-row.ts";
import { javascriptToolRows } from "./javascript-tools.ts";
import { projectRows, startedBy } from "./project-rows.ts";
import { taskFlags, taskName, tasksWithWords, taskWord } from "./task-names.ts";

const version = "prints its version";
const installs = "changes the project's dependencies, with packages from the network";
const asks = "looks up packages over the network";
const lists = "prints the project's dependencies, and may look up news over the network";
const runs = "runs a well-known task of the project";

/** A registry package, with or without a version. Excludes addresses, folders and aliases. */
function packageName(text: string): string | undefined {
  const isName = /^(@[a-z\d][\w.-]*\/)?[a-z\d][\w.-]*(@[\w.^~<>=*|-]+)?$/i.test(text);
  return isName && !/\.(tgz|tar|gz)$/i.test(text) ? undefined : "is not the name of a package";
}

function withRun(words: readonly string[], names: readonly string[]): string {
  return names.flatMap((name) => words.map((word) => `${word} ${name}`.trim())).join("|");
}

/** Left out: -g and --prefix, which write elsewhere; --registry and --script-shell; --force. */
const npmFlags = `
  -s -q -d -w: --silent --quiet --verbose --loglevel: --workspace: --workspaces --include-workspace-root --if-present
  --no-fund --no-audit --no-progress --offline --prefer-offline --json --long --parseable --depth: --all --omit: --include:
  --ignore-scripts --no-update-notifier`;
const npmSaveFlags = `
  -D -E -S -O -P --save-dev --save-exact --save --save-optional --save-prod --save-peer --no-save --legacy-peer-deps
  --package-lock-only --no-package-lock --dry-run --production --engine-strict --no-bin-links`;

/** These print their version before they read the project. */
const versionRows: readonly CommandRow[] = [
  { program: "npm bun", class: "read", flags: "-v --version", needs: "-v --version", why: version },
];

const npmRows = projectRows([
  {
    program: "npm",
    sub: "ls|list|la|ll|explain|why|root|prefix|fund|query",
    flags: npmFlags,
    operands: "text*",
    script: packageName,
    why: lists,
  },
  { program: "npm", sub: "audit fix", flags: `${npmFlags} ${npmSaveFlags}`, why: installs },
  {
    program: "npm",
    sub: "outdated|view|info|show|search|audit|ping",
    flags: `${npmFlags} --audit-level: --production`,
    operands: "text*",
    checkedFlags: "",
    why: asks,
  },
  { program: "npm", sub: "version", flags: "--json", why: version },
  {
    program: "npm",
    sub: "ci|clean-install|prune|dedupe|rebuild|install-test|install-ci-test",
    flags: `${npmFlags} ${npmSaveFlags}`,
    why: installs,
  },
  {
    program: "npm",
    sub: "install|i|add|update|up|upgrade|uninstall|remove|rm|un",
    flags: `${npmFlags} ${npmSaveFlags}`,
    operands: "text*",
    checkedFlags: "",
    script: packageName,
    why: installs,
  },
  { program: "npm", sub: "init", flags: "-y --yes", needs: "-y --yes", why: "creates a project" },
  { program: "npm", sub: "pack", flags: `${npmFlags} --dry-run`, why: "packs the project into a file" },
  { program: "npm", sub: "pkg get", operands: "text*", why: lists },
  {
    program: "npm",
    sub: "test|t|tst|start",
    flags: npmFlags,
    operands: "text*",
    checkedFlags: "",
    script: taskWord,
    why: runs,
  },
  {
    program: "npm",
    sub: withRun(["run", "run-script"], tasksWithWords),
    flags: npmFlags,
    operands: "text*",
    checkedFlags: "",
    script: taskWord,
    why: runs,
  },
  {
    program: "npm",
    sub: "run|run-script|rum",
    flags: npmFlags,
    operands: "text",
    checkedFlags: "",
    script: taskName,
    why: runs,
  },
  { program: "npm", sub: "run", why: "prints the project's tasks" },
]);

const pnpmFlags =
  "-r -s -w -F: --recursive --silent --filter: --workspace-root --if-present --stream --parallel --offline --prefer-offline";

/** Even to print their version, these may start a copy of themselves from the repository or chosen by it. */
const pnpmAndYarnRows = projectRows([
  {
    program: "pnpm yarn",
    flags: "-v --version",
    needs: "-v --version",
    why: "prints the version of the copy that the project chooses",
  },
  {
    program: "pnpm",
    sub: "ls|list|why|outdated|audit|licenses list",
    flags: `${pnpmFlags} --depth: --json --long --prod --dev`,
    operands: "text*",
    checkedFlags: "",
    script: packageName,
    why: lists,
  },
  {
    program: "yarn",
    sub: "list|why|info|outdated|audit|workspaces info|workspaces list|npm audit",
    flags: "--pattern: --depth: --json -R -A --recursive --all --silent",
    operands: "text*",
    checkedFlags: "",
    script: packageName,
    why: lists,
  },
  {
    program: "pnpm",
    sub: "install|i|add|update|up|upgrade|remove|rm|uninstall|un|dedupe|prune|rebuild|fetch",
    flags: `${pnpmFlags} -D -E -O -P -L --save-dev --save-exact --save-optional --save-prod --frozen-lockfile
      --no-frozen-lockfile --lockfile-only --ignore-scripts --prod --dev --latest --no-optional`,
    operands: "text*",
    checkedFlags: "",
    script: packageName,
    why: installs,
  },
  {
    program: "yarn",
    sub: "install|add|remove|upgrade|up|dedupe|rebuild",
    flags: `-D -E -P -O --dev --exact --peer --optional --frozen-lockfile --immutable --immutable-cache
      --check-cache --ignore-scripts --silent --offline --prefer-offline --non-interactive --production --latest
      --mode:`,
    operands: "text*",
    checkedFlags: "",
    script: packageName,
    why: installs,
  },
  {
    program: "yarn",
    flags: "--frozen-lockfile --immutable --ignore-scripts --silent --offline --non-interactive --production",
    why: installs,
  },
  {
    program: "pnpm yarn",
    sub: withRun(["", "run"], tasksWithWords),
    flags: taskFlags,
    operands: "text*",
    script: taskWord,
    why: runs,
  },
  {
    program: "pnpm",
    sub: withRun(["-r", "-r run"], tasksWithWords),
    flags: taskFlags,
    operands: "text*",
    script: taskWord,
    why: runs,
  },
  {
    program: "pnpm yarn",
    sub: "run",
    flags: pnpmFlags,
    operands: "text",
    checkedFlags: "",
    script: taskName,
    why: runs,
  },
  { program: "pnpm yarn", flags: pnpmFlags, operands: "text", checkedFlags: "", script: taskName, why: runs },
]);

const bunRows = projectRows([
  {
    program: "bun",
    sub: "test",
    flags: `-t: -u --test-name-pattern: --coverage --watch --bail? --timeout: --only --todo --update-snapshots
      --rerun-each:`,
    operands: "text*",
    why: "runs tests of the project",
  },
  {
    program: "bun",
    sub: withRun(["run"], tasksWithWords),
    flags: taskFlags,
    operands: "text*",
    script: taskWord,
    why: runs,
  },
  { program: "bun", sub: "run", operands: "text", script: taskName, why: runs },
  { program: "bun", sub: "pm ls|outdated|why", flags: "--all", operands: "text*", script: packageName, why: lists },
  {
    program: "bun",
    sub: "install|i|add|remove|rm|update",
    flags: `-d -D -E -p -y --dev --exact --optional --production --frozen-lockfile --ignore-scripts --dry-run
      --silent --no-save`,
    operands: "text*",
    script: packageName,
    why: installs,
  },
]);

/** Left out: `npm exec` without `--`, which reads some of the tool's flags as npm's. */
const starters = {
  npx: ["", "-y", "--yes", "--no", "--no-install"],
  npm: ["exec --"],
  pnpm: ["", "exec", "dlx"],
  yarn: ["", "exec", "run", "dlx"],
  bunx: ["", "--bun"],
  bun: ["x"],
};

export const javascriptPackageRows: readonly CommandRow[] = [
  ...versionRows,
  ...npmRows,
  ...pnpmAndYarnRows,
  ...bunRows,
  ...startedBy(starters, javascriptToolRows),
];
