import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";
import { javascriptToolRows } from "./javascript-tools.ts";
import { projectRows, startedBy } from "./project-rows.ts";
import { taskFlags, taskName, tasksWithWords, taskWord } from "./task-names.ts";

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

/** npm reads the project's settings first, and creates the folders that they name. */
const versionRows: readonly CommandRow[] = readTable(`
  read npm: prints its version
    obeys=.npmrc needs=(-v --version) -v --version
  read npm: prints its help
    obeys=.npmrc needs=--help --help
  read bun: prints its version
    needs=(-v --version) -v --version
`);

const npmRows = projectRows(
  `
  medium npm [ls|list|la|ll|explain|why|root|prefix|fund|query] (text*):
    prints the project's dependencies, and may look up news over the network
    script=packageName ${npmFlags}
  medium npm [audit fix]: changes the project's dependencies, with packages from the network
    ${npmFlags} ${npmSaveFlags}
  medium npm [outdated|view|info|show|search|audit|ping] (text*): looks up packages over the network
    checkedFlags=() ${npmFlags} --audit-level: --production
  medium npm [version]: prints its version
    --json
  medium npm [ci|clean-install|prune|dedupe|rebuild|install-test|install-ci-test]:
    changes the project's dependencies, with packages from the network
    ${npmFlags} ${npmSaveFlags}
  medium npm [install|i|add|update|up|upgrade|uninstall|remove|rm|un] (text*):
    changes the project's dependencies, with packages from the network
    checkedFlags=() script=packageName ${npmFlags} ${npmSaveFlags}
  medium npm [init]: creates a project
    needs=(-y --yes) -y --yes
  medium npm [pack]: packs the project into a file
    ${npmFlags} --dry-run
  medium npm [pkg get] (text*): prints the project's dependencies, and may look up news over the network
  medium npm [test|t|tst|start] (text*): runs a well-known task of the project
    checkedFlags=() script=taskWord ${npmFlags}
  medium npm [${withRun(["run", "run-script"], tasksWithWords)}] (text*): runs a well-known task of the project
    checkedFlags=() script=taskWord ${npmFlags}
  medium npm [run|run-script|rum] (text): runs a well-known task of the project
    checkedFlags=() script=taskName ${npmFlags}
  medium npm [run]: prints the project's tasks
`,
  { packageName, taskWord, taskName },
);

const pnpmFlags =
  "-r -s -w -F: --recursive --silent --filter: --workspace-root --if-present --stream --parallel --offline --prefer-offline";

/** Even to print their version, these may start a copy of themselves from the repository or chosen by it. */
const pnpmAndYarnRows = projectRows(
  `
  medium pnpm yarn: prints the version of the copy that the project chooses
    needs=(-v --version) -v --version
  medium pnpm [ls|list|why|outdated|audit|licenses list] (text*):
    prints the project's dependencies, and may look up news over the network
    checkedFlags=() script=packageName ${pnpmFlags} --depth: --json --long --prod --dev
  medium yarn [list|why|info|outdated|audit|workspaces info|workspaces list|npm audit] (text*):
    prints the project's dependencies, and may look up news over the network
    checkedFlags=() script=packageName --pattern: --depth: --json -R -A --recursive --all --silent
  medium pnpm [install|i|add|update|up|upgrade|remove|rm|uninstall|un|dedupe|prune|rebuild|fetch] (text*):
    changes the project's dependencies, with packages from the network
    checkedFlags=() script=packageName ${pnpmFlags} -D -E -O -P -L --save-dev --save-exact --save-optional --save-prod
    --frozen-lockfile --no-frozen-lockfile --lockfile-only --ignore-scripts --prod --dev --latest --no-optional
  medium yarn [install|add|remove|upgrade|up|dedupe|rebuild] (text*):
    changes the project's dependencies, with packages from the network
    checkedFlags=() script=packageName -D -E -P -O --dev --exact --peer --optional --frozen-lockfile --immutable
    --immutable-cache --check-cache --ignore-scripts --silent --offline --prefer-offline --non-interactive --production
    --latest --mode:
  medium yarn: changes the project's dependencies, with packages from the network
    --frozen-lockfile --immutable --ignore-scripts --silent --offline --non-interactive --production
  medium pnpm yarn [${withRun(["", "run"], tasksWithWords)}] (text*): runs a well-known task of the project
    script=taskWord ${taskFlags}
  medium pnpm [${withRun(["-r", "-r run"], tasksWithWords)}] (text*): runs a well-known task of the project
    script=taskWord ${taskFlags}
  medium pnpm yarn [run] (text): runs a well-known task of the project
    checkedFlags=() script=taskName ${pnpmFlags}
  medium pnpm yarn (text): runs a well-known task of the project
    checkedFlags=() script=taskName ${pnpmFlags}
`,
  { packageName, taskWord, taskName },
);

const bunRows = projectRows(
  `
  medium bun [test] (text*): runs tests of the project
    -t: -u --test-name-pattern: --coverage --watch --bail? --timeout: --only --todo --update-snapshots --rerun-each:
  medium bun [${withRun(["run"], tasksWithWords)}] (text*): runs a well-known task of the project
    script=taskWord ${taskFlags}
  medium bun [run] (text): runs a well-known task of the project
    script=taskName
  medium bun [pm ls|outdated|why] (text*): prints the project's dependencies, and may look up news over the network
    script=packageName --all
  medium bun [install|i|add|remove|rm|update] (text*):
    changes the project's dependencies, with packages from the network
    script=packageName -d -D -E -p -y --dev --exact --optional --production --frozen-lockfile --ignore-scripts --dry-run
    --silent --no-save
`,
  { taskWord, taskName, packageName },
);

const starters = {
  npx: ["--no", "--no-install"],
  pnpm: ["", "exec"],
  yarn: ["", "exec", "run"],
};

/**
 * If the project has no such tool, these run the package of that name, which may be someone else's: `tsc` is in
 * `typescript`. Left out: `dlx`, which always does; `npm exec` without `--`, which reads some of the tool's flags as npm's.
 */
const fetchers = {
  npx: ["", "-y", "--yes"],
  npm: ["exec --"],
  bunx: ["", "--bun"],
  bun: ["x"],
};

export const javascriptPackageRows: readonly CommandRow[] = [
  ...versionRows,
  ...npmRows,
  ...pnpmAndYarnRows,
  ...bunRows,
  ...startedBy(starters, javascriptToolRows),
  ...startedBy(
    fetchers,
    javascriptToolRows.map((row) => ({ ...row, installed: true })),
  ),
];
