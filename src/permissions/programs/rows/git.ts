import { withoutTrailingSlashes } from "../../../text/text-cut.ts";
import type { CommandRow } from "../command-row.ts";
import { gitReadingRows } from "./git-reading.ts";

/*
 * Calls that can be undone: with the reflog, with the stash, or because git refuses to overwrite unsaved files.
 *
 * Left out is anything that
 * - forces (-f, -D, -B, -C, --hard, --abort, --skip) or drops (clean, stash drop, reflog expire, restore of files);
 * - opens an editor or asks (-i, -p, -e);
 * - runs a named program (-x, --exec, -s of merge, --upload-pack), adopts settings (-c, --template) or signs (-S);
 * - sends (push).
 */

/**
 * A remote's name or address, or names of its branches. Rejects addresses that name a program (`ext::`), contain a
 * password or are local folders, and `+`, which overwrites.
 */
function source(text: string): string | undefined {
  const isAddress = /^https?:\/\/[^\s/@]+\/\S*$|^(ssh|git):\/\/[\w.@-]+(:\d+)?\/\S*$|^[\w.-]+@[\w.-]+:[\w./~-]+$/.test(
    text,
  );
  const isName = /^\w[\w./@#*-]*(:\w[\w./*-]*)?$/.test(text) && !text.includes("..");
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

const joins = "combines or moves commits, which the reflog can undo";
const branches = "creates, renames or removes branches, which the reflog can undo";

const writing: readonly (Pick<CommandRow, "sub" | "why"> & Partial<CommandRow>)[] = [
  {
    sub: "add|stage",
    flags: `-A -u -v -n -N --all --no-all --update --verbose --dry-run --intent-to-add --chmod: --renormalize
      --ignore-errors --refresh --sparse --pathspec-from-file<`,
    operands: "text*",
    why: "stages changes",
  },
  {
    sub: "commit",
    flags: `-m: -F< -t< -C: -a -v -q -s -n -i -o -u? --message: --file< --template< --reuse-message: --all
      --verbose --quiet --signoff --no-signoff --no-verify --include --only --amend --no-edit --allow-empty
      --allow-empty-message --author: --date: --reset-author --fixup: --squash: --no-gpg-sign --cleanup: --dry-run
      --short --long --porcelain --branch --status --no-status --untracked-files? --no-post-rewrite --trailer:`,
    operands: "text*",
    why: "creates a commit, which the reflog can undo",
  },
  {
    sub: "checkout",
    flags: "-b: -q -t --quiet --track --no-track --progress --no-progress",
    needs: "-b",
    operands: "text?",
    why: branches,
  },
  {
    sub: "checkout",
    flags: "-q -t -d --quiet --track --no-track --detach --guess --no-guess --progress --no-progress",
    operands: "text",
    script: branchName,
    textMayBeFile: true,
    why: "switches branches, and refuses if changes would be lost",
  },
  {
    sub: "switch",
    flags: `-c: -d -q -t --create: --orphan: --detach --quiet --track --no-track --guess --no-guess --progress
      --no-progress --no-recurse-submodules`,
    operands: "text?",
    why: "switches branches, and refuses if changes would be lost",
  },
  {
    sub: "branch",
    flags: `-m -d -c -t -q -u: --move --delete --copy --track --no-track --quiet --set-upstream-to:
      --unset-upstream -r --remotes`,
    operands: "text*",
    why: branches,
  },
  {
    sub: "merge",
    flags: `${mergeFlags} -m: -F< -q -v -n --message: --file< --quiet --verbose --log? --no-log --continue
      --quit --no-progress`,
    operands: "text*",
    why: joins,
  },
  {
    sub: "rebase",
    flags: `-q -v -n -r -m -X: --quiet --verbose --stat --no-stat --onto: --keep-base --fork-point
      --no-fork-point --root --autostash --no-autostash --autosquash --no-autosquash --rebase-merges?
      --no-rebase-merges --merge --apply --empty: --reapply-cherry-picks --no-reapply-cherry-picks --signoff
      --update-refs --no-update-refs --continue --quit --committer-date-is-author-date --ignore-date
      --reset-author-date --strategy-option: --whitespace: --ignore-whitespace`,
    operands: "text? text?",
    why: joins,
  },
  { sub: "cherry-pick|revert", flags: pickFlags, operands: "text*", why: joins },
  {
    sub: "stash push",
    flags: `-m: -u -a -k -q -S --message: --include-untracked --all --keep-index --no-keep-index --quiet
      --staged --pathspec-from-file<`,
    operands: "text*",
    why: "stashes changes, which can be restored",
  },
  {
    sub: "stash pop|stash apply",
    flags: "-q --index --quiet",
    operands: "text?",
    why: "restores stashed changes",
  },
  {
    sub: "stash save",
    flags: "-u -a -k -q --include-untracked --all --keep-index --quiet",
    operands: "text*",
    why: "stashes changes",
  },
  { sub: "stash branch", operands: "text text?", why: branches },
  {
    sub: "stash",
    flags: `-u -a -k -q -S -m: --include-untracked --all --keep-index --no-keep-index --quiet --staged
      --message:`,
    why: "stashes changes, which can be restored",
  },
  {
    sub: "tag",
    flags: "-a -m: -F< -d --annotate --message: --file< --delete --no-sign --cleanup: --create-reflog",
    operands: "text*",
    why: "creates or removes tags",
  },
  {
    sub: "fetch",
    flags: `${fetchFlags} --multiple`,
    operands: "text*",
    script: source,
    why: "fetches commits over the network",
  },
  {
    sub: "pull",
    flags: `${fetchFlags} ${mergeFlags} -r --rebase --no-rebase`,
    operands: "text*",
    script: source,
    why: "fetches commits over the network and merges them",
  },
  {
    sub: "clone",
    flags: `-b: -q -v -n -o: -j: --branch: --quiet --verbose --progress --no-checkout --origin: --jobs:
      --depth: --single-branch --no-single-branch --bare --mirror --no-tags --filter: --shallow-since:
      --shallow-submodules --no-shallow-submodules --recurse-submodules --recursive --sparse --no-hardlinks`,
    operands: "text write?",
    recursive: true,
    script: source,
    namedBy: cloneName,
    why: "copies a repository over the network",
  },
  {
    sub: "ls-remote",
    flags: "-t -b -q --heads --branches --tags --refs --quiet --exit-code --symref --sort:",
    operands: "text*",
    script: source,
    why: "queries a remote over the network",
  },
  {
    sub: "remote show",
    flags: "-n",
    operands: "text*",
    script: source,
    showsRemotes: true,
    why: "queries a remote over the network",
  },
  {
    sub: "remote update",
    flags: "-p --prune",
    operands: "text*",
    script: source,
    why: "queries a remote over the network",
  },
  {
    sub: "init",
    flags: "-q -b: --quiet --bare --initial-branch: --object-format:",
    operands: "write?",
    recursive: true,
    sparesGit: true,
    why: "creates a repository",
  },
  { sub: "mv", flags: "-v -n -k --verbose --dry-run", operands: "write*", why: "moves files in the repository" },
  {
    sub: "rm",
    flags: "-r -q -n --cached --dry-run --quiet --ignore-unmatch",
    needs: "--cached -n --dry-run",
    operands: "text*",
    why: "removes files from the next commit and keeps them on disk",
  },
  // It deletes a submodule's whole folder, without checking ignored files.
  {
    sub: "rm",
    flags: "-r -q --quiet --ignore-unmatch",
    operands: "write*",
    deletes: true,
    why: "deletes files in the repository, and refuses to delete changed ones",
  },
  {
    sub: "restore",
    flags: "-S -q -s: --staged --quiet --source:",
    needs: "-S --staged",
    operands: "text*",
    why: "unstages changes and keeps the files as they are",
  },
  {
    sub: "reset",
    flags: "-q -N --quiet --soft --mixed --intent-to-add --refresh --no-refresh",
    operands: "text*",
    why: "moves the branch and keeps the files as they are",
  },
  {
    sub: "apply",
    flags: `-3 -R -p: -C: -v -q -N --index --cached --3way --reverse --reject --recount --unidiff-zero
      --whitespace: --check --stat --numstat --summary --exclude: --include: --ignore-whitespace
      --ignore-space-change --intent-to-add --allow-empty --verbose --quiet`,
    operands: "read*",
    picksNames: "patch",
    why: "applies a patch to files",
  },
  {
    sub: "am",
    flags: `-3 -s -k -q -p: -C: --3way --signoff --keep --keep-cr --quiet --whitespace: --continue --quit
      --no-gpg-sign`,
    operands: "read*",
    picksNames: "patch",
    why: "creates commits from patches, which the reflog can undo",
  },
  {
    sub: "format-patch",
    flags: `-# -n -N -s -o> -v: --numbered --no-numbered --signoff --output-directory> --stdout --root
      --cover-letter --subject-prefix: --start-number: --reroll-count: --no-signature --zero-commit`,
    // Otherwise it writes files whose names the commits choose.
    needs: "--stdout",
    operands: "text*",
    why: "prints commits as patches",
  },
  {
    sub: "notes add|notes append",
    flags: "-m: -F< --message: --file<",
    operands: "text?",
    why: "adds a note to a commit",
  },
  {
    sub: "worktree add",
    flags: "-b: -d -q --detach --quiet --checkout --no-checkout --track --no-track --guess-remote",
    operands: "write text?",
    recursive: true,
    why: "creates another working directory",
  },
  {
    sub: "submodule update",
    flags: `-N -j: --init --recursive --remote --no-fetch --depth: --jobs: --recommend-shallow --progress
      --single-branch`,
    operands: "text*",
    why: "fetches submodules",
  },
  { sub: "submodule init", operands: "text*", why: "registers submodules" },
  {
    sub: "bisect start|bisect good|bisect bad|bisect old|bisect new|bisect skip|bisect reset",
    operands: "text*",
    why: "checks out other commits, and refuses if changes would be lost",
  },
  { sub: "gc", flags: "-q --auto --quiet --no-prune --no-detach", why: "packs the objects of the repository" },
];

/** Sub-commands that write files from the repository into the working tree, possibly links. */
const putsFiles =
  /^(checkout|switch|merge|rebase|cherry-pick|stash|pull|clone|reset|apply|am|worktree|submodule|mv|bisect)\b/;

export const gitRows: readonly CommandRow[] = [
  ...gitReadingRows,
  ...writing.map((row): CommandRow => {
    const makesLinks = putsFiles.test(row.sub ?? "") ? { makesLinks: true as const, writesTree: true as const } : {};
    const knownWords = /^(fetch|pull|clone|ls-remote|submodule)\b/.test(row.sub ?? "")
      ? { knownWords: true as const }
      : {};
    return { program: "git", class: "medium", git: true, folder: true, ...makesLinks, ...knownWords, ...row };
  }),
];
