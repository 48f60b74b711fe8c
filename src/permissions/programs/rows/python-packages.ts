import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";
import { alsoIn, projectRows, startedBy } from "./project-rows.ts";
import { projectEnvironments, pythonToolRows } from "./python-tools.ts";

/** Rejects a list of packages that is an address. */
function listFile(path: string): string | undefined {
  return /^\w+:/.test(path) ? "may be fetched from anywhere" : undefined;
}

/** A package name, optionally with a version or extras, or the project itself. Excludes addresses and other folders. */
function requirement(text: string): string | undefined {
  const isName = /^[a-z\d][\w.-]*(\[[\w,.-]+\])?([=<>!~]=?=?[\w.*,<>=!~ -]+|@[\w.^~-]+)?$/i.test(text);
  const isProject = /^\.(\[[\w,.-]+\])?$/.test(text);
  return isName || isProject ? undefined : "is not the name of a package";
}

const listFlags = `
  -f -l -e -q -v --files --local --user --editable --exclude-editable --include-editable --not-required --format: --exclude:
  --verbose --disable-pip-version-check`;

const pipReadingRows: readonly CommandRow[] = readTable(`
  read pip pip3: prints its version
    needs=(-V --version) -V --version
  read pip pip3 [list|check|show] (text*): prints installed packages
    ${listFlags}
`);

/**
 * Left out: other indexes (-i, -f, --trusted-host) and other places (--user, --target, --prefix, --root,
 * --break-system-packages).
 */
const pipRows = projectRows(
  `
  medium pip pip3 [list]: compares installed packages with the registry
    ${listFlags} -o -u --outdated --uptodate
  # For some packages it runs version control in the folder they came from.
  medium pip pip3 [freeze]: prints installed packages
    -l -q --local --all --user --exclude-editable --exclude:
  medium pip pip3 [index versions|download|wheel] (text*): fetches packages from the network
    script=requirement checkedFlags=() path=listFile -q -r< --no-deps
  medium pip pip3 [install] (text*): changes the project's dependencies, with packages from the network
    script=requirement checkedFlags=(-e --editable) path=listFile -U -q -v -r< -c< -e: --upgrade --quiet --verbose
    --requirement< --constraint< --editable: --no-deps --pre --no-cache-dir --dry-run --force-reinstall
    --disable-pip-version-check --no-input --prefer-binary --only-binary: --no-binary: --no-build-isolation
    --progress-bar: --timeout: --retries: --upgrade-strategy: --no-warn-script-location --require-virtualenv
  medium pip pip3 [uninstall] (text*): changes the project's dependencies, with packages from the network
    script=requirement checkedFlags=() path=listFile -y -q --yes --quiet
`,
  { requirement, listFile },
);

/** With `-m`, a folder named `pip` in the working directory takes precedence over the installed module. */
const pipAsModule: readonly CommandRow[] = [...pipReadingRows, ...pipRows]
  .filter(({ program }) => program === "pip pip3")
  .map((row) => ({ ...row, program: "pip", class: "medium", folder: true }));

const pythonRows: readonly CommandRow[] = [
  ...readTable(`
  read python python3: prints its version
    needs=(-V --version) -V --version
`),
  ...projectRows(`
  medium python python3 [-m unittest|-m unittest discover] (text*): runs tests of the project
    -v -q -f -b -k: -s: -p: -t: --verbose --quiet --failfast --buffer
  medium python python3 [-m json.tool] (read? write?): formats JSON
    --indent: --sort-keys --no-ensure-ascii --compact
  medium python python3 [-m venv] (write): creates a virtual environment
    --upgrade-deps --prompt: --system-site-packages
  medium python python3 [-m py_compile|-m compileall] (write*): compiles files
    -q -f
  medium python python3 [-m build] (text?): builds the project
    -w -s -n --wheel --sdist --no-isolation
`),
];

const managerRows: readonly CommandRow[] = [
  ...readTable(`
  read uv uvx: prints its version
    needs=(-V --version) -V --version
`),
  ...projectRows(
    `
  medium uv [sync|lock|tree|venv|build|export|version]:
    changes the project's dependencies, with packages from the network
    -U -q -v -p: --upgrade --quiet --verbose --frozen --locked --offline --dev --no-dev --all-extras --all-groups
    --extra: --group: --all-packages --package: --python: --outdated --check --depth: --seed --clear --wheel --sdist
    --format: --no-hashes
  medium uv [add|remove] (text*): changes the project's dependencies, with packages from the network
    script=requirement checkedFlags=() -q --dev --group: --optional: --upgrade --frozen --locked
  medium uv [pip list|pip show|pip check|pip freeze|pip tree] (text*): prints installed packages
    -q --outdated --format: --strict
  medium uv [pip install] (text*): changes the project's dependencies, with packages from the network
    script=requirement checkedFlags=(-e --editable) path=listFile -U -q -r< -c< -e: --upgrade --quiet --requirement<
    --constraint< --editable: --no-deps --pre --all-extras
  medium uv [pip uninstall|pip compile|pip sync] (text*):
    changes the project's dependencies, with packages from the network
    -q -o: --quiet --upgrade --output-file:
  medium uv [python list|python find|tool list|cache dir]: prints installed packages
  medium poetry [install|lock|update|show|check|build|version|env info|env list] (text*):
    changes the project's dependencies, with packages from the network
    script=requirement checkedFlags=() -q -v -n -l -t -T -o --sync --no-root --no-dev --with: --without: --only:
    --all-extras --all-groups --extras: -E: --dry-run --no-update --tree --latest --outdated --top-level --quiet
    --no-interaction --path
  medium poetry [add|remove] (text*): changes the project's dependencies, with packages from the network
    script=requirement checkedFlags=() -G: -D -q -n --group: --dev --optional --extras: -E: --dry-run --lock
  medium poetry pipenv pdm hatch: prints its version, after loading plug-ins that the project may contain
    needs=(-V --version) -V --version
  medium pipenv pdm [install|sync|lock|graph|update|list|check] (text*):
    changes the project's dependencies, with packages from the network
    script=requirement checkedFlags=() -d -q -r< --dev --deploy --quiet --outdated --frozen-lockfile
  medium conda mamba [list|info|env list|search] (text*): prints installed packages
    -n: -e --name: --envs --json --export
`,
    { requirement, listFile },
  ),
];

const interpreters = ["python", "python3", ...projectEnvironments.map((folder) => `${folder}/python`)];

/** Programs that start a tool in the project's environment. Left out: `uvx`, which fetches one. */
const starters: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(interpreters.map((name) => [name, ["-m"]])),
  uv: ["run", "run python -m"],
  poetry: ["run", "run python -m"],
  pipenv: ["run", "run python -m"],
  pdm: ["run"],
  hatch: ["run"],
};

export const pythonPackageRows: readonly CommandRow[] = [
  ...pipReadingRows,
  ...alsoIn(projectEnvironments, pipRows),
  ...pythonRows,
  ...startedBy(Object.fromEntries(interpreters.map((name) => [name, ["-m"]])), pipAsModule),
  ...managerRows,
  ...startedBy(starters, pythonToolRows),
];
