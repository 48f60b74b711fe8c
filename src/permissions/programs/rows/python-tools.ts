import { projectRows } from "./project-rows.ts";

/** Folders with the programs of a project's virtual environment. */
export const projectEnvironments = [".venv/bin", "./.venv/bin", "venv/bin", "./venv/bin"];

/** Test runners, linters and formatters, which can also be run with `python -m …`, `uv run …` and the like. */
export const pythonToolRows = projectRows(`
  medium pytest py.test (text*): runs tests of the project
    -v -q -x -s -l -k: -m: -n: -r: -W: --verbose --quiet --exitfirst --showlocals --tb: --maxfail: --cov? --cov-report:
    --cov-fail-under: --cov-branch --no-cov --lf --ff --nf --sw --last-failed --failed-first --new-first --stepwise
    --durations: --co --collect-only --disable-warnings --junitxml: --junit-xml: --no-header --no-summary --color:
    --capture: --timeout: --fixtures --markers --strict-markers --strict-config --import-mode: --reruns: --asyncio-mode:
    --benchmark-only --benchmark-skip --snapshot-update --cache-clear --cache-show? --dist: --numprocesses: --ignore:
    --ignore-glob: --deselect: --doctest-modules --setup-show --runxfail --full-trace --version --help -h
  medium mypy pyright basedpyright (text*): checks the code by the project's rules, and may fix it
    -p: -m: -v --strict --ignore-missing-imports --show-error-codes --show-error-context --pretty --no-incremental
    --python-version: --namespace-packages --explicit-package-bases --package: --module: --check-untyped-defs
    --disallow-untyped-defs --no-error-summary --follow-imports: --exclude: --config-file: --warn-unused-ignores
    --verbose --pythonversion: --project: --stats --warnings --outputjson --level: --no-color-output --version --help -h
  medium ruff [check|format] (write*): checks the code by the project's rules, and may fix it
    -q -v -n --fix --unsafe-fixes --fix-only --no-fix --diff --check --select: --ignore: --extend-select:
    --extend-ignore: --exclude: --config: --quiet --verbose --output-format: --statistics --watch --no-cache
    --line-length: --show-fixes --preview --target-version: --exit-zero --add-noqa --show-files --show-settings
    --stdin-filename:
  medium ruff [rule|linter|version] (text?): prints its rules or version
  medium ruff: prints its version
    needs=(--version -V) --version -V
  medium black isort autopep8 yapf autoflake pyupgrade docformatter (write*): formats files by the project's rules
    -i -r -q -v -l: -t: -S -d -a --in-place --inplace --recursive --check --check-only --diff --quiet --verbose
    --line-length: --target-version: --exclude: --include: --extend-exclude: --skip-string-normalization --preview
    --fast --safe --color --profile: --atomic --aggressive --remove-all-unused-imports --remove-unused-variables
    --py38-plus --py39-plus --py310-plus --version --help -h
  medium flake8 pycodestyle pydocstyle pyflakes pylint bandit vulture (text*):
    checks the code by the project's rules, and may fix it
    -q -v -r -f: -E -j: -l --select: --ignore: --extend-ignore: --max-line-length: --max-complexity: --statistics
    --count --show-source --exclude: --disable: --enable: --errors-only --output-format: --score: --jobs: --reports:
    --rcfile: --config: --format: --recursive --severity-level: --confidence-level: --min-confidence: --version --help
    -h
  medium tox nox: runs tests of the project in separate environments
    -e: -s: -k: -l -q -v -p: -r --list --parallel: --recreate --version
  medium coverage [report|html|xml|json|lcov|combine|erase]: reports test coverage
    -m -i --show-missing --fail-under: --include: --omit: -d: -o: --skip-covered
  medium coverage [run -m pytest|run --source=. -m pytest|run -m unittest|run --branch -m pytest] (text*):
    runs tests of the project
    -v -q -x -s -k: -m: --tb:
  medium pre-commit [run] (text*): checks the code by the project's rules, and may fix it
    -a -v --all-files --files --verbose --show-diff-on-failure --hook-stage: --from-ref: --to-ref:
  medium sphinx-build (write*): builds the documentation
    -b: -W -q -n -E -a -j: --keep-going
  medium mkdocs [build]: builds the documentation
    empties=(-d --site-dir) -s -q -v -c -d: --strict --clean --quiet --verbose --site-dir:
`);
