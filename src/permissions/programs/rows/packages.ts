import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";
import { javascriptPackageRows } from "./javascript-packages.ts";
import { projectRows } from "./project-rows.ts";
import { pythonPackageRows } from "./python-packages.ts";
import { taskName } from "./task-names.ts";

/** A package name. Excludes addresses and folders. */
function packageName(text: string): string | undefined {
  return /^\w[\w.@+-]*$/.test(text) ? undefined : "is not the name of a package";
}

const rubyAndPhpRows = projectRows(
  `
  medium gem [install|update] (text*): changes the project's dependencies, with packages from the network
    script=packageName checkedFlags=() -v: -N --version: --no-document --user-install --conservative
  medium gem [search|info|outdated] (text*): looks up packages over the network
    -r --remote -e --exact
  medium bundle bundler [install|check|list|show|outdated|update|lock|add|info|config get path] (text*):
    changes the project's dependencies, with packages from the network
    script=packageName checkedFlags=() -j: -q --jobs: --quiet --local --path: --without: --deployment --gemfile: --group:
    --conservative --patch --minor --major --all
  medium bundle bundler: prints the version of the copy that the project chooses
    needs=(-v --version) -v --version
  medium bundle [exec rspec|exec rubocop|exec standardrb] (text*): runs the project's tests or checks
    -a -A -f: --autocorrect --autocorrect-all --format: --only: --parallel --fail-fast --tag: -e: --example: --seed:
  medium bundle [exec rake|exec rails] (text*): runs a well-known task of the project
    script=taskName
  medium composer [install|update|require|remove|dump-autoload|validate|show|outdated|audit|why|why-not|licenses|
    diagnose|check-platform-reqs] (text*): changes the project's dependencies, with packages from the network
    script=vendorPackage checkedFlags=() -n -q -v -o -W -D --dev --no-dev --no-interaction --no-progress --prefer-dist
    --no-scripts --no-plugins --optimize-autoloader --dry-run --with-dependencies --with-all-dependencies --direct
    --tree --latest --strict --format: --ignore-platform-reqs
  medium composer: prints its version
    needs=(-V --version) -V --version
  medium composer [run|run-script] (text): runs a well-known task of the project
    script=taskName
  medium composer [test|lint|format|check|analyse|analyze|cs|stan]: runs a well-known task of the project
`,
  { packageName, vendorPackage, taskName },
);

function vendorPackage(text: string): string | undefined {
  return /^([\w.-]+\/)?[\w.*-]+([:=@][\w.^~<>=*|@-]+)?$/.test(text) ? undefined : "is not the name of a package";
}

/** Queries of system packages. Installing them needs administrator rights, and so is left out. */
const systemRows: readonly CommandRow[] = readTable(
  `
  read gem: prints its version
    needs=(-v --version) -v --version
  read gem [list] (text*): prints installed packages
    -l -d -a -i --local --details --all --installed --versions
  read dpkg [-l|-L|-s|-S|--list|--listfiles|--status|--search|--print-architecture] (text*): prints installed packages
  read dpkg-query (text*): prints installed packages
    -W -l -L -s -S -f: --show --list --listfiles --status --search --showformat:
  read apt-cache [policy|show|showpkg|search|depends|rdepends|madison|pkgnames] (text*): prints known packages
    -n --names-only --installed --recurse
  read apt [list|show|search|policy|depends|rdepends] (text*): prints known packages
    -a --installed --upgradable --all-versions --names-only
  read rpm [-q|-qa|-qi|-ql|-qf] (text*): prints installed packages
  read pacman [-Q|-Qi|-Ql|-Qs|-Qo|-Qe] (text*): prints installed packages
  read apk [info|list --installed] (text*): prints installed packages
    -v -L
  medium brew [list|ls|info|outdated|search|deps|leaves|config|--prefix|--version] (text*):
    looks up packages over the network
    script=packageName --versions --cask --formula --json? --tree --installed
`,
  { packageName },
);

export const packageRows: readonly CommandRow[] = [
  ...javascriptPackageRows,
  ...pythonPackageRows,
  ...rubyAndPhpRows,
  ...systemRows,
];
