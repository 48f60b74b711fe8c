import type { CommandRow } from "../command-row.ts";

/*
 * Git takes some values only from the same word (`--pretty=x`) and others also from the next. Confusing the two would let a
 * flag pass as a value. So `:` marks only flags that take the next word, and `?` those that do not.
 *
 * Left out everywhere, because they write a file, run a program or read outside the repository: --output, --ext-diff,
 * --textconv, --filters, --show-signature, --no-index, --submodule, --recurse-submodules, --open-files-in-pager, -O.
 */

/** Flags for the output of changes. */
const diffFlags = `
  -p -u -s -z -a -b -w -R -W -c -m -t -r -D -B? -M? -C? -U? -X? -l: -S: -G: -I: --patch --no-patch --raw --patch-with-raw
  --patch-with-stat --minimal --patience --histogram --numstat --shortstat --summary --compact-summary --name-only
  --name-status --full-index --binary --no-renames --break-rewrites? --find-renames? --find-copies? --find-copies-harder
  --irreversible-delete --pickaxe-all --pickaxe-regex --find-object: --exit-code --quiet --text --ignore-space-change
  --ignore-all-space --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines --ignore-matching-lines:
  --function-context --no-ext-diff --no-textconv --ignore-submodules? --src-prefix: --dst-prefix: --line-prefix: --no-prefix
  --color? --no-color --color-moved? --no-color-moved --color-words? --word-diff? --word-diff-regex: --inter-hunk-context:
  --unified? --stat? --stat-width: --stat-name-width: --stat-count: --stat-graph-width: --dirstat? --cumulative
  --diff-filter: --diff-algorithm: --anchored: --abbrev? --no-abbrev --check --relative? --no-relative --follow --cc
  --combined-all-paths`;

/** Flags that select and order commits. */
const commitFlags = `
  -# -n: --max-count: --skip: --since: --after: --until: --before: --author: --committer: --grep: --all-match --invert-grep
  -i --regexp-ignore-case -E --extended-regexp -F --fixed-strings -P --perl-regexp --basic-regexp --all --branches? --tags?
  --remotes? --glob: --exclude: --reflog --not --first-parent --merges --no-merges --min-parents? --max-parents? --cherry-pick
  --cherry-mark --cherry --left-right --left-only --right-only --boundary --ancestry-path --full-history --dense --sparse
  --simplify-merges --simplify-by-decoration --date-order --author-date-order --topo-order --reverse --no-walk? --do-walk
  --parents --children --date: --relative-date --abbrev-commit --no-abbrev-commit --oneline --graph --no-graph`;

const logFlags = `${diffFlags} ${commitFlags}
  -L: -g --walk-reflogs --grep-reflog: --merge --decorate? --no-decorate --decorate-refs: --decorate-refs-exclude: --source
  --mailmap --use-mailmap --no-mailmap --log-size --notes? --no-notes --show-linear-break? --expand-tabs? --no-expand-tabs`;

const shortlogFlags = `
  -n -s -e -c --numbered --summary --email --committer --since: --after: --until: --before: --author: --grep: --all --no-merges
  --merges --first-parent --branches? --tags? --remotes?`;

const refFlags = `
  --sort: --points-at: --contains: --no-contains: --merged: --no-merged: --format: --color? --no-color -i --ignore-case
  --column? --no-column --omit-empty`;

const checksSignatures = "runs a program that checks signatures";

/** A format with signatures makes git start another program. One with a leading dash may be read as a flag. */
function shownFormat(text: string): string | undefined {
  if (text.startsWith("-")) return "may be a flag";
  if (/remotename/.test(text)) return "shows addresses of other repositories, which may contain credentials";
  return /%[-+ ]*G|%\(\*?signature/.test(text) ? checksSignatures : undefined;
}

/** A format, or a sort key (`-committerdate`). */
function refText(text: string): string | undefined {
  if (/^[-*]*(?:v(?:ersion)?:[-*]*)?signature/.test(text)) return checksSignatures;
  return /^-\*?[a-z][\w:=-]*$/.test(text) ? undefined : shownFormat(text);
}

/** Settings whose values may contain credentials. For the addresses of remotes, a lookup checks that. */
const secretKey = /extraheader|insteadof|token|passw|secret|credential|proxy|cookie|sslkey|sslcert|sendemail|apikey/i;

function plainKey(text: string): string | undefined {
  const isKey = /^[a-z][\w-]*(\.[\w./@:+-]+)?\.[a-z][\w-]*$/i.test(text);
  return isKey && !secretKey.test(text) ? undefined : "may be a secret setting";
}

const checked = { checkedFlags: "--format --sort", script: refText };
const branchFlags = "-a -r -v --all --remotes --verbose --abbrev? --no-abbrev";

const history = "prints the history of the repository";
const changes = "prints differences between states of the repository";
const names = "prints names in the repository";
const settings = "prints a git setting that is not secret";

const rows: readonly (Pick<CommandRow, "why"> & Partial<CommandRow>)[] = [
  { flags: "--version", needs: "--version", why: "prints its version" },
  { sub: "version", flags: "--build-options", why: "prints its version" },
  {
    sub: "status",
    flags: `-s -b -v -z --short --branch --show-stash --porcelain? --long --verbose -u? --untracked-files?
      --ignored? --ignore-submodules? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames
      --find-renames?`,
    operands: "text*",
    why: "prints changes in the working directory",
  },
  { sub: "log|show|reflog show", flags: logFlags, operands: "text*", showsCommits: true, why: history },
  {
    sub: "log|show|reflog show",
    showsCommits: true,
    flags: `${logFlags} --format: --pretty:`,
    operands: "read*",
    checkedFlags: "--format --pretty",
    script: shownFormat,
    why: history,
  },
  {
    sub: "reflog",
    flags: "-# -n: --date: --oneline --no-abbrev-commit --abbrev-commit --decorate? --all",
    showsCommits: true,
    why: history,
  },
  // Outside a repository it compares any two files.
  {
    sub: "diff",
    flags: `${diffFlags} --cached --staged --merge-base -1 -2 -3 --base --ours --theirs`,
    operands: "read*",
    // Outside a repository, or with a folder outside of it, it compares whole folders.
    recursive: true,
    why: changes,
  },
  {
    sub: "range-diff",
    flags: `${diffFlags} --creation-factor: --no-dual-color`,
    operands: "text*",
    showsCommits: true,
    why: changes,
  },
  {
    sub: "diff-tree|diff-index|diff-files",
    flags: `${diffFlags} --cached --root --no-commit-id --always --merge-base -v`,
    operands: "text*",
    why: changes,
  },
  { sub: "cherry", flags: "-v --verbose --abbrev?", operands: "text*", why: history },
  {
    sub: "rev-list",
    flags: `${commitFlags} --count --objects --timestamp --header --no-commit-header --abbrev? --disk-usage?`,
    operands: "text*",
    why: history,
  },
  { sub: "shortlog", flags: shortlogFlags, operands: "text*", why: history },
  {
    sub: "shortlog",
    flags: `${shortlogFlags} --group:`,
    operands: "read*",
    checkedFlags: "--group",
    script: shownFormat,
    why: history,
  },
  {
    sub: "blame|annotate",
    flags: `-b -s -e -t -f -n -p -l -c -w -M? -C? -L: -S< --root --show-email --show-name --show-number
      --porcelain --line-porcelain --incremental --date: --since: --first-parent --color-lines --color-by-age
      --abbrev? --ignore-rev: --ignore-revs-file< --contents<`,
    operands: "text*",
    why: "prints who last changed each line of a file",
  },
  {
    sub: "grep",
    flags: `-# -a -i -w -v -h -H -E -G -P -F -n -l -L -c -o -p -W -q -z -I -r -e: -f< -A: -B: -C: -m: --text
      --ignore-case --word-regexp --invert-match --extended-regexp --basic-regexp --fixed-strings --perl-regexp
      --line-number --column --files-with-matches --name-only --files-without-match --count --only-matching
      --show-function --function-context --color? --no-color --break --heading --all-match --and --or --not
      --after-context: --before-context: --context: --max-depth: --max-count: --threads: --cached
      --exclude-standard --full-name --quiet --null --no-textconv`,
    operands: "text*",
    why: "searches files in the repository",
  },
  {
    sub: "ls-files",
    flags: `-c -d -m -o -i -s -u -k -z -t -v -f -x: -X< --cached --deleted --modified --others --ignored
      --stage --unmerged --killed --directory --no-empty-directory --eol --exclude: --exclude-from<
      --exclude-per-directory: --exclude-standard --error-unmatch --with-tree: --full-name --abbrev? --deduplicate
      --format:`,
    operands: "text*",
    why: names,
  },
  {
    sub: "ls-tree",
    flags: `-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev?
      --format:`,
    operands: "text*",
    why: names,
  },
  {
    sub: "rev-parse",
    flags: `-q --quiet --verify --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches?
      --tags? --remotes? --glob? --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree
      --git-dir --absolute-git-dir --git-common-dir --git-path: --path-format? --is-inside-work-tree
      --is-inside-git-dir --is-bare-repository --is-shallow-repository --show-object-format? --show-ref-format
      --revs-only --no-revs --flags --no-flags --default: --since? --until? --not`,
    operands: "text*",
    why: names,
  },
  {
    sub: "describe",
    flags: `--all --tags --contains --abbrev? --candidates: --exact-match --debug --long --match: --exclude:
      --always --first-parent --dirty? --broken?`,
    operands: "text*",
    why: names,
  },
  {
    sub: "name-rev",
    flags: "--name-only --tags --refs: --exclude: --all --no-undefined --always",
    operands: "text*",
    why: names,
  },
  {
    sub: "cat-file",
    flags: "-t -s -e -p -z --batch? --batch-check? --batch-all-objects --unordered --buffer --follow-symlinks",
    operands: "text*",
    why: "prints objects of the repository",
  },
  {
    sub: "branch",
    flags: `${branchFlags} --show-current --list ${refFlags}`,
    ...checked,
    why: names,
  },
  // `--merged` and the like take the next word, but can also be the last. Nothing here can name a branch to create.
  { sub: "branch", flags: `${branchFlags} --merged --no-merged --contains`, why: names },
  {
    sub: "branch",
    flags: `${branchFlags} --list ${refFlags}`,
    needs: "--list",
    operands: "read*",
    ...checked,
    why: names,
  },
  { sub: "tag", flags: `-l -n? --list ${refFlags}`, ...checked, why: names },
  { sub: "tag", flags: "-n? --merged --no-merged --contains", why: names },
  {
    sub: "tag",
    flags: `-l -n? --list ${refFlags}`,
    needs: "-l --list",
    operands: "read*",
    ...checked,
    why: names,
  },
  { sub: "for-each-ref", flags: `${refFlags} --count: --shell -s`, operands: "read*", ...checked, why: names },
  {
    sub: "show-ref",
    flags: "-d -s -q --head --heads --branches --tags --dereference --hash? --abbrev? --verify --quiet",
    operands: "text*",
    why: names,
  },
  {
    sub: "show-branch",
    flags: `-a -r --all --remotes --current --list --independent --merge-base --topics --sha1-name --no-name
      --no-color`,
    operands: "text*",
    why: names,
  },
  // A second operand would be written.
  { sub: "symbolic-ref", flags: "-q --quiet --short", operands: "text", why: names },
  {
    sub: "merge-base",
    flags: "-a --all --octopus --independent --is-ancestor --fork-point",
    operands: "text*",
    why: history,
  },
  { sub: "remote", flags: "-v --verbose", showsRemotes: true, why: "prints the repository's remotes" },
  {
    sub: "remote get-url",
    flags: "--push --all",
    operands: "text",
    showsRemotes: true,
    why: "prints the repository's remotes",
  },
  {
    sub: "stash list",
    flags: "-# -n: -p --patch --oneline --stat --name-only --date:",
    showsCommits: true,
    why: history,
  },
  {
    sub: "stash show",
    flags: `-p -u --patch --stat --numstat --shortstat --name-only --name-status --include-untracked
      --only-untracked`,
    operands: "text?",
    why: changes,
  },
  { sub: "notes", why: history },
  { sub: "notes list|notes show", operands: "text?", why: history },
  {
    sub: "worktree list",
    flags: "-v -z --verbose --porcelain",
    why: "prints the repository's working directories",
  },
  { sub: "submodule", why: "prints the status of submodules" },
  { sub: "submodule status", flags: "--cached", operands: "text*", why: "prints the status of submodules" },
  { sub: "bisect log", why: history },
  {
    sub: "check-ignore",
    flags: "-q -v -n -z --stdin --quiet --verbose --non-matching --no-index",
    operands: "text*",
    why: names,
  },
  {
    sub: "hash-object",
    flags: "-t: --stdin --no-filters",
    operands: "read*",
    why: "prints the object id of content",
  },
  { sub: "check-attr", flags: "-a -z --all --cached --stdin", operands: "text*", why: names },
  {
    sub: "check-ref-format",
    flags: "--branch --normalize --allow-onelevel",
    operands: "text",
    why: "checks whether a name is valid",
  },
  { sub: "count-objects", flags: "-v -H --verbose --human-readable", why: "prints how large the repository is" },
  {
    sub: "fsck",
    flags: `--full --no-full --strict --unreachable --dangling --no-dangling --connectivity-only --no-progress
      --no-reflogs --verbose`,
    why: "checks the objects of the repository",
  },
  {
    sub: "apply",
    needs: "--check --stat --numstat --summary",
    flags: "-R -p: -v --reverse --check --stat --numstat --summary --cached",
    operands: "read*",
    why: "prints what a patch would change",
  },
  {
    sub: "clean",
    needs: "-n --dry-run",
    flags: "-n -d -x -X -q -e: --dry-run --exclude: --quiet",
    operands: "text*",
    why: "prints what it would remove",
  },
  {
    sub: "config get|config",
    flags: "--get --get-all --all --global --local --system --bool --int --path --type: --show-origin --show-scope",
    operands: "text",
    script: plainKey,
    showsRemotes: true,
    why: settings,
  },
];

export const gitReadingRows: readonly CommandRow[] = rows.map((row) => {
  return { program: "git", class: "read", git: true, folder: true, ...row };
});
