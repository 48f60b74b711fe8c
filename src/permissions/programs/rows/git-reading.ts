import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";

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

const secretEnd = /(pass|phrase|pwd|key|auth|cred|creds|pin|otp|jwt|dsn)$|^pat$|[_-]pat$/i;

function plainKey(text: string): string | undefined {
  const isKey = /^[a-z][\w-]*(\.[\w./@:+-]+)?\.[a-z][\w-]*$/i.test(text);
  const last = text.slice(text.lastIndexOf(".") + 1);
  // `user.signingkey` names a key and contains none.
  const isSecret = secretKey.test(text) || (secretEnd.test(last) && !/^signingkey$/i.test(last));
  return isKey && !isSecret ? undefined : "may be a secret setting";
}

const branchFlags = "-a -r -v --all --remotes --verbose --abbrev? --no-abbrev";

const rows = readTable(
  `
  read git: prints its version
    needs=--version --version
  read git [version]: prints its version
    --build-options
  read git [status] (text*): prints changes in the working directory
    -s -b -v -z --short --branch --show-stash --porcelain? --long --verbose -u? --untracked-files? --ignored?
    --ignore-submodules? --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames?
  read git [log|show|reflog show] (text*): prints the history of the repository
    showsCommits ${logFlags}
  read git [log|show|reflog show] (read*): prints the history of the repository
    showsCommits checkedFlags=(--format --pretty) script=shownFormat ${logFlags} --format: --pretty:
  read git [reflog]: prints the history of the repository
    showsCommits -# -n: --date: --oneline --no-abbrev-commit --abbrev-commit --decorate? --all
  # Outside a repository it compares any two files.
  # Outside a repository, or with a folder outside of it, it compares whole folders.
  read git [diff] (read*): prints differences between states of the repository
    recursive ${diffFlags} --cached --staged --merge-base -1 -2 -3 --base --ours --theirs
  read git [range-diff] (text*): prints differences between states of the repository
    showsCommits ${diffFlags} --creation-factor: --no-dual-color
  read git [diff-tree|diff-index|diff-files] (text*): prints differences between states of the repository
    ${diffFlags} --cached --root --no-commit-id --always --merge-base -v
  read git [cherry] (text*): prints the history of the repository
    -v --verbose --abbrev?
  read git [rev-list] (text*): prints the history of the repository
    ${commitFlags} --count --objects --timestamp --header --no-commit-header --abbrev? --disk-usage?
  read git [shortlog] (text*): prints the history of the repository
    ${shortlogFlags}
  read git [shortlog] (read*): prints the history of the repository
    checkedFlags=--group script=shownFormat ${shortlogFlags} --group:
  read git [blame|annotate] (text*): prints who last changed each line of a file
    -b -s -e -t -f -n -p -l -c -w -M? -C? -L: -S< --root --show-email --show-name --show-number --porcelain
    --line-porcelain --incremental --date: --since: --first-parent --color-lines --color-by-age --abbrev? --ignore-rev:
    --ignore-revs-file< --contents<
  read git [grep] (text*): searches files in the repository
    -# -a -i -w -v -h -H -E -G -P -F -n -l -L -c -o -p -W -q -z -I -r -e: -f< -A: -B: -C: -m: --text --ignore-case
    --word-regexp --invert-match --extended-regexp --basic-regexp --fixed-strings --perl-regexp --line-number --column
    --files-with-matches --name-only --files-without-match --count --only-matching --show-function --function-context
    --color? --no-color --break --heading --all-match --and --or --not --after-context: --before-context: --context:
    --max-depth: --max-count: --threads: --cached --exclude-standard --full-name --quiet --null --no-textconv
  read git [ls-files] (text*): prints names in the repository
    -c -d -m -o -i -s -u -k -z -t -v -f -x: -X< --cached --deleted --modified --others --ignored --stage --unmerged
    --killed --directory --no-empty-directory --eol --exclude: --exclude-from< --exclude-per-directory:
    --exclude-standard --error-unmatch --with-tree: --full-name --abbrev? --deduplicate --format:
  read git [ls-tree] (text*): prints names in the repository
    -d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev? --format:
  read git [rev-parse] (text*): prints names in the repository
    -q --quiet --verify --short? --abbrev-ref? --symbolic --symbolic-full-name --all --branches? --tags? --remotes?
    --glob? --show-toplevel --show-prefix --show-cdup --show-superproject-working-tree --git-dir --absolute-git-dir
    --git-common-dir --git-path: --path-format? --is-inside-work-tree --is-inside-git-dir --is-bare-repository
    --is-shallow-repository --show-object-format? --show-ref-format --revs-only --no-revs --flags --no-flags --default:
    --since? --until? --not
  read git [describe] (text*): prints names in the repository
    --all --tags --contains --abbrev? --candidates: --exact-match --debug --long --match: --exclude: --always
    --first-parent --dirty? --broken?
  read git [name-rev] (text*): prints names in the repository
    --name-only --tags --refs: --exclude: --all --no-undefined --always
  read git [cat-file] (text*): prints objects of the repository
    -t -s -e -p -z --batch? --batch-check? --batch-all-objects --unordered --buffer --follow-symlinks
  read git [branch]: prints names in the repository
    checkedFlags=(--format --sort) script=refText ${branchFlags} --show-current --list ${refFlags}
  # --merged and the like take the next word, but can also be the last. Nothing here can name a branch to create.
  read git [branch]: prints names in the repository
    ${branchFlags} --merged --no-merged --contains
  read git [branch] (read*): prints names in the repository
    needs=--list checkedFlags=(--format --sort) script=refText ${branchFlags} --list ${refFlags}
  read git [tag]: prints names in the repository
    checkedFlags=(--format --sort) script=refText -l -n? --list ${refFlags}
  read git [tag]: prints names in the repository
    -n? --merged --no-merged --contains
  read git [tag] (read*): prints names in the repository
    needs=(-l --list) checkedFlags=(--format --sort) script=refText -l -n? --list ${refFlags}
  read git [for-each-ref] (read*): prints names in the repository
    checkedFlags=(--format --sort) script=refText ${refFlags} --count: --shell -s
  read git [show-ref] (text*): prints names in the repository
    -d -s -q --head --heads --branches --tags --dereference --hash? --abbrev? --verify --quiet
  read git [show-branch] (text*): prints names in the repository
    -a -r --all --remotes --current --list --independent --merge-base --topics --sha1-name --no-name --no-color
  # A second operand would be written.
  read git [symbolic-ref] (text): prints names in the repository
    -q --quiet --short
  read git [merge-base] (text*): prints the history of the repository
    -a --all --octopus --independent --is-ancestor --fork-point
  read git [remote]: prints the repository's remotes
    showsRemotes -v --verbose
  read git [remote get-url] (text): prints the repository's remotes
    showsRemotes --push --all
  read git [stash list]: prints the history of the repository
    showsCommits -# -n: -p --patch --oneline --stat --name-only --date:
  read git [stash show] (text?): prints differences between states of the repository
    -p -u --patch --stat --numstat --shortstat --name-only --name-status --include-untracked --only-untracked
  read git [notes]: prints the history of the repository
  read git [notes list|notes show] (text?): prints the history of the repository
  read git [worktree list]: prints the repository's working directories
    -v -z --verbose --porcelain
  read git [submodule]: prints the status of submodules
  read git [submodule status] (text*): prints the status of submodules
    --cached
  read git [bisect log]: prints the history of the repository
  read git [check-ignore] (text*): prints names in the repository
    -q -v -n -z --stdin --quiet --verbose --non-matching --no-index
  read git [hash-object] (read*): prints the object id of content
    -t: --stdin --no-filters
  read git [check-attr] (text*): prints names in the repository
    -a -z --all --cached --stdin
  read git [check-ref-format] (text): checks whether a name is valid
    --branch --normalize --allow-onelevel
  read git [count-objects]: prints how large the repository is
    -v -H --verbose --human-readable
  read git [fsck]: checks the objects of the repository
    --full --no-full --strict --unreachable --dangling --no-dangling --connectivity-only --no-progress --no-reflogs
    --verbose
  read git [apply] (read*): prints what a patch would change
    needs=(--check --stat --numstat --summary) -R -p: -v --reverse --check --stat --numstat --summary --cached
  read git [clean] (text*): prints what it would remove
    needs=(-n --dry-run) -n -d -x -X -q -e: --dry-run --exclude: --quiet
  read git [config get|config] (text): prints a git setting that is not secret
    script=plainKey showsRemotes --get --get-all --all --global --local --system --bool --int --path --type:
    --show-origin --show-scope
`,
  { shownFormat, refText, plainKey },
);

export const gitReadingRows: readonly CommandRow[] = rows.map((row) => ({ ...row, git: true, folder: true }));
