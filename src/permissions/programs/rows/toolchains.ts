import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";
import { projectRows, projectText } from "./project-rows.ts";
import { taskName } from "./task-names.ts";

/** For these, printing a version is more than reading: a repository can name the toolchain that they start or fetch. */

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

const cargoRows = projectRows(
  `
  medium cargo [build|b|check|c|doc|bench|nextest run] (text*): builds the project
    ${cargoFlags} --no-deps --no-run
  medium cargo [test|t] (text*): runs tests of the project
    script=cargoTestWord ${cargoFlags} --no-run --no-fail-fast --doc
  medium cargo [clippy|fix] (text*): builds the project
    script=clippyWord ${cargoFlags} --fix --allow-dirty --allow-staged --no-deps
  medium cargo [run|r]: builds and runs the project's program
    -r -q --release --quiet --locked --offline
  medium cargo [fmt] (text*): formats the project's files
    script=onlyCheck -p: -v -q --all --check --package: --verbose --quiet
  medium cargo [clean]: removes build output
    -p: -r -q --release --doc --package: --quiet
  medium cargo [tree]: changes or looks up the project's dependencies over the network
    -p: -i: -e: -d --package: --invert: --edges: --depth: --duplicates --all-features --workspace --no-default-features
    --prefix: --target: --locked --offline
  medium cargo [metadata|pkgid|verify-project|locate-project|read-manifest] (text?):
    prints information about the toolchain, which the repository may choose
    -q --format-version: --no-deps --offline --locked --manifest-path: --message-format: --workspace
  medium cargo [fetch|update|generate-lockfile|search|info|outdated|audit] (text*):
    changes or looks up the project's dependencies over the network
    script=crateName -p: -w --package: --precise: --dry-run --locked --offline --workspace --limit: -R --root-deps-only
  medium cargo [add|remove|rm] (text*): changes or looks up the project's dependencies over the network
    script=crateName -F: -p: --features: --no-default-features --default-features --optional --dev --build --package:
    --dry-run
  medium cargo [init|new] (write?): creates a project
    -q --lib --bin --name: --edition: --vcs: --quiet
  read cargo rustc rustfmt rustdoc: prints its version, which a project can choose
    obeys=(rust-toolchain rust-toolchain.toml) needs=(-V --version) -V --version
  medium cargo rustc rustfmt rustdoc: prints information about the toolchain, which the repository may choose
    needs=(-V --version --list) -V --version --list
  medium rustup [show|toolchain list|target list|component list|which] (text*):
    prints information about the toolchain, which the repository may choose
    -v --installed --verbose
  medium rustup: prints information about the toolchain, which the repository may choose
    needs=(-V --version) -V --version
  medium rustfmt (write*): formats the project's files
    -l -q -v --check --edition: --quiet --verbose
`,
  { cargoTestWord, clippyWord, onlyCheck, crateName },
);

/** A package of the module, and no other: `go run` fetches those of other modules. */
function ownPackage(text: string): string | undefined {
  return /^\.$|^\.\/[\w./-]*$|^[\w/-]+\.go$/.test(text) ? projectText(text) : "is not a package of the module";
}

/** Left out: -exec, -toolexec, -vettool, -ldflags, -gcflags and -overlay, which can name programs to run. */
const goFlags = `
  -a -n -v -x -race -msan -asan -trimpath -work -json -p: -tags: -mod: -C: -o: -buildvcs? -buildmode: -cover -covermode:
  -coverpkg: -modfile:`;
const goRows = projectRows(
  `
  medium go [build|vet] (text*): builds the project
    longDash ${goFlags}
  medium go [run] (text): builds and runs the project's program
    longDash script=ownPackage -race -v -x -trimpath -tags: -mod:
  medium go [list] (text*): changes or looks up the project's dependencies over the network
    longDash checkedFlags=() -m -u -json? -deps -test -e -find -versions -tags: -mod: -f:
  medium go [test] (text*): runs tests of the project
    longDash ${goFlags} -c -run: -skip: -count: -timeout: -short -failfast -parallel: -cpu: -shuffle: -list: -bench: -benchtime:
    -benchmem -fuzz: -fuzztime: -vet: -fullpath -coverprofile: -cpuprofile: -memprofile: -blockprofile: -trace:
    -outputdir:
  medium go [fmt|generate] (text*): formats the project's files, or runs its generators
    longDash -n -x -v -run: -skip:
  medium go [clean] (text*): removes build output
    longDash -n -x -testcache
  medium go [mod tidy|mod download|mod verify|mod graph|mod why|mod vendor|mod init] (text*):
    changes or looks up the project's dependencies over the network
    longDash -v -x -e -json -m -go: -compat:
  medium go [work sync|work init|work use] (text*): changes or looks up the project's dependencies over the network
    longDash -r
  medium go [get] (text*): changes or looks up the project's dependencies over the network
    longDash -u -t -v -x -d -tool
  read go [version]: prints the toolchain's version, which a module can choose
    obeys=(go.mod go.work)
  medium go [version|env] (text*): prints information about the toolchain, which the repository may choose
    longDash -json -changed -m -v
  medium go [doc] (text*): prints information about the toolchain, which the repository may choose
    longDash -all -short -src -u -cmd -c
  medium go [tool cover] (text*): prints information about the toolchain, which the repository may choose
    longDash -func:
`,
  { ownPackage },
);

const otherRows = projectRows(
  `
  medium dotnet [build|test|restore|clean|format|pack] (text?): builds the project
    -c: -v: -f: -r: -o: -l: --configuration: --verbosity: --framework: --runtime: --output: --logger: --no-restore
    --no-build --nologo --filter: --collect: --no-dependencies --verify-no-changes --list-tests --results-directory:
    --locked-mode
  medium dotnet [add package|list package|list reference|sln list] (text?):
    changes or looks up the project's dependencies over the network
    --version: --outdated --vulnerable --include-transitive --no-restore
  medium dotnet: prints information about the toolchain, which the repository may choose
    needs=(--version --info --list-sdks --list-runtimes) --version --info --list-sdks --list-runtimes
  medium deno [test|check|lint|fmt|bench|doc|info] (text*): runs tests of the project
    -q --quiet --check --no-check --fix --filter: --fail-fast? --coverage? --parallel --no-lock --frozen --json
    --ignore: --doc --watch -A --allow-all --allow-read? --allow-write? --allow-net? --allow-env? --allow-run?
  medium deno [task] (text): builds the project
    script=taskName
  medium swift [build|test]: builds the project
    -c: -v -q --configuration: --filter: --parallel --product: --target: --enable-code-coverage --verbose --quiet
  medium zig [build] (text*): builds the project
    script=taskName
  medium zig [fmt] (write*): formats the project's files
    --check
  medium dart flutter [analyze|test|format|pub get|pub deps|pub outdated|--version] (text*): runs tests of the project
    -r: -n: --fatal-infos --fatal-warnings --no-fatal-infos --coverage --reporter: --name: --plain-name: -o: --output:
    --set-exit-if-changed
  medium mix [test|compile|format|credo|dialyzer|deps|deps.get|deps.tree|hex.outdated] (text*): builds the project
    --check-formatted --warnings-as-errors --trace --stale --failed --only: --exclude: --cover --max-failures: --seed:
    --strict --force --all
  medium stack cabal [build|test|haddock|bench] (text*): builds the project
    -j: --fast --pedantic --no-run-tests --enable-tests --test --verbose
`,
  { taskName },
);

const gofmtFlags = "-l -d -e -s";
const gofmtRows: readonly CommandRow[] = readTable(`
  read gofmt (read*): prints how files would be formatted
    longDash recursive sparesGit ${gofmtFlags}
  medium gofmt goimports gofumpt (write*): formats the project's files
    longDash recursive sparesGit ${gofmtFlags} -w -local:
`);

/** `deno` prints its version before it reads the project. */
const denoVersion = readTable(`
  read deno: prints its version
    needs=(-V --version) -V --version
`);

function onlyCheck(text: string): string | undefined {
  return /^--(check|emit=stdout|quiet|verbose)$/.test(text) ? undefined : projectText(text);
}

/** A registry package. Excludes addresses and folders. */
function crateName(text: string): string | undefined {
  return /^[\w-]+(@[\w.^~=<>,*+-]+)?$/.test(text) ? undefined : "is not the name of a package";
}

export const toolchainRows: readonly CommandRow[] = [
  ...cargoRows,
  ...goRows,
  ...gofmtRows,
  ...otherRows,
  ...denoVersion,
];
