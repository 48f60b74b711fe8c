import { withoutTrailingSlashes } from "../../../text/text-cut.ts";
import type { CommandRow } from "../command-row.ts";
import { readTable } from "../command-table.ts";
import { gitReadingRows } from "./git-reading.ts";

/*
 * Calls that can be undone: with the reflog, with the stash, or because git refuses to overwrite unsaved files.
 *
 * Left out is anything that
 * - forces (-f, -D, -B, -C, --hard, --skip) or drops (clean, stash drop, reflog expire, restore of files);
 * - opens an editor or asks (-i, -p, -e);
 * - runs a named program (-x, --exec, -s of merge, --upload-pack), adopts settings (-c, --template) or signs (-S);
 * - sends (push).
 */

/**
 * A remote's name or address, or names of its branches. Rejects addresses that name a program (`ext::`), contain a
 * password or are local folders, `+`, which overwrites, and patterns for local branches, which pruning would delete.
 */
function source(text: string): string | undefined {
  const isAddress = /^https?:\/\/[^\s/@]+\/\S*$|^(ssh|git):\/\/[\w.@-]+(:\d+)?\/\S*$|^[\w.-]+@[\w.-]+:[\w./~-]+$/.test(
    text,
  );
  const isName = /^\w[\w./@#*-]*$|^\w[\w./@#-]*:\w[\w./-]*$/.test(text) && !text.includes("..");
  return isAddress || isName ? undefined : "is neither a remote nor a branch";
}

/** A branch, a tag or a commit. Excludes paths and patterns, which git also accepts here. */
function branchName(text: string): string | undefined {
  return /^(-|[\w@][\w./@{}~^+-]*)$/.test(text) && !text.includes("..") ? undefined : "may name files";
}

/** The default folder of a clone. */
function cloneName(address: string): string | undefined {
  const plain = withoutTrailingSlashes(withoutTrailingSlashes(address).replace(/\.git$/, ""));
  const name = plain.split(/[/:]/).at(-1) ?? "";
  return /^\w[\w.+-]*$/.test(name) ? name : undefined;
}

const fetchFlags = `
  -p -t -n -v -q -k -4 -6 -j: --all --prune --tags --no-tags --verbose --quiet --keep --depth: --deepen: --unshallow
  --shallow-since: --filter: --dry-run --progress --no-progress --jobs: --no-recurse-submodules --atomic --ipv4 --ipv6
  --set-upstream`;
const mergeFlags = `
  --ff --no-ff --ff-only --squash --no-squash --commit --no-commit --no-edit --stat --no-stat --signoff --no-signoff --autostash
  --no-autostash --allow-unrelated-histories --no-verify -X: --strategy-option:`;
const pickFlags = `
  -n -x -m: --no-commit --mainline: -s --signoff --continue --quit -X: --strategy-option: --no-edit --allow-empty
  --allow-empty-message --keep-redundant-commits --ff`;

const writing = readTable(
  `
  medium git [add|stage] (text*): stages changes
    -A -u -v -n -N --all --no-all --update --verbose --dry-run --intent-to-add --chmod: --renormalize --ignore-errors
    --refresh --sparse --pathspec-from-file<
  medium git [commit] (text*): creates a commit, which the reflog can undo
    -m: -F< -t< -C: -a -v -q -s -n -i -o -u? --message: --file< --template< --reuse-message: --all --verbose --quiet
    --signoff --no-signoff --no-verify --include --only --amend --no-edit --allow-empty --allow-empty-message --author:
    --date: --reset-author --fixup: --squash: --no-gpg-sign --cleanup: --dry-run --short --long --porcelain --branch
    --status --no-status --untracked-files? --no-post-rewrite --trailer:
  medium git [checkout] (text?): creates, renames or removes branches, which the reflog can undo
    needs=-b -b: -q -t --quiet --track --no-track --progress --no-progress
  medium git [checkout] (text): switches branches, and refuses if changes would be lost
    script=branchName textMayBeFile -q -t -d --quiet --track --no-track --detach --guess --no-guess --progress
    --no-progress
  medium git [switch] (text?): switches branches, and refuses if changes would be lost
    -c: -d -q -t --create: --orphan: --detach --quiet --track --no-track --guess --no-guess --progress --no-progress
    --no-recurse-submodules
  medium git [branch] (text*): creates, renames or removes branches, which the reflog can undo
    -m -d -c -t -q -u: --move --delete --copy --track --no-track --quiet --set-upstream-to: --unset-upstream -r
    --remotes
  medium git [merge] (text*): combines or moves commits, which the reflog can undo
    ${mergeFlags} -m: -F< -q -v -n --message: --file< --quiet --verbose --log? --no-log --continue --quit --no-progress
  medium git [rebase] (text? text?): combines or moves commits, which the reflog can undo
    -q -v -n -r -m -X: --quiet --verbose --stat --no-stat --onto: --keep-base --fork-point --no-fork-point --root
    --autostash --no-autostash --autosquash --no-autosquash --rebase-merges? --no-rebase-merges --merge --apply --empty:
    --reapply-cherry-picks --no-reapply-cherry-picks --signoff --update-refs --no-update-refs --continue --quit
    --committer-date-is-author-date --ignore-date --reset-author-date --strategy-option: --whitespace:
    --ignore-whitespace
  # Only what was done to resolve its conflicts is lost.
  medium git [rebase --abort|merge --abort|cherry-pick --abort|revert --abort|am --abort]:
    cancels an unfinished operation and restores the files from before it
  medium git [cherry-pick|revert] (text*): combines or moves commits, which the reflog can undo
    ${pickFlags}
  medium git [stash push] (text*): stashes changes, which can be restored
    -m: -u -a -k -q -S --message: --include-untracked --all --keep-index --no-keep-index --quiet --staged
    --pathspec-from-file<
  medium git [stash pop|stash apply] (text?): restores stashed changes
    -q --index --quiet
  medium git [stash save] (text*): stashes changes
    -u -a -k -q --include-untracked --all --keep-index --quiet
  medium git [stash branch] (text text?): creates, renames or removes branches, which the reflog can undo
  medium git [stash]: stashes changes, which can be restored
    -u -a -k -q -S -m: --include-untracked --all --keep-index --no-keep-index --quiet --staged --message:
  medium git [tag] (text*): creates or removes tags
    -a -m: -F< -d --annotate --message: --file< --delete --no-sign --cleanup: --create-reflog
  medium git [fetch] (text*): fetches commits over the network
    fetches script=source ${fetchFlags} --multiple
  medium git [pull] (text*): fetches commits over the network and merges them
    fetches script=source ${fetchFlags} ${mergeFlags} -r --rebase --no-rebase
  medium git [clone] (text write?): copies a repository over the network
    recursive script=source namedBy=cloneName -b: -q -v -n -o: -j: --branch: --quiet --verbose --progress --no-checkout
    --origin: --jobs: --depth: --single-branch --no-single-branch --bare --mirror --no-tags --filter: --shallow-since:
    --shallow-submodules --no-shallow-submodules --recurse-submodules --recursive --sparse --no-hardlinks
  medium git [ls-remote] (text*): queries a remote over the network
    script=source -t -b -q --heads --branches --tags --refs --quiet --exit-code --symref --sort:
  medium git [remote show] (text*): queries a remote over the network
    script=source showsRemotes -n
  medium git [remote update] (text*): queries a remote over the network
    fetches script=source -p --prune
  medium git [init] (write?): creates a repository
    recursive sparesGit -q -b: --quiet --bare --initial-branch: --object-format:
  medium git [mv] (write*): moves files in the repository
    movesFolders -v -n -k --verbose --dry-run
  medium git [rm] (text*): removes files from the next commit and keeps them on disk
    needs=(--cached -n --dry-run) -r -q -n --cached --dry-run --quiet --ignore-unmatch
  # It deletes a submodule's whole folder, without checking ignored files.
  medium git [rm] (write*): deletes files in the repository, and refuses to delete changed ones
    deletes -r -q --quiet --ignore-unmatch
  medium git [restore] (text*): unstages changes and keeps the files as they are
    needs=(-S --staged) -S -q -s: --staged --quiet --source:
  medium git [reset] (text*): moves the branch and keeps the files as they are
    -q -N --quiet --soft --mixed --intent-to-add --refresh --no-refresh
  medium git [apply] (read*): checks a patch or says what it would change
    needs=(--check --stat --numstat --summary) -R -p: -C: -v -q --check --stat --numstat --summary --reverse --recount
    --whitespace: --exclude: --include: --ignore-whitespace --ignore-space-change --allow-empty --verbose --quiet
  medium git [apply] (read*): applies a patch to files
    picksNames=patch -3 -R -p: -C: -v -q -N --index --cached --3way --reverse --reject --recount --unidiff-zero
    --whitespace: --check --stat --numstat --summary --exclude: --include: --ignore-whitespace --ignore-space-change
    --intent-to-add --allow-empty --verbose --quiet
  medium git [am] (read*): creates commits from patches, which the reflog can undo
    picksNames=patch -3 -s -k -q -p: -C: --3way --signoff --keep --keep-cr --quiet --whitespace: --continue --quit
    --no-gpg-sign
  # Otherwise it writes files whose names the commits choose.
  medium git [format-patch] (text*): prints commits as patches
    needs=--stdout -# -n -N -s -o> -v: --numbered --no-numbered --signoff --output-directory> --stdout --root
    --cover-letter --subject-prefix: --start-number: --reroll-count: --no-signature --zero-commit
  medium git [notes add|notes append] (text?): adds a note to a commit
    -m: -F< --message: --file<
  medium git [worktree add] (write text?): creates another working directory
    recursive -b: -d -q --detach --quiet --checkout --no-checkout --track --no-track --guess-remote
  medium git [submodule update] (text*): fetches submodules
    -N -j: --init --recursive --remote --no-fetch --depth: --jobs: --recommend-shallow --progress --single-branch
  medium git [submodule init] (text*): registers submodules
  medium git [bisect start|bisect good|bisect bad|bisect old|bisect new|bisect skip|
    bisect reset] (text*): checks out other commits, and refuses if changes would be lost
  medium git [gc]: packs the objects of the repository
    -q --auto --quiet --no-prune --no-detach
`,
  { branchName, source, cloneName },
);

/** Sub-commands that write files from the repository into the working tree, possibly links. */
const putsFiles =
  /^(checkout|switch|merge|rebase|cherry-pick|stash|pull|clone|reset|apply|am|worktree|submodule|mv|bisect)\b/;

export const gitRows: readonly CommandRow[] = [
  ...gitReadingRows,
  ...writing.map((row): CommandRow => {
    const onlyShows = row.sub === "apply" && row.needs !== undefined;
    const makesLinks =
      putsFiles.test(row.sub ?? "") && !onlyShows ? { makesLinks: true as const, writesTree: true as const } : {};
    const knownWords = /^(fetch|pull|clone|ls-remote|submodule)\b/.test(row.sub ?? "")
      ? { knownWords: true as const }
      : {};
    return { ...row, git: true, folder: true, ...makesLinks, ...knownWords };
  }),
];
