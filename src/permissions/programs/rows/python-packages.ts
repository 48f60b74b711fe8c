import type { CommandRow } from "../command-row.ts";
import { projectRows, startedBy } from "./project-rows.ts";
import { pythonToolRows } from "./python-tools.ts";

const version = "prints its version";
const installs = "changes the project's dependencies, with packages from the network";
const lists = "prints installed packages";
const tests = "runs tests of the project";

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

const named = { operands: "text*", script: requirement, checkedFlags: "", path: listFile };
const editable = { ...named, checkedFlags: "-e --editable" };

const listFlags = `
  -f -l -e -q -v --files --local --user --editable --exclude-editable --include-editable --not-required --format: --exclude:
  --verbose --disable-pip-version-check`;

const pipReadingRows: readonly CommandRow[] = [
  { program: "pip pip3", class: "read", flags: "-V --version", needs: "-V --version", why: version },
  { program: "pip pip3", class: "read", sub: "list|check|show", flags: listFlags, operands: "text*", why: lists },
];

/**
 * Left out: other indexes (-i, -f, --trusted-host) and other places (--user, --target, --prefix, --root,
 * --break-system-packages).
 */
const pipRows = projectRows([
  {
    program: "pip pip3",
    sub: "list",
    flags: `${listFlags} -o -u --outdated --uptodate`,
    why: "compares installed packages with the registry",
  },
  // For some packages it runs version control in the folder they came from.
  { program: "pip pip3", sub: "freeze", flags: "-l -q --local --all --user --exclude-editable --exclude:", why: lists },
  {
    program: "pip pip3",
    sub: "index versions|download|wheel",
    flags: "-q -r< --no-deps",
    ...named,
    why: "fetches packages from the network",
  },
  {
    program: "pip pip3",
    sub: "install",
    flags: `-U -q -v -r< -c< -e: --upgrade --quiet --verbose --requirement< --constraint< --editable:
      --no-deps --pre --no-cache-dir --dry-run --force-reinstall --disable-pip-version-check --no-input
      --prefer-binary --only-binary: --no-binary: --no-build-isolation --progress-bar: --timeout: --retries:
      --upgrade-strategy: --no-warn-script-location --require-virtualenv`,
    ...editable,
    why: installs,
  },
  { program: "pip pip3", sub: "uninstall", flags: "-y -q --yes --quiet", ...named, why: installs },
]);

/** With `-m`, a folder named `pip` in the working directory takes precedence over the installed module. */
const pipAsModule: readonly CommandRow[] = [...pipReadingRows, ...pipRows]
  .filter(({ program }) => program === "pip pip3")
  .map((row) => ({ ...row, program: "pip", class: "medium", folder: true }));

const pythonRows: readonly CommandRow[] = [
  { program: "python python3", class: "read", flags: "-V --version", needs: "-V --version", why: version },
  ...projectRows([
    {
      program: "python python3",
      sub: "-m unittest|-m unittest discover",
      flags: "-v -q -f -b -k: -s: -p: -t: --verbose --quiet --failfast --buffer",
      operands: "text*",
      why: tests,
    },
    {
      program: "python python3",
      sub: "-m json.tool",
      flags: "--indent: --sort-keys --no-ensure-ascii --compact",
      operands: "read? write?",
      why: "formats JSON",
    },
    {
      program: "python python3",
      sub: "-m venv",
      flags: "--upgrade-deps --prompt: --system-site-packages",
      operands: "write",
      why: "creates a virtual environment",
    },
    {
      program: "python python3",
      sub: "-m py_compile|-m compileall",
      flags: "-q -f",
      operands: "write*",
      why: "compiles files",
    },
    {
      program: "python python3",
      sub: "-m build",
      flags: "-w -s -n --wheel --sdist --no-isolation",
      operands: "text?",
      why: "builds the project",
    },
  ]),
];

const managerRows: readonly CommandRow[] = [
  { program: "uv uvx", class: "read", flags: "-V --version", needs: "-V --version", why: version },
  ...projectRows([
    {
      program: "uv",
      sub: "sync|lock|tree|venv|build|export|version",
      flags: `-U -q -v -p: --upgrade --quiet --verbose --frozen --locked --offline --dev --no-dev --all-extras
      --all-groups --extra: --group: --all-packages --package: --python: --outdated --check --depth: --seed --clear
      --wheel --sdist --format: --no-hashes`,
      why: installs,
    },
    {
      program: "uv",
      sub: "add|remove",
      flags: "-q --dev --group: --optional: --upgrade --frozen --locked",
      operands: "text*",
      script: requirement,
      checkedFlags: "",
      why: installs,
    },
    {
      program: "uv",
      sub: "pip list|pip show|pip check|pip freeze|pip tree",
      flags: "-q --outdated --format: --strict",
      operands: "text*",
      why: lists,
    },
    {
      program: "uv",
      sub: "pip install",
      flags: `-U -q -r< -c< -e: --upgrade --quiet --requirement< --constraint< --editable: --no-deps --pre
      --all-extras`,
      ...editable,
      why: installs,
    },
    {
      program: "uv",
      sub: "pip uninstall|pip compile|pip sync",
      flags: "-q -o: --quiet --upgrade --output-file:",
      operands: "text*",
      why: installs,
    },
    { program: "uv", sub: "python list|python find|tool list|cache dir", why: lists },
    {
      program: "poetry",
      sub: "install|lock|update|show|check|build|version|env info|env list",
      flags: `-q -v -n -l -t -T -o --sync --no-root --no-dev --with: --without: --only: --all-extras
      --all-groups --extras: -E: --dry-run --no-update --tree --latest --outdated --top-level --quiet
      --no-interaction --path`,
      operands: "text*",
      script: requirement,
      checkedFlags: "",
      why: installs,
    },
    {
      program: "poetry",
      sub: "add|remove",
      flags: "-G: -D -q -n --group: --dev --optional --extras: -E: --dry-run --lock",
      operands: "text*",
      script: requirement,
      checkedFlags: "",
      why: installs,
    },
    {
      program: "poetry pipenv pdm hatch",
      flags: "-V --version",
      needs: "-V --version",
      why: "prints its version, after loading plug-ins that the project may contain",
    },
    {
      program: "pipenv pdm",
      sub: "install|sync|lock|graph|update|list|check",
      flags: "-d -q -r< --dev --deploy --quiet --outdated --frozen-lockfile",
      operands: "text*",
      script: requirement,
      checkedFlags: "",
      why: installs,
    },
    {
      program: "conda mamba",
      sub: "list|info|env list|search",
      flags: "-n: -e --name: --envs --json --export",
      operands: "text*",
      why: lists,
    },
  ]),
];

const interpreters = ["python", "python3", ".venv/bin/python", "./.venv/bin/python", "venv/bin/python"];

/** Programs that start a tool in the project's environment. */
const starters: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(interpreters.map((name) => [name, ["-m"]])),
  uv: ["run", "run python -m", "tool run"],
  uvx: [""],
  poetry: ["run", "run python -m"],
  pipenv: ["run", "run python -m"],
  pdm: ["run"],
  hatch: ["run"],
};

export const pythonPackageRows: readonly CommandRow[] = [
  ...pipReadingRows,
  ...pipRows,
  ...pythonRows,
  ...startedBy(Object.fromEntries(interpreters.map((name) => [name, ["-m"]])), pipAsModule),
  ...managerRows,
  ...startedBy(starters, pythonToolRows),
];
