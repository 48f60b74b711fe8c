import type { CommandRow } from "../command-row.ts";
import { javascriptPackageRows } from "./javascript-packages.ts";
import { projectRows } from "./project-rows.ts";
import { pythonPackageRows } from "./python-packages.ts";
import { taskName } from "./task-names.ts";

const installs = "changes the project's dependencies, with packages from the network";
const asks = "looks up packages over the network";
const lists = "prints installed packages";
const known = "prints known packages";
const runs = "runs a well-known task of the project";

/** A package name. Excludes addresses and folders. */
function packageName(text: string): string | undefined {
  return /^\w[\w.@+-]*$/.test(text) ? undefined : "is not the name of a package";
}

const rubyAndPhpRows = projectRows([
  {
    program: "gem",
    sub: "install|update",
    flags: "-v: -N --version: --no-document --user-install --conservative",
    operands: "text*",
    script: packageName,
    checkedFlags: "",
    why: installs,
  },
  { program: "gem", sub: "search|info|outdated", flags: "-r --remote -e --exact", operands: "text*", why: asks },
  {
    program: "bundle bundler",
    sub: "install|check|list|show|outdated|update|lock|add|info|config get path",
    flags: `-j: -q --jobs: --quiet --local --path: --without: --deployment --gemfile: --group: --conservative
      --patch --minor --major --all`,
    operands: "text*",
    script: packageName,
    checkedFlags: "",
    why: installs,
  },
  {
    program: "bundle bundler",
    flags: "-v --version",
    needs: "-v --version",
    why: "prints the version of the copy that the project chooses",
  },
  ...["rspec", "rubocop", "standardrb"].map((tool) => ({
    program: "bundle",
    sub: `exec ${tool}`,
    flags: `-a -A -f: --autocorrect --autocorrect-all --format: --only: --parallel --fail-fast --tag: -e:
      --example: --seed:`,
    operands: "text*",
    why: "runs the project's tests or checks",
  })),
  { program: "bundle", sub: "exec rake|exec rails", operands: "text*", script: taskName, why: runs },
  {
    program: "composer",
    sub: "install|update|require|remove|dump-autoload|validate|show|outdated|audit|why|why-not|licenses|diagnose|check-platform-reqs",
    flags: `-n -q -v -o -W -D --dev --no-dev --no-interaction --no-progress --prefer-dist --no-scripts
      --no-plugins --optimize-autoloader --dry-run --with-dependencies --with-all-dependencies --direct --tree
      --latest --strict --format: --ignore-platform-reqs`,
    operands: "text*",
    script: vendorPackage,
    checkedFlags: "",
    why: installs,
  },
  { program: "composer", flags: "-V --version", needs: "-V --version", why: "prints its version" },
  { program: "composer", sub: "run|run-script", operands: "text", script: taskName, why: runs },
  { program: "composer", sub: "test|lint|format|check|analyse|analyze|cs|stan", why: runs },
]);

function vendorPackage(text: string): string | undefined {
  return /^([\w.-]+\/)?[\w.*-]+([:=@][\w.^~<>=*|@-]+)?$/.test(text) ? undefined : "is not the name of a package";
}

/** Queries of system packages. Installing them needs administrator rights, and so is left out. */
const systemRows: readonly CommandRow[] = [
  { program: "gem", class: "read", flags: "-v --version", needs: "-v --version", why: "prints its version" },
  {
    program: "gem",
    class: "read",
    sub: "list",
    flags: "-l -d -a -i --local --details --all --installed --versions",
    operands: "text*",
    why: lists,
  },
  {
    program: "dpkg",
    class: "read",
    sub: "-l|-L|-s|-S|--list|--listfiles|--status|--search|--print-architecture",
    operands: "text*",
    why: lists,
  },
  {
    program: "dpkg-query",
    class: "read",
    flags: "-W -l -L -s -S -f: --show --list --listfiles --status --search --showformat:",
    operands: "text*",
    why: lists,
  },
  {
    program: "apt-cache",
    class: "read",
    sub: "policy|show|showpkg|search|depends|rdepends|madison|pkgnames",
    flags: "-n --names-only --installed --recurse",
    operands: "text*",
    why: known,
  },
  {
    program: "apt",
    class: "read",
    sub: "list|show|search|policy|depends|rdepends",
    flags: "-a --installed --upgradable --all-versions --names-only",
    operands: "text*",
    why: known,
  },
  { program: "rpm", class: "read", sub: "-q|-qa|-qi|-ql|-qf", operands: "text*", why: lists },
  { program: "pacman", class: "read", sub: "-Q|-Qi|-Ql|-Qs|-Qo|-Qe", operands: "text*", why: lists },
  { program: "apk", class: "read", sub: "info|list --installed", flags: "-v -L", operands: "text*", why: lists },
  {
    program: "brew",
    class: "medium",
    sub: "list|ls|info|outdated|search|deps|leaves|config|--prefix|--version",
    flags: "--versions --cask --formula --json? --tree --installed",
    operands: "text*",
    script: packageName,
    why: asks,
  },
];

export const packageRows: readonly CommandRow[] = [
  ...javascriptPackageRows,
  ...pythonPackageRows,
  ...rubyAndPhpRows,
  ...systemRows,
];
