import type { CommandRow } from "../command-row.ts";
import { javascriptToolRows } from "./javascript-tools.ts";
import { alsoIn, projectRows } from "./project-rows.ts";
import { pythonToolRows } from "./python-tools.ts";
import { makeTarget, taskName } from "./task-names.ts";
import { toolchainRows } from "./toolchains.ts";

const version = "prints its version";
const tests = "runs tests of the project";
const lints = "checks the code by the project's rules, and may fix it";
const builds = "builds the project";
const compiles = "compiles files";

/** A leading at sign marks a file with further arguments. */
function noWordsFile(text: string): string | undefined {
  return /^\\?@|^[*?[]/.test(text) ? "may contain further arguments" : undefined;
}

/**
 * Programs that print their version without reading the working directory. Others obey a repository: its toolchain,
 * options for a virtual machine, or a copy of themselves.
 */
const versionRows: readonly CommandRow[] = [
  { program: "node", class: "read", flags: "-v --version", needs: "-v --version", why: version },
  { program: "ruby perl php R julia ghc", class: "read", flags: "--version", needs: "--version", why: version },
  {
    program: "gcc g++ cc c++ clang clang++ ld make cmake ctest ninja",
    class: "read",
    flags: "--version",
    needs: "--version",
    why: version,
  },
  {
    program: "java javac",
    class: "read",
    longDash: true,
    flags: "-version --version",
    needs: "-version --version",
    why: version,
  },
  { program: "ffmpeg ffprobe", class: "read", longDash: true, flags: "-version", needs: "-version", why: version },
  {
    program: "sqlite3 psql mysql redis-cli mongosh aws",
    class: "read",
    flags: "--version",
    needs: "--version",
    why: version,
  },
  { program: "openssl", class: "read", sub: "version", flags: "-a -v", why: version },
  {
    program: "openssl",
    class: "read",
    sub: "rand",
    longDash: true,
    flags: "-hex -base64",
    operands: "text",
    script: (text) => (/^\d{1,6}$/.test(text) ? undefined : "is not a number of bytes"),
    why: "prints random bytes",
  },
];

const readingRows: readonly CommandRow[] = [
  // It also reads the package.json around the file, and prints its errors.
  { program: "node", class: "medium", sub: "--check|-c", operands: "read", why: "checks the syntax of a file" },
  { program: "php", class: "read", sub: "-l", operands: "read", why: "checks the syntax of a file" },
  {
    program: "shellcheck",
    class: "read",
    flags: `-s: -f: -S: -e: -i: -o: -V --shell: --format: --severity: --exclude: --include: --enable:
      --version --norc -W: --wiki-link-count: -C? --color?`,
    operands: "read*",
    why: "checks shell scripts without running them",
  },
  {
    program: "yamllint",
    // Its settings can include another file, and it prints that file's errors.
    class: "medium",
    flags: "-s -f: --strict --format: --no-warnings --version",
    operands: "read*",
    folder: true,
    recursive: true,
    sparesGit: true,
    why: "checks files",
  },
];

const projectBuildRows = projectRows([
  {
    program: "node",
    sub: "--test",
    flags: "--test-reporter: --test-name-pattern: --test-only --test-concurrency: --experimental-test-coverage",
    operands: "text*",
    why: tests,
  },
  {
    program: "make gmake",
    // GNU make accepts a number after -j, which then looks like a target.
    flags: `-j? -k -s -n -B -C> -i -w -r -R -q -O? --jobs? --keep-going --silent --quiet --dry-run
      --just-print --always-make --directory> --ignore-errors --no-print-directory --print-directory --output-sync?
      --trace --warn-undefined-variables`,
    operands: "text*",
    checkedFlags: "",
    script: (text) => (/^\d+$/.test(text) ? undefined : makeTarget(text)),
    why: builds,
  },
  {
    program: "ninja samu",
    flags: "-C> -j: -k: -l: -v -n --verbose --quiet",
    operands: "text*",
    checkedFlags: "",
    script: makeTarget,
    why: builds,
  },
  {
    program: "just task rake",
    flags: "-l -n -v -q --list --dry-run --summary --verbose --quiet --tasks -T",
    operands: "text*",
    checkedFlags: "",
    script: taskName,
    why: builds,
  },
  {
    program: "cmake",
    sub: "--build",
    flags: "-j? -t: -v --parallel? --target: --config: --clean-first --verbose",
    operands: "write",
    script: makeTargetOrSetting,
    why: builds,
  },
  {
    program: "cmake",
    longDash: true,
    flags: `-S> -B> -G: -Wno-dev -Wdev --fresh --log-level: -DCMAKE_BUILD_TYPE? -DBUILD_TESTING?
      -DBUILD_SHARED_LIBS? -DCMAKE_EXPORT_COMPILE_COMMANDS? -DCMAKE_VERBOSE_MAKEFILE? -DCMAKE_CXX_STANDARD?
      -DCMAKE_C_STANDARD?`,
    operands: "write?",
    why: "prepares a build",
  },
  {
    program: "ctest",
    longDash: true,
    flags: `-V -VV -Q -N -j: -R: -E: -L: -LE: -C: --verbose --output-on-failure --parallel: --test-dir:
      --rerun-failed --timeout: --stop-on-failure --schedule-random --quiet --progress`,
    why: tests,
  },
  {
    program: "meson",
    sub: "setup|compile|test",
    flags: "-C> -v --verbose --buildtype: --reconfigure -j: --print-errorlogs",
    operands: "write*",
    why: builds,
  },
  {
    program: "bazel bazelisk",
    sub: "build|test|query|info",
    flags: "-k -c: --config: --test_output: --keep_going --jobs:",
    operands: "text*",
    script: bazelLabel,
    why: builds,
  },
  {
    program: "gcc g++ cc c++ clang clang++",
    longDash: true,
    flags: `-c -S -E -g -g3 -ggdb -v -w -o> -I< -L< -D: -U: -l: -O -O0 -O1 -O2 -O3 -Os -Og -Wall -Wextra
      -Werror -Wpedantic -Wshadow -Wconversion -pedantic -std? -ansi -fPIC -fsyntax-only -fsanitize? -shared -static
      -pthread -lm -lpthread -ldl -lstdc++ -march? -MMD -MD -MP`,
    operands: "read*",
    path: noWordsFile,
    why: compiles,
  },
  {
    program: "javac",
    path: noWordsFile,
    longDash: true,
    flags: "-d> -g -nowarn -verbose -Werror -Xlint? -encoding: --release: -source: -target:",
    operands: "write*",
    why: compiles,
  },
  {
    program: "mvn ./mvnw",
    longDash: true,
    flags: `-q -o -B -U -e -X -V -v -T: -pl: -am -amd -fae -ff -fn -nsu -ntp -P: --version --quiet --offline
      --batch-mode --no-transfer-progress --projects: --also-make --fail-at-end -DskipTests? -DskipITs?
      -Dmaven.test.skip? -Dtest? -Dit.test? -DfailIfNoTests? -Dsurefire.failIfNoSpecifiedTests? -Dcheckstyle.skip?
      -Dmaven.javadoc.skip?`,
    operands: "text*",
    script: oneOf(
      `validate compile test-compile test package verify clean install site process-resources generate-sources dependency:tree
      dependency:analyze dependency:resolve dependency:list spotless:check spotless:apply checkstyle:check surefire:test
      versions:display-dependency-updates help:effective-pom`,
    ),
    checkedFlags: "",
    why: builds,
  },
  {
    program: "gradle ./gradlew",
    flags: `-q -i -s -m -v -w -x: --quiet --info --warn --stacktrace --dry-run --version --no-daemon --daemon
      --offline --parallel --no-parallel --continue --rerun-tasks --rerun --build-cache --no-build-cache
      --configuration-cache --console: --exclude-task: --no-configuration-cache --warning-mode: --tests:
      --configuration: --status --refresh-dependencies`,
    operands: "text*",
    // Gradle completes abbreviated names, so only full names are safe.
    script: gradleTask,
    checkedFlags: "",
    why: builds,
  },
  {
    program: "sbt",
    operands: "text*",
    script: oneOf("compile test clean doc package update Test/compile Test/test scalafmt scalafmtCheck"),
    why: builds,
  },
  {
    program: "rspec bin/rspec ./bin/rspec",
    flags: `-f: -e: -t: -c -b --format: --example: --tag: --fail-fast? --only-failures --next-failure --order:
      --seed: --color --no-color --profile? --backtrace --dry-run`,
    operands: "text*",
    why: tests,
  },
  {
    program: "rubocop standardrb",
    flags: `-a -A -f: -D -P -l -x --autocorrect --autocorrect-all --auto-correct --fix --format: --only:
      --except: --parallel --lint --display-cop-names --fail-level: --no-color --version --list-target-files
      --cache:`,
    operands: "write*",
    why: lints,
  },
  {
    program: "rails bin/rails",
    sub: "test|test:system|test:all|zeitwerk:check",
    flags: "-v -n: -f -b --verbose --name: --fail-fast",
    operands: "text*",
    why: tests,
  },
  {
    program: "golangci-lint",
    sub: "run|fmt",
    flags: "-v -E: -D: --fix --timeout: --enable: --disable: --fast --new --new-from-rev: --verbose",
    operands: "text*",
    why: lints,
  },
  { program: "staticcheck", longDash: true, flags: "-checks: -f: -tests -version", operands: "text*", why: lints },
  {
    program: "clang-format shfmt",
    flags: "-i -w -l -d -s -n --dry-run --Werror --style: --verbose --version",
    operands: "write*",
    why: "formats files",
  },
]);

const phpToolRows = alsoIn(
  ["vendor/bin", "./vendor/bin"],
  projectRows([
    {
      program: "phpunit pest paratest",
      flags: `-v --filter: --group: --exclude-group: --testsuite: --testdox --stop-on-failure --stop-on-error
      --coverage-text --colors? --no-coverage --list-tests --order-by: --parallel --version`,
      operands: "text*",
      why: tests,
    },
    {
      program: "phpstan",
      sub: "analyse|analyze",
      flags: "-l: -c: -v --level: --memory-limit: --no-progress --error-format: --configuration:",
      operands: "text*",
      why: lints,
    },
    {
      program: "psalm phpcs phpcbf pint",
      flags: "-n -s -p -v --test --dirty --show-info? --no-cache --standard: --alter --report:",
      operands: "write*",
      why: lints,
    },
    {
      program: "php-cs-fixer",
      sub: "fix|check",
      flags: "-v --dry-run --diff --config: --allow-risky?",
      operands: "write*",
      why: lints,
    },
  ]),
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
  ...pythonToolRows,
  ...toolchainRows,
];
