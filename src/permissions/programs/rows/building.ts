import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";
import { javascriptToolRows } from "./javascript-tools.ts";
import { alsoIn, projectRows } from "./project-rows.ts";
import { projectEnvironments, pythonToolRows } from "./python-tools.ts";
import { makeTarget, taskName } from "./task-names.ts";
import { toolchainRows } from "./toolchains.ts";

/** `openssl rand` takes a number of bytes. */
function byteCount(text: string): string | undefined {
  return /^\d{1,6}$/.test(text) ? undefined : "is not a number of bytes";
}

const mavenStep = oneOf(
  `validate compile test-compile test package verify clean install site process-resources generate-sources dependency:tree
  dependency:analyze dependency:resolve dependency:list spotless:check spotless:apply checkstyle:check surefire:test
  versions:display-dependency-updates help:effective-pom`,
);
const sbtStep = oneOf("compile test clean doc package update Test/compile Test/test scalafmt scalafmtCheck");

/** A leading at sign marks a file with further arguments. */
function noWordsFile(text: string): string | undefined {
  return /^\\?@|^[*?[]/.test(text) ? "may contain further arguments" : undefined;
}

/**
 * Programs that print their version without reading the working directory. Others obey a repository: its toolchain,
 * options for a virtual machine, or a copy of themselves.
 */
const versionRows: readonly CommandRow[] = readTable(
  `
  read node: prints its version
    needs=(-v --version) -v --version
  read ruby perl php R julia ghc: prints its version
    needs=--version --version
  read gcc g++ cc c++ clang clang++ ld make cmake ctest ninja: prints its version
    needs=--version --version
  read java javac: prints its version
    longDash needs=(-version --version) -version --version
  read ffmpeg ffprobe: prints its version
    longDash needs=-version -version
  read sqlite3 psql mysql redis-cli mongosh aws: prints its version
    needs=--version --version
  read openssl [version]: prints its version
    -a -v
  read openssl [rand] (text): prints random bytes
    longDash script=byteCount -hex -base64
`,
  { byteCount },
);

const readingRows: readonly CommandRow[] = readTable(`
  # It also reads the package.json around the file, and prints its errors.
  medium node [--check|-c] (read): checks the syntax of a file
  read php [-l] (read): checks the syntax of a file
  read shellcheck (read*): checks shell scripts without running them
    -s: -f: -S: -e: -i: -o: -V --shell: --format: --severity: --exclude: --include: --enable: --version --norc -W:
    --wiki-link-count: -C? --color?
  # Its settings can include another file, and it prints that file's errors.
  medium terraform tofu [fmt] (write*): formats files
    longDash folder recursive sparesGit -check -diff -recursive -list: -write: -no-color
  medium yamllint (read*): checks files
    folder recursive sparesGit -s -f: --strict --format: --no-warnings --version
`);

const projectBuildRows = projectRows(
  `
  medium node [--test] (text*): runs tests of the project
    --test-reporter: --test-name-pattern: --test-only --test-concurrency: --experimental-test-coverage
  # GNU make accepts a number after -j, which then looks like a target.
  medium make gmake (text*): builds the project
    checkedFlags=() script=targetOrNumber -j? -k -s -n -B -C> -i -w -r -R -q -O? --jobs? --keep-going --silent --quiet
    --dry-run --just-print --always-make --directory> --ignore-errors --no-print-directory --print-directory
    --output-sync? --trace --warn-undefined-variables
  medium ninja samu (text*): builds the project
    checkedFlags=() script=makeTarget -C> -j: -k: -l: -v -n --verbose --quiet
  medium just task rake (text*): builds the project
    checkedFlags=() script=taskName -l -n -v -q --list --dry-run --summary --verbose --quiet --tasks -T
  medium cmake [--build] (write): builds the project
    script=makeTargetOrSetting -j? -t: -v --parallel? --target: --config: --clean-first --verbose
  medium cmake (write?): prepares a build
    longDash -S> -B> -G: -Wno-dev -Wdev --fresh --log-level: -DCMAKE_BUILD_TYPE? -DBUILD_TESTING? -DBUILD_SHARED_LIBS?
    -DCMAKE_EXPORT_COMPILE_COMMANDS? -DCMAKE_VERBOSE_MAKEFILE? -DCMAKE_CXX_STANDARD? -DCMAKE_C_STANDARD?
  medium ctest: runs tests of the project
    longDash -V -VV -Q -N -j: -R: -E: -L: -LE: -C: --verbose --output-on-failure --parallel: --test-dir: --rerun-failed
    --timeout: --stop-on-failure --schedule-random --quiet --progress
  medium meson [setup|compile|test] (write*): builds the project
    -C> -v --verbose --buildtype: --reconfigure -j: --print-errorlogs
  medium bazel bazelisk [build|test|query|info] (text*): builds the project
    script=bazelLabel -k -c: --config: --test_output: --keep_going --jobs:
  medium gcc g++ cc c++ clang clang++ (read*): compiles files
    longDash path=noWordsFile -c -S -E -g -g3 -ggdb -v -w -o> -I< -L< -D: -U: -l: -O -O0 -O1 -O2 -O3 -Os -Og -Wall
    -Wextra -Werror -Wpedantic -Wshadow -Wconversion -pedantic -std? -ansi -fPIC -fsyntax-only -fsanitize? -shared
    -static -pthread -lm -lpthread -ldl -lstdc++ -march? -MMD -MD -MP
  medium javac (write*): compiles files
    path=noWordsFile longDash -d> -g -nowarn -verbose -Werror -Xlint? -encoding: --release: -source: -target:
  medium mvn ./mvnw (text*): builds the project
    longDash script=mavenStep checkedFlags=() -q -o -B -U -e -X -V -v -T: -pl: -am -amd -fae -ff -fn -nsu -ntp -P:
    --version --quiet --offline --batch-mode --no-transfer-progress --projects: --also-make --fail-at-end -DskipTests?
    -DskipITs? -Dmaven.test.skip? -Dtest? -Dit.test? -DfailIfNoTests? -Dsurefire.failIfNoSpecifiedTests?
    -Dcheckstyle.skip? -Dmaven.javadoc.skip?
  # Gradle completes abbreviated names, so only full names are safe.
  medium gradle ./gradlew (text*): builds the project
    script=gradleTask checkedFlags=() -q -i -s -m -v -w -x: --quiet --info --warn --stacktrace --dry-run --version
    --no-daemon --daemon --offline --parallel --no-parallel --continue --rerun-tasks --rerun --build-cache
    --no-build-cache --configuration-cache --console: --exclude-task: --no-configuration-cache --warning-mode: --tests:
    --configuration: --status --refresh-dependencies
  medium sbt (text*): builds the project
    script=sbtStep
  medium rspec bin/rspec ./bin/rspec (text*): runs tests of the project
    -f: -e: -t: -c -b --format: --example: --tag: --fail-fast? --only-failures --next-failure --order: --seed: --color
    --no-color --profile? --backtrace --dry-run
  medium rubocop standardrb (write*): checks the code by the project's rules, and may fix it
    -a -A -f: -D -P -l -x --autocorrect --autocorrect-all --auto-correct --fix --format: --only: --except: --parallel
    --lint --display-cop-names --fail-level: --no-color --version --list-target-files --cache:
  medium rails bin/rails [test|test:system|test:all|zeitwerk:check] (text*): runs tests of the project
    -v -n: -f -b --verbose --name: --fail-fast
  medium golangci-lint [run|fmt] (text*): checks the code by the project's rules, and may fix it
    -v -E: -D: --fix --timeout: --enable: --disable: --fast --new --new-from-rev: --verbose
  medium staticcheck (text*): checks the code by the project's rules, and may fix it
    longDash -checks: -f: -tests -version
  medium clang-format shfmt (write*): formats files
    -i -w -l -d -s -n --dry-run --Werror --style: --verbose --version
`,
  {
    targetOrNumber,
    makeTarget,
    taskName,
    makeTargetOrSetting,
    bazelLabel,
    noWordsFile,
    mavenStep,
    gradleTask,
    sbtStep,
  },
);

const phpToolRows = alsoIn(
  ["vendor/bin", "./vendor/bin"],
  projectRows(`
  medium phpunit pest paratest (text*): runs tests of the project
    -v --filter: --group: --exclude-group: --testsuite: --testdox --stop-on-failure --stop-on-error --coverage-text
    --colors? --no-coverage --list-tests --order-by: --parallel --version
  medium phpstan [analyse|analyze] (text*): checks the code by the project's rules, and may fix it
    -l: -c: -v --level: --memory-limit: --no-progress --error-format: --configuration:
  medium psalm phpcs phpcbf pint (write*): checks the code by the project's rules, and may fix it
    -n -s -p -v --test --dirty --show-info? --no-cache --standard: --alter --report:
  medium php-cs-fixer [fix|check] (write*): checks the code by the project's rules, and may fix it
    -v --dry-run --diff --config: --allow-risky?
`),
);

function oneOf(names: string): (text: string) => string | undefined {
  const known = new Set(names.trim().split(/\s+/));
  return (text) => (known.has(text) ? undefined : "is not a known step");
}

function gradleTask(text: string): string | undefined {
  const known =
    /^(:?[\w-]+:)*(build|test|check|assemble|assembleDebug|clean|classes|testClasses|compile(Test)?(Java|Kotlin|Scala)|jar|lint|lintDebug|testDebugUnitTest|spotless(Check|Apply)|ktlint(Check|Format)|detekt|checkstyle(Main|Test)|javadoc|tasks|dependencies|projects|jacocoTestReport)$/;
  return known.test(text) ? undefined : "is not a known task";
}

function targetOrNumber(text: string): string | undefined {
  return /^\d+$/.test(text) ? undefined : makeTarget(text);
}

function makeTargetOrSetting(text: string): string | undefined {
  return /^(Debug|Release|RelWithDebInfo|MinSizeRel)$/.test(text) ? undefined : makeTarget(text);
}

function bazelLabel(text: string): string | undefined {
  return /^(\/\/|@?[\w.-]+\/\/)?[\w./:@+-]*$/.test(text) && !text.startsWith("-")
    ? undefined
    : "is not the name of a target";
}

export const buildRows: readonly CommandRow[] = [
  ...versionRows,
  ...readingRows,
  ...projectBuildRows,
  ...phpToolRows,
  ...javascriptToolRows,
  ...alsoIn(projectEnvironments, pythonToolRows),
  ...toolchainRows,
];
