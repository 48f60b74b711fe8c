import { projectRows } from "./project-rows.ts";

const tests = "runs tests of the project";
const lints = "checks the code by the project's rules, and may fix it";
const formats = "formats files by the project's rules";

/** Test runners, linters and formatters, which can also be run with `python -m …`, `uv run …` and the like. */
export const pythonToolRows = projectRows([
  {
    program: "pytest py.test",
    flags: `-v -q -x -s -l -k: -m: -n: -r: -W: --verbose --quiet --exitfirst --showlocals --tb: --maxfail:
      --cov? --cov-report: --cov-fail-under: --cov-branch --no-cov --lf --ff --nf --sw --last-failed --failed-first
      --new-first --stepwise --durations: --co --collect-only --disable-warnings --junitxml: --junit-xml:
      --no-header --no-summary --color: --capture: --timeout: --fixtures --markers --strict-markers --strict-config
      --import-mode: --reruns: --asyncio-mode: --benchmark-only --benchmark-skip --snapshot-update --cache-clear
      --cache-show? --dist: --numprocesses: --ignore: --ignore-glob: --deselect: --doctest-modules --setup-show
      --runxfail --full-trace --version --help -h`,
    operands: "text*",
    why: tests,
  },
  {
    program: "mypy pyright basedpyright",
    flags: `-p: -m: -v --strict --ignore-missing-imports --show-error-codes --show-error-context --pretty
      --no-incremental --python-version: --namespace-packages --explicit-package-bases --package: --module:
      --check-untyped-defs --disallow-untyped-defs --no-error-summary --follow-imports: --exclude: --config-file:
      --warn-unused-ignores --verbose --pythonversion: --project: --stats --warnings --outputjson --level:
      --no-color-output --version --help -h`,
    operands: "text*",
    why: lints,
  },
  {
    program: "ruff",
    sub: "check|format",
    flags: `-q -v -n --fix --unsafe-fixes --fix-only --no-fix --diff --check --select: --ignore:
      --extend-select: --extend-ignore: --exclude: --config: --quiet --verbose --output-format: --statistics --watch
      --no-cache --line-length: --show-fixes --preview --target-version: --exit-zero --add-noqa --show-files
      --show-settings --stdin-filename:`,
    operands: "write*",
    why: lints,
  },
  { program: "ruff", sub: "rule|linter|version", operands: "text?", why: "prints its rules or version" },
  { program: "ruff", flags: "--version -V", needs: "--version -V", why: "prints its version" },
  {
    program: "black isort autopep8 yapf autoflake pyupgrade docformatter",
    flags: `-i -r -q -v -l: -t: -S -d -a --in-place --inplace --recursive --check --check-only --diff --quiet
      --verbose --line-length: --target-version: --exclude: --include: --extend-exclude: --skip-string-normalization
      --preview --fast --safe --color --profile: --atomic --aggressive --remove-all-unused-imports
      --remove-unused-variables --py38-plus --py39-plus --py310-plus --version --help -h`,
    operands: "write*",
    why: formats,
  },
  {
    program: "flake8 pycodestyle pydocstyle pyflakes pylint bandit vulture",
    flags: `-q -v -r -f: -E -j: -l --select: --ignore: --extend-ignore: --max-line-length: --max-complexity:
      --statistics --count --show-source --exclude: --disable: --enable: --errors-only --output-format: --score:
      --jobs: --reports: --rcfile: --config: --format: --recursive --severity-level: --confidence-level:
      --min-confidence: --version --help -h`,
    operands: "text*",
    why: lints,
  },
  {
    program: "tox nox",
    flags: "-e: -s: -k: -l -q -v -p: -r --list --parallel: --recreate --version",
    why: "runs tests of the project in separate environments",
  },
  {
    program: "coverage",
    sub: "report|html|xml|json|lcov|combine|erase",
    flags: "-m -i --show-missing --fail-under: --include: --omit: -d: -o: --skip-covered",
    why: "reports test coverage",
  },
  {
    program: "coverage",
    sub: "run -m pytest|run --source=. -m pytest|run -m unittest|run --branch -m pytest",
    flags: "-v -q -x -s -k: -m: --tb:",
    operands: "text*",
    why: tests,
  },
  {
    program: "pre-commit",
    sub: "run",
    flags: "-a -v --all-files --files --verbose --show-diff-on-failure --hook-stage: --from-ref: --to-ref:",
    operands: "text*",
    why: lints,
  },
  {
    program: "sphinx-build",
    flags: "-b: -W -q -n -E -a -j: --keep-going",
    operands: "write*",
    why: "builds the documentation",
  },
  {
    program: "mkdocs",
    sub: "build",
    flags: "-s -q -v -c -d: --strict --clean --quiet --verbose --site-dir:",
    empties: "-d --site-dir",
    why: "builds the documentation",
  },
]);
