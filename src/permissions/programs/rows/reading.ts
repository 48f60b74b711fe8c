import type { CommandRow } from "../command-row.ts";
import { readTable, withHelp } from "../command-table.ts";
import { packedEndings } from "./files.ts";
import { machineRows } from "./machine.ts";

/* As in `text.ts`: a flag has `:` only if every version of a program takes the next word as its value. */

const grepFlags = `
  -[abcEFGhHiILlnoPqsTuUvVwxyzZ] -# -A: -B: -C: -e: -f< -m: -D: --regexp: --file< --max-count: --after-context:
  --before-context: --context? --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case
  --invert-match --word-regexp --line-regexp --count --color? --colour? --files-without-match --files-with-matches
  --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label: --line-number
  --initial-tab --null --null-data --text --binary --binary-files: --devices: --line-buffered --no-group-separator
  --group-separator: --include: --exclude: --exclude-from< --exclude-dir:`;

/* Left out: --pre, --pre-glob, --hostname-bin and -z, which start programs. */
const rgFlags = `
  -[abcFhHiILlnNopPqsSuUvwx0.] -A: -B: -C: -d: -e: -E: -f< -g: -j: -m: -M: -r: -t: -T: --after-context: --before-context:
  --context: --auto-hybrid-regex --binary --block-buffered --byte-offset --case-sensitive --color: --colors: --column
  --no-column --context-separator: --no-context-separator --count --count-matches --crlf --dfa-size-limit:
  --encoding: --engine: --field-context-separator: --field-match-separator: --file< --files --files-with-matches
  --files-without-match --fixed-strings --follow --no-follow --glob: --iglob: --glob-case-insensitive --heading --no-heading
  --hidden --no-hidden --ignore-case --ignore-file< --ignore-file-case-insensitive --include-zero --invert-match --json
  --line-buffered --line-number --no-line-number --line-regexp --max-columns: --max-columns-preview --max-count: --max-depth:
  --maxdepth: --max-filesize: --mmap --no-mmap --multiline --multiline-dotall --no-ignore --no-ignore-dot
  --no-ignore-exclude --no-ignore-files --no-ignore-global --no-ignore-messages --no-ignore-parent --no-ignore-vcs
  --no-messages --no-pre --no-require-git --no-unicode --null --null-data --one-file-system --only-matching --passthru
  --passthrough --path-separator: --pcre2 --pretty --quiet --regex-size-limit: --regexp: --replace: --smart-case --sort:
  --sortr: --stats --stop-on-nonmatch --text --threads: --trim --type: --type-add: --type-clear: --type-list --type-not:
  --unrestricted --vimgrep --with-filename --no-filename --word-regexp --pcre2-version`;

/** Left out: -x, -X and -l, which start programs. */
const fdFlags = `
  -[agHIiLpqsuF01] -c: -d: -e: -E: -j: -o: -S: -t: --absolute-path --and: --base-directory< --case-sensitive
  --changed-before: --changed-within: --color: --exact-depth: --exclude: --extension: --fixed-strings --follow --full-path
  --glob --hidden --ignore-case --max-depth: --max-results: --min-depth: --newer: --no-ignore --no-ignore-parent
  --no-ignore-vcs --no-require-git --older: --one-file-system --owner: --path-separator: --print0 --prune --quiet --regex
  --relative-path --search-path< --size: --strip-cwd-prefix? --threads: --type: --unrestricted`;

const plainName = (text: string) => (/^[\w./@+-]+$/.test(text) ? undefined : "is an unusual file name");

/** Only keys and indexes: yq's operators can load other files and the environment. */
const yqPath = (text: string) =>
  /^\.[\w."[\]| -]*$/.test(text) && !/load|env|eval|system/.test(text) ? undefined : "may do more than select values";

const onlyNever = (text: string) => (text === "never" ? undefined : "starts a pager");

const reading = readTable(
  `
  # -I, -T and -w take a value only in some versions, so their value counts as a file.
  read ls dir vdir (read*): lists file names
    anyFlag folder recursive=(-R --recursive) sparesGit followsLinks=(-L --dereference)
    -[aAbBcCdeFfgGhHiIklLmnNoOpPqQrRsStTuUvwxXZ1@] --all --almost-all --author --escape --block-size: --ignore-backups
    --color? --directory --dired --classify? --file-type --format: --full-time --group-directories-first --no-group
    --human-readable --si --dereference-command-line --dereference-command-line-symlink-to-dir --hide: --hyperlink?
    --indicator-style: --inode --ignore: --kibibytes --dereference --numeric-uid-gid --literal --hide-control-chars
    --show-control-chars --quote-name --quoting-style: --reverse --recursive --size --sort: --time: --time-style:
    --tabsize: --width: --context --zero
  read eza exa (read*): lists file names
    folder recursive=(-R -T --recurse --tree) sparesGit followsLinks=(-X --dereference --follow-symlinks)
    -[1aAbBdDfFgGhHiImMnNOrRSTuUxXlZ@] -L: -s: -t: -w: --all --almost-all --oneline --long --grid --across --recurse
    --tree --classify? --color: --colour: --icons? --no-icons --hyperlink --sort: --level: --ignore-glob: --git
    --git-ignore --no-git --group-directories-first --group-directories-last --only-dirs --only-files --list-dirs
    --reverse --binary --bytes --group --smart-group --header --links --inode --modified --accessed --created --changed
    --time: --time-style: --no-permissions --no-filesize --no-user --no-time --numeric --octal-permissions --blocksize
    --total-size --width: --absolute? --dereference --follow-symlinks --git-repos --git-repos-no-status
  # Each of several bundled letters may take a following word, and some of these words are output files.
  read tree (read*): prints a tree of folders
    longDash folder recursive sparesGit followsLinks=-l -a -d -l -f -x -q -N -Q -p -u -g -s -h -D -F -i -A -S -n -C -r
    -t -c -v -U -X -J -L: -P: -I: -H: -T: -aL: -dL: -adL: -daL: -fL: -CL: -ad -da -af -fa -fi -if -ah -sh -hs -aC -Ca
    -dC -ugp -pug --noreport --gitignore --dirsfirst --filesfirst --prune --matchdirs --ignore-case --filelimit:
    --timefmt: --sort: --du --si --inodes --device --charset: --metafirst --nolinks
  # -f and -t take a value only in some versions, so their value counts as a file.
  read stat (read*): prints the size, times and owner of files
    anyFlag -[fFlLnqrstx] -c: --format: --printf: --dereference --file-system --terse --cached:
  read file (read*): detects the type of files
    -[bhiIkLlnNr0] -e: -F: -P: --brief --mime --mime-type --mime-encoding --extension --apple --dereference
    --no-dereference --keep-going --list --no-buffer --no-pad --raw --print0 --separator: --exclude: --exclude-quiet:
    --parameter:
  read du (read*): prints the disk usage of files
    anyFlag folder followsLinks=(-L --dereference) -[0abcDghHIklLmnPrsSx] -d: -B: -t: -X< --max-depth: --all
    --apparent-size --block-size: --bytes --count-links --total --dereference --dereference-args --no-dereference
    --exclude: --exclude-from< --human-readable --si --inodes --null --one-file-system --separate-dirs --summarize
    --threshold: --time? --time-style:
  read df (read*): prints free disk space
    anyFlag -[abghHiIklmnPTY] -B: -t: -x: --all --block-size: --human-readable --si --inodes --local --portability
    --print-type --total --type: --exclude-type: --output? --no-sync
  read basename dirname (text*): prints a path in another form
    anyFlag -a -z -s: --multiple --suffix: --zero
  read realpath readlink (read*): prints a path in another form
    anyFlag -[eEfLmnPqsvz] --relative-to< --relative-base< --canonicalize --canonicalize-existing --canonicalize-missing
    --logical --physical --quiet --silent --strip --no-symlinks --no-newline --verbose --zero
  read pathchk (text*): checks file names
    anyFlag -p -P --portability
  read pwd: prints the working directory
    -L -P --logical --physical
  read which type whereis (text*): prints where programs are
    anyFlag -[abfmPpsStu] --all --skip-alias --skip-functions --skip-dot --skip-tilde
  read grep egrep fgrep (text read*): searches files for a pattern
    scriptFlags=(-e -f --regexp --file) ${grepFlags}
  read grep egrep fgrep (text read*): searches files for a pattern
    scriptFlags=(-e -f --regexp --file) folder recursive=(-r -R -d --recursive --dereference-recursive --directories)
    followsLinks=(-R --dereference-recursive) ${grepFlags} -r -R -d: --recursive --dereference-recursive --directories:
  # Files in the folder decide what it skips, so it may show the content of .git.
  read rg (text read*): searches files for a pattern
    obeysIgnoreFiles scriptFlags=(-e -f --regexp --file --files --type-list --pcre2-version) folder recursive
    followsLinks=(-L --follow) ${rgFlags}
  read ag (text read*): searches files for a pattern
    folder recursive followsLinks=(-f --follow) -[acfFgHilLnoQqsStuUvwW0] -A? -B? -C? -G: -m? --after? --before?
    --context? --ackmate --all-types --case-sensitive --color --nocolor --column --count --depth: --file-search-regex:
    --files-with-matches --files-without-matches --filename --nofilename --fixed-strings --follow --group --nogroup
    --heading --noheading --hidden --ignore: --ignore-case --ignore-dir: --invert-match --literal --max-count? --null
    --numbers --nonumbers --only-matching --silent --skip-vcs-ignores --smart-case --stats --unrestricted --vimgrep
    --width: --word-regexp
  read fd fdfind (text? read*): prints file names
    folder recursive sparesGit followsLinks=(-L --follow) ${fdFlags}
  read tokei (read*): counts lines of code
    folder recursive sparesGit -[CfvV] -c: -e: -n: -o: -s: -t: --columns: --compact --exclude: --files --hidden
    --languages --no-ignore --no-ignore-dot --no-ignore-parent --no-ignore-vcs --num-format: --output: --sort: --types:
    --type: --verbose
  read bat batcat (read*): prints files with syntax highlighting
    scriptFlags=--paging script=onlyNever -[Anpu] -l: -m: -r: -H: --show-all --number --plain --unbuffered --language:
    --map-syntax: --line-range: --highlight-line: --color: --decorations: --italic-text: --style: --tabs: --theme:
    --terminal-width: --wrap: --paging: --file-name: --squeeze-blank --no-config --no-lessopen --list-languages
    --list-themes
  read yq (text read*): prints values from files
    script=yqPath -[CMNPjre] -o: -p: --colors --no-colors --no-doc --prettyPrint --output-format: --input-format:
    --exit-status
  read zcat gzcat bzcat xzcat zstdcat lz4cat (read*): prints compressed files
    suffixes=(${packedEndings}) -q
`,
  { onlyNever, yqPath },
);

export const readingRows: readonly CommandRow[] = [
  ...withHelp(reading),
  ...machineRows,
  ...readTable(
    `
  # It is a shell script, and crafted file names have made it write other files.
  low zgrep (text read): searches a compressed file
    scriptFlags=-e path=plainName -[cEFhHilnoqsvwx] -A: -B: -C: -e: -m:
`,
    { plainName },
  ),
];
