/**
 * Commands that change nothing, by program, sub-command and flags. What does not stand here is not known to be harmless.
 * `flags` must match every word that begins with a dash, `words` (when given) every other one.
 */
export interface ReadOnlyCommand {
  readonly program: string;
  readonly sub?: string;
  readonly flags: RegExp;
  readonly words?: RegExp;
  /** Why it is harmless with these flags. */
  readonly why: string;
}

const none = /^$/;
const gitFlags =
  /^(-s|-b|-p|-u|-\d+|-n\d+|--(short|branch|porcelain|oneline|stat|shortstat|numstat|name-only|name-status|graph|all|decorate|cached|staged|patch|no-color|no-pager|no-ext-diff|no-textconv|max-count=\d+|abbrev-commit|show-current|show-toplevel|git-dir|verify|abbrev-ref|others|modified|exclude-standard))$/;

export const readOnlyCommands: readonly ReadOnlyCommand[] = [
  { program: "pwd", flags: /^-[LP]$/, words: none, why: "prints the folder" },
  {
    program: "ls",
    flags: /^(-[aAbcCdFghHiklLmnNopqrRsStuUvwxX1]+|--(all|almost-all|recursive|human-readable|reverse))$/,
    why: "lists names",
  },
  { program: "cat", flags: /^-[AbeEnstTuv]+$/, why: "prints files" },
  { program: "head", flags: /^(-[qvz]|-n\d*|-c\d*|-\d+)$/, why: "prints the start of files" },
  { program: "tail", flags: /^(-[qvz]|-n\d*|-c\d*|-\d+)$/, why: "prints the end of files, and does not follow them" },
  { program: "wc", flags: /^-[clmLw]+$/, why: "counts" },
  {
    program: "grep",
    flags:
      /^(-[abcEFGhHiIlLnoPqrsvwxyz]+|-[ABCm]\d*|--(count|recursive|ignore-case|line-number|files-with-matches|word-regexp))$/,
    why: "searches",
  },
  { program: "stat", flags: /^-[Lft]+$/, why: "prints what a file is" },
  { program: "file", flags: /^-[bikLz]+$/, why: "guesses file types" },
  { program: "du", flags: /^(-[abchkmsx]+|-d\d+|--max-depth=\d+)$/, why: "adds up sizes" },
  { program: "df", flags: /^-[ahHiklPT]+$/, why: "prints free space" },
  { program: "tree", flags: /^-[adfghipsuD]+$/, why: "lists names as a tree" },
  { program: "basename", flags: none, why: "works on its own words" },
  { program: "dirname", flags: none, why: "works on its own words" },
  { program: "realpath", flags: none, why: "resolves a path" },
  { program: "readlink", flags: /^-[efm]$/, why: "resolves a link" },
  { program: "which", flags: /^-a$/, why: "finds programs" },
  { program: "echo", flags: /^-[neE]+$/, why: "prints its own words" },
  { program: "true", flags: none, words: none, why: "does nothing" },
  { program: "whoami", flags: none, words: none, why: "prints the user" },
  { program: "id", flags: /^-[gGnru]+$/, why: "prints the user and groups" },
  { program: "uname", flags: /^-[amnoprsv]+$/, words: none, why: "prints the system" },
  { program: "hostname", flags: none, words: none, why: "prints the name; with a word it would set it" },
  { program: "date", flags: /^(-u|--utc)$/, words: /^\+/, why: "prints the time; other words would set it" },
  { program: "git", sub: "status", flags: gitFlags, why: "prints the state of the work tree" },
  { program: "git", sub: "log", flags: gitFlags, why: "prints commits" },
  { program: "git", sub: "diff", flags: gitFlags, why: "prints differences" },
  { program: "git", sub: "show", flags: gitFlags, why: "prints a commit" },
  { program: "git", sub: "rev-parse", flags: gitFlags, why: "prints what a name stands for" },
  { program: "git", sub: "ls-files", flags: gitFlags, why: "lists tracked files" },
  {
    program: "git",
    sub: "branch",
    flags: /^(-a|-r|-v|-vv|--list|--all|--show-current)$/,
    words: none,
    why: "lists branches; a word would make one",
  },
];
