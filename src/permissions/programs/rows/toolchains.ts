import type { CommandRow } from "../command-row.ts";
import { projectRows, projectText } from "./project-rows.ts";
import { taskName } from "./task-names.ts";

const tests = "runs tests of the project";
const builds = "builds the project";
const formats = "formats the project's files";
const fetches = "changes or looks up the project's dependencies over the network";
/** For these, printing a version is more than reading: a repository can name the toolchain that they start or fetch. */
const asks = "prints information about the toolchain, which the repository may choose";

/** Left out: --config, which may name programs to run, and anything that installs or publishes. */
const cargoFlags = `
  -r -p: -F: -j: -v -q --release --package: --workspace --all --exclude: --all-targets --all-features --features: --lib --bin:
  --no-default-features --bins --example: --examples --test: --tests --bench: --benches --verbose --quiet --jobs: --keep-going
  --locked --offline --frozen --color: --message-format: --profile: --target: --target-dir: --manifest-path: --timings`;

/** Words after `--` go to the test program. */
function cargoTestWord(text: string): string | undefined {
  const isFlag =
    /^(--(nocapture|no-capture|show-output|ignored|include-ignored|exact|list|test-threads=\d+|skip)|-q)$/.test(text);
  return isFlag ? undefined : projectText(text);
}

/** Words after `--` are lint levels for the compiler. Its other flags can name a program to run. */
function clippyWord(text: string): string | undefined {
  if (!text.startsWith("-")) return projectText(text);
  return /^-[DWAF](clippy::)?[a-z_-]*$/.test(text) ? undefined : "is an unknown compiler flag";
}

const cargoRows = projectRows([
  {
    program: "cargo",
    sub: "build|b|check|c|doc|bench|nextest run",
    flags: `${cargoFlags} --no-deps --no-run`,
    operands: "text*",
    why: builds,
  },
  {
    program: "cargo",
    sub: "test|t",
    flags: `${cargoFlags} --no-run --no-fail-fast --doc`,
    operands: "text*",
    script: cargoTestWord,
    why: tests,
  },
  {
    program: "cargo",
    sub: "clippy|fix",
    flags: `${cargoFlags} --fix --allow-dirty --allow-staged --no-deps`,
    operands: "text*",
    script: clippyWord,
    why: builds,
  },
  {
    program: "cargo",
    sub: "run|r",
    flags: "-r -q --release --quiet --locked --offline",
    why: "builds and runs the project's program",
  },
  {
    program: "cargo",
    sub: "fmt",
    flags: "-p: -v -q --all --check --package: --verbose --quiet",
    operands: "text*",
    script: onlyCheck,
    why: formats,
  },
  {
    program: "cargo",
    sub: "clean",
    flags: "-p: -r -q --release --doc --package: --quiet",
    why: "removes build output",
  },
  {
    program: "cargo",
    sub: "tree",
    flags: `-p: -i: -e: -d --package: --invert: --edges: --depth: --duplicates --all-features --workspace
      --no-default-features --prefix: --target: --locked --offline`,
    why: fetches,
  },
  {
    program: "cargo",
    sub: "metadata|pkgid|verify-project|locate-project|read-manifest",
    flags: "-q --format-version: --no-deps --offline --locked --manifest-path: --message-format: --workspace",
    operands: "text?",
    why: asks,
  },
  {
    program: "cargo",
    sub: "fetch|update|generate-lockfile|search|info|outdated|audit",
    flags: "-p: -w --package: --precise: --dry-run --locked --offline --workspace --limit: -R --root-deps-only",
    operands: "text*",
    script: crateName,
    why: fetches,
  },
  {
    program: "cargo",
    sub: "add|remove|rm",
    flags: `-F: -p: --features: --no-default-features --default-features --optional --dev --build --package:
      --dry-run`,
    operands: "text*",
    script: crateName,
    why: fetches,
  },
  {
    program: "cargo",
    sub: "init|new",
    flags: "-q --lib --bin --name: --edition: --vcs: --quiet",
    operands: "write?",
    why: "creates a project",
  },
  { program: "cargo rustc rustfmt rustdoc", flags: "-V --version --list", needs: "-V --version --list", why: asks },
  {
    program: "rustup",
    sub: "show|toolchain list|target list|component list|which",
    flags: "-v --installed --verbose",
    operands: "text*",
    why: asks,
  },
  { program: "rustup", flags: "-V --version", needs: "-V --version", why: asks },
  { program: "rustfmt", flags: "-l -q -v --check --edition: --quiet --verbose", operands: "write*", why: formats },
]);

/** Left out: -exec, -toolexec, -vettool, -ldflags, -gcflags and -overlay, which can name programs to run. */
const goFlags = `
  -a -n -v -x -race -msan -asan -trimpath -work -json -p: -tags: -mod: -C: -o: -buildvcs? -buildmode: -cover -covermode:
  -coverpkg: -modfile:`;
const goRows = projectRows(
  [
    { sub: "build|vet", flags: goFlags, why: builds },
    {
      sub: "list",
      flags: "-m -u -json? -deps -test -e -find -versions -tags: -mod: -f:",
      checkedFlags: "",
      why: fetches,
    },
    {
      sub: "test",
      flags: `${goFlags} -c -run: -skip: -count: -timeout: -short -failfast -parallel: -cpu: -shuffle: -list:
      -bench: -benchtime: -benchmem -fuzz: -fuzztime: -vet: -fullpath -coverprofile: -cpuprofile: -memprofile:
      -blockprofile: -trace: -outputdir:`,
      why: tests,
    },
    { sub: "fmt|generate", flags: "-n -x -v -run: -skip:", why: "formats the project's files, or runs its generators" },
    { sub: "clean", flags: "-n -x -testcache", why: "removes build output" },
    {
      sub: "mod tidy|mod download|mod verify|mod graph|mod why|mod vendor|mod init",
      flags: "-v -x -e -json -m -go: -compat:",
      why: fetches,
    },
    { sub: "work sync|work init|work use", flags: "-r", why: fetches },
    { sub: "get", flags: "-u -t -v -x -d -tool", why: fetches },
    { sub: "version|env", flags: "-json -changed -m -v", why: asks },
    { sub: "doc", flags: "-all -short -src -u -cmd -c", why: asks },
    { sub: "tool cover", flags: "-func:", why: asks },
  ].map((row) => ({ program: "go", longDash: true as const, operands: "text*", ...row })),
);

const otherRows = projectRows([
  {
    program: "dotnet",
    sub: "build|test|restore|clean|format|pack",
    flags: `-c: -v: -f: -r: -o: -l: --configuration: --verbosity: --framework: --runtime: --output: --logger:
      --no-restore --no-build --nologo --filter: --collect: --no-dependencies --verify-no-changes --list-tests
      --results-directory: --locked-mode`,
    operands: "text?",
    why: builds,
  },
  {
    program: "dotnet",
    sub: "add package|list package|list reference|sln list",
    flags: "--version: --outdated --vulnerable --include-transitive --no-restore",
    operands: "text?",
    why: fetches,
  },
  {
    program: "dotnet",
    flags: "--version --info --list-sdks --list-runtimes",
    needs: "--version --info --list-sdks --list-runtimes",
    why: asks,
  },
  {
    program: "deno",
    sub: "test|check|lint|fmt|bench|doc|info",
    flags: `-q --quiet --check --no-check --fix --filter: --fail-fast? --coverage? --parallel --no-lock
      --frozen --json --ignore: --doc --watch -A --allow-all --allow-read? --allow-write? --allow-net? --allow-env?
      --allow-run?`,
    operands: "text*",
    why: tests,
  },
  { program: "deno", sub: "task", operands: "text", script: taskName, why: builds },
  {
    program: "swift",
    sub: "build|test",
    flags: `-c: -v -q --configuration: --filter: --parallel --product: --target: --enable-code-coverage
      --verbose --quiet`,
    why: builds,
  },
  { program: "zig", sub: "build", operands: "text*", script: taskName, why: builds },
  { program: "zig", sub: "fmt", flags: "--check", operands: "write*", why: formats },
  {
    program: "dart flutter",
    sub: "analyze|test|format|pub get|pub deps|pub outdated|--version",
    flags: `-r: -n: --fatal-infos --fatal-warnings --no-fatal-infos --coverage --reporter: --name:
      --plain-name: -o: --output: --set-exit-if-changed`,
    operands: "text*",
    why: tests,
  },
  {
    program: "mix",
    sub: "test|compile|format|credo|dialyzer|deps|deps.get|deps.tree|hex.outdated",
    flags: `--check-formatted --warnings-as-errors --trace --stale --failed --only: --exclude: --cover
      --max-failures: --seed: --strict --force --all`,
    operands: "text*",
    why: builds,
  },
  {
    program: "stack cabal",
    sub: "build|test|haddock|bench",
    flags: "-j: --fast --pedantic --no-run-tests --enable-tests --test --verbose",
    operands: "text*",
    why: builds,
  },
]);

const gofmtFlags = "-l -d -e -s";
const gofmtRows: readonly CommandRow[] = [
  {
    program: "gofmt",
    class: "read",
    longDash: true,
    flags: gofmtFlags,
    operands: "read*",
    recursive: true,
    sparesGit: true,
    why: "prints how files would be formatted",
  },
  {
    program: "gofmt goimports gofumpt",
    class: "medium",
    longDash: true,
    flags: `${gofmtFlags} -w -local:`,
    operands: "write*",
    why: formats,
  },
];

/** `deno` prints its version before it reads the project. */
const denoVersion: CommandRow = {
  program: "deno",
  class: "read",
  flags: "-V --version",
  needs: "-V --version",
  why: "prints its version",
};

function onlyCheck(text: string): string | undefined {
  return /^--(check|emit=stdout|quiet|verbose)$/.test(text) ? undefined : projectText(text);
}

/** A registry package. Excludes addresses and folders. */
function crateName(text: string): string | undefined {
  return /^[\w-]+(@[\w.^~=<>,*+-]+)?$/.test(text) ? undefined : "is not the name of a package";
}

export const toolchainRows: readonly CommandRow[] = [...cargoRows, ...goRows, ...gofmtRows, ...otherRows, denoVersion];
