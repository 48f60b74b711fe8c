import { alsoIn, projectRows } from "./project-rows.ts";
import { taskName } from "./task-names.ts";

const vitestFlags = `
  -t: -u -w -c: -r: --run --testNamePattern: --update --watch --no-watch --coverage --coverage.enabled
  --coverage.reporter: --coverage.provider: --reporter: --outputFile: --silent --bail: --retry: --shard: --project: --changed?
  --globals --environment: --pool: --no-threads --no-file-parallelism --maxWorkers: --minWorkers: --testTimeout:
  --hookTimeout: --hideSkippedTests --passWithNoTests --allowOnly --typecheck --logHeapUsage --sequence.shuffle --dir: --config:
  --root: --mode: --color --no-color --isolate --no-isolate --version --help --expand-snapshot-diff`;

/** Test runners, linters, formatters and bundlers that projects install. */
export const javascriptToolRows = alsoIn(
  ["node_modules/.bin", "./node_modules/.bin"],
  projectRows(
    `
  medium tsc vue-tsc (write*): compiles or checks the project's TypeScript
    -p: -b -w -v -h -d -t: -m: --project: --build --watch --version --help --noEmit --pretty --strict --skipLibCheck
    --incremental --outDir: --rootDir: --declaration --declarationMap --emitDeclarationOnly --sourceMap --noEmitOnError
    --listFiles --listEmittedFiles --traceResolution --explainFiles --showConfig --target: --module: --moduleResolution:
    --lib: --types: --jsx: --esModuleInterop --resolveJsonModule --allowJs --checkJs --diagnostics --extendedDiagnostics
    --force --dry --verbose --tsBuildInfoFile: --preserveWatchOutput --noUnusedLocals --noUnusedParameters
  medium eslint (write*): checks the code by the project's rules, and may fix it
    -c: -f: -o: -v -h --config: --format: --output-file: --version --help --fix --fix-dry-run --fix-type: --ext: --quiet
    --max-warnings: --cache --cache-location: --cache-strategy: --no-cache --rule: --color --no-color --debug --env:
    --global: --ignore-path: --ignore-pattern: --no-ignore --no-eslintrc --no-inline-config
    --report-unused-disable-directives --report-unused-disable-directives-severity: --no-error-on-unmatched-pattern
    --no-warn-ignored --print-config: --pass-on-no-patterns --concurrency: --stats --suppress-all --prune-suppressions
  medium prettier (write*): formats files by the project's rules
    -c -w -l -u --check --write --list-different --ignore-unknown --version --help --config: --no-config --ignore-path:
    --log-level: --loglevel: --cache --cache-location: --no-cache --parser: --stdin-filepath: --tab-width:
    --print-width: --single-quote --no-semi --trailing-comma: --end-of-line: --prose-wrap:
    --no-error-on-unmatched-pattern --color --no-color --no-editorconfig --with-node-modules --use-tabs
  medium biome [check|lint|format|ci] (write*): checks the code by the project's rules, and may fix it
    --write --fix --unsafe --apply --apply-unsafe --changed --since: --staged --error-on-warnings --verbose --colors:
    --no-errors-on-unmatched --max-diagnostics: --reporter: --diagnostic-level: --files-ignore-unknown? --only: --skip:
    --formatter-enabled? --linter-enabled? --config-path: --stdin-file-path:
  medium oxlint stylelint standard xo (write*): checks the code by the project's rules, and may fix it
    --fix --quiet --cache --max-warnings: --version --help --formatter: --format: --config: --allow-empty-input --color
    --no-color --deny-warnings --type-aware
  medium markdownlint markdownlint-cli2 cspell knip depcheck madge publint svelte-check commitlint (write*):
    checks the code by the project's rules, and may fix it
    --fix --quiet --version --help --config: --no-progress --no-summary --ignore: --circular --extensions: --production
    --strict --reporter: --include: --exclude: --from: --to: --last --verbose --output: --tsconfig: --threshold:
  medium vitest [run|watch|dev|bench|related|list|typecheck] (text*): runs tests of the project
    ${vitestFlags}
  medium vitest (text*): runs tests of the project
    ${vitestFlags}
  medium jest (text*): runs tests of the project
    -t: -u -i -w: -b -o -f -e -c: --testNamePattern: --testPathPattern: --testPathPatterns: --updateSnapshot --coverage
    --collectCoverage --no-coverage --collectCoverageFrom: --coverageDirectory: --watch --watchAll? --ci --runInBand
    --maxWorkers: --bail? --verbose --silent --passWithNoTests --onlyChanged --onlyFailures --findRelatedTests
    --runTestsByPath --listTests --detectOpenHandles --forceExit --no-cache --clearCache --env: --selectProjects:
    --testTimeout: --shard: --colors --no-colors --json --outputFile: --changedSince: --lastCommit --expand
    --logHeapUsage --errorOnDeprecated --showConfig --config: --version --help
  medium mocha ava tap (text*): runs tests of the project
    -g: -f: -R: -b -t: -s: -v -u -T --grep: --fgrep: --reporter: --bail --timeout: --slow: --recursive --exit --parallel
    --jobs: --retries: --watch --verbose --match: --update-snapshots --serial --fail-fast --config: --check-leaks
    --forbid-only --forbid-pending --no-timeouts --invert --ui: --colors --no-colors --version --help --tap
  medium playwright [test] (text*): runs tests of the project
    -g: -x -j: -c: -u --grep: --grep-invert: --project: --headed --workers: --retries: --reporter: --timeout: --list
    --max-failures: --repeat-each: --shard: --update-snapshots --trace: --last-failed --only-changed? --config: --quiet
    --pass-with-no-tests --fully-parallel --forbid-only
  medium cypress [run|verify]: runs tests of the project
    --spec: --browser: --headless --headed --e2e --component --quiet --reporter: --config-file:
  medium vite next astro nuxt remix svelte-kit react-scripts vue-cli-service ng parcel [build|check|lint|test|
    typecheck] (text*): builds the project
    empties=--outDir --mode: --outDir: --base: --sourcemap --minify --watch --config: --debug --profile --no-lint --fix
    --configuration: --prod --production --no-watch --verbose --strict --ci --coverage --turbo --turbopack
  medium webpack rollup tsup tsdown rolldown microbundle (text*): builds the project
    -c: -w -d: -o: -f: -m --config: --mode: --watch --minify --dts --sourcemap --format: --outDir: --out-dir:
    --output-path: --out: --env: --progress --stats? --silent --target: --version --help
  medium turbo lerna [run] (text*): builds the project
    checkedFlags=() script=taskName --filter: --scope: --parallel --stream --force --concurrency: --since: --no-cache
    --continue --dry-run
`,
    { taskName },
  ),
);
