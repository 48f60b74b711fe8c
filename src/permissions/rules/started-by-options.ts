/** The words of a simple command; `undefined` for any number of words not known in advance. */
export type Words = readonly (string | undefined)[];

/**
 * Programs, with a sub-command in brackets, and their options whose value is a command to start. `=` stands for words
 * such as `NAME=value`.
 */
const startingOptions = `
  tar gtar bsdtar star: -I -F --to-command --use-compress-program --info-script --new-volume-script --rsh-command --rmt-command
    --checkpoint-action
  cpio pax: --rsh-command
  zip: -TT --unzip-command
  sort gsort: --compress-program
  split gsplit csplit: --filter
  rsync: -e --rsh --rsync-path
  ssh scp sftp sshfs autossh mosh: -o -S -D --ssh
  git[grep]: -O --open-files-in-pager
  git[difftool]: -x --extcmd
  git[rebase]: -x --exec
  git[clone]: -c -u --config --upload-pack
  git[fetch] git[pull] git[ls-remote] git[archive] git[fetch-pack]: --upload-pack --exec --receive-pack
  git[push] git[send-pack]: --receive-pack --exec
  git[send-email]: --sendmail-cmd --smtp-server --to-cmd --cc-cmd --header-cmd
  git[filter-branch]: --setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter
    --tag-name-filter
  git[instaweb]: -d -b --httpd --browser
  hg: --config --ssh --remotecmd
  svn: --diff-cmd --diff3-cmd --editor-cmd --config-option
  rg: --pre --hostname-bin
  ag ack ack-grep: --pager
  bat batcat delta: --pager
  man: -P -H --pager --html
  fzf sk: --preview --bind --history-cmd -c --cmd
  sdiff: --diff-program
  wget: --use-askpass
  tcpdump tshark: -z
  nc ncat netcat: -e -c --exec --sh-exec --lua-exec
  socat: = :
  script: -c --command
  flock su runuser sg newgrp: -c --command
  start-stop-daemon: -x -a --exec --startas
  nodemon: -x --exec
  entr watchexec chokidar: -c --command
  npm pnpm yarn: --script-shell
  npm[exec] npx pnpm[exec]: -c --call --shell-mode
  make gmake: --eval =
  cmake: -D
  meson: -D
  cargo: --config
  go: -exec -toolexec -vettool -overlay
  gcc g++ cc c++ clang clang++: -wrapper -B
  rustc: -C --codegen
  ld: -plugin --plugin
  nix-shell nix: --run --command -c
  strip objcopy nm ar: --plugin
  xterm urxvt alacritty kitty gnome-terminal konsole: -e --command
  systemd-run: -p --property
  apt apt-get aptitude: -o --option
  mail mutt: -e
  openssl: -engine -provider
`;

/** Programs, with their sub-commands in brackets, that start the command after it and this many further words. */
const startingWords = `
  0: git[bisect run] git[submodule foreach] uv[run] uv[tool run] poetry[run] pipenv[run] pdm[run] hatch[run] rye[run] pixi[run] conda[run]
    mamba[run] bundle[exec] npm[exec] npm[x] pnpm[exec] pnpm[dlx] pnpm[x] yarn[exec] yarn[dlx] bun[x] coverage[run] nx[exec]
    lerna[exec] mise[exec] mise[x] asdf[exec] perf[record] perf[stat] tmux[new] tmux[new-session] tmux[new-window]
    tmux[split-window] dotenv[run] direnv[exec] op[run] doppler[run] infisical[run] sops[exec-env] aws-vault[exec]
    vault[exec] opam[exec] dune[exec] stack[exec] cabal[exec] composer[exec] dotnet[exec] rbenv[exec] pyenv[exec] nodenv[exec] cmake[-E env]
    cmake[-E time] snap[run]
  1: rustup[run] ip[netns exec] nvm[exec] fnm[exec] direnv[exec] sops[exec-file] aws-vault[exec] tmux[new] pueue[add] mise[exec]
`;

interface Target {
  readonly program: string;
  readonly sub: readonly string[];
}

/** The lines of a table by program: the targets, and the rest of the line. */
function parsed(
  table: string,
  targetsFirst: boolean,
): ReadonlyMap<string, readonly (Target & { rest: readonly string[] })[]> {
  const found = new Map<string, (Target & { rest: readonly string[] })[]>();
  for (const line of table
    .trim()
    .replace(/\n {4,}/g, " ")
    .split("\n")) {
    const [head = "", ...tail] = line.trim().split(": ");
    const [targets, rest] = targetsFirst ? [head, tail.join(": ")] : [tail.join(": "), head];
    for (const [, program = "", sub] of targets.matchAll(/([^\s[]+)(?:\[([^\]]+)\])?/g)) {
      const entry = { program, sub: sub?.split(" ") ?? [], rest: rest.split(" ") };
      found.set(program, [...(found.get(program) ?? []), entry]);
    }
  }
  return found;
}

let byOption: ReturnType<typeof parsed> | undefined;
let byWords: ReturnType<typeof parsed> | undefined;

/** The position of the words after a sub-command, wherever it is among the flags; -1 without the sub-command. */
function behindSub(words: Words, sub: readonly string[]): number {
  if (sub.length === 0) return 0;
  const at = words.findIndex(
    (word, index) => sub.every((name, offset) => words[index + offset] === name) && word !== "",
  );
  return at === -1 ? -1 : at + sub.length;
}

/** Commands that a program starts because one of its options or sub-commands names them. */
export function startedByOptions(program: string, words: Words): readonly Words[] {
  byOption ??= parsed(startingOptions, true);
  return (byOption.get(program) ?? []).flatMap(({ sub, rest }) => {
    const from = behindSub(words, sub);
    return from === -1 ? [] : rest.flatMap((option) => valuesOf(words.slice(from), option)).flatMap(commandsIn);
  });
}

/** Whether some option of a call could name a command to start. Leaves out the shell for scripts of npm and the like. */
export function mayStartOthers(program: string, words: Words): boolean {
  byOption ??= parsed(startingOptions, true);
  return (byOption.get(program) ?? []).some(
    ({ sub, rest }) => rest[0] !== "--script-shell" && behindSub(words, sub) !== -1,
  );
}

/** The words after a sub-command that runs them, and how many of them come before the command. */
export function wordsBehindSub(
  program: string,
  words: Words,
): readonly { readonly words: Words; readonly own: number }[] {
  byWords ??= parsed(startingWords, false);
  return (byWords.get(program) ?? []).flatMap(({ sub, rest }) => {
    const from = behindSub(words, sub);
    return from === -1 ? [] : [{ words: words.slice(from), own: Number(rest[0]) }];
  });
}

/** Every value that an option may have: attached, or the next word. Bundled letters count, and shortened long names. */
function valuesOf(words: Words, option: string): readonly (string | undefined)[] {
  return words.flatMap((word, at) => {
    if (word === undefined) return [];
    const [name = "", ...rest] = word.split("=");
    const attached = rest.length === 0 ? [] : [rest.join("=")];
    if (option === "=") return /^\w+$/.test(name) ? attached : [];
    if (option === ":") return /^[A-Z]+:/i.test(word) ? [word.slice(word.indexOf(":") + 1)] : [];
    const next = attached.length > 0 || at + 1 >= words.length ? attached : [words[at + 1]];
    if (option.startsWith("--")) return name.length > 3 && option.startsWith(name) ? next : [];
    if (option.length > 2) return name === option || name === `-${option}` ? next : [];
    const letter = option.slice(1);
    // An old bundle of tar has no dash, and its values follow in order.
    if (at === 0 && /^[A-Za-z]+$/.test(word) && word.includes(letter)) return words.slice(1, 4);
    const place = /^-[^-]/.test(word) ? word.indexOf(letter, 1) : -1;
    if (place === -1) return [];
    const behind = word.slice(place + 1);
    return behind === "" ? next : [behind, ...(at + 1 < words.length ? [words[at + 1]] : [])];
  });
}

const keyword = /^(?:!|if|then|else|elif|while|until|do|time|exec|command|builtin|env|\{|&)$/;

/** The commands in a text for a shell, or for a program that splits it into words. */
export function commandsIn(text: string | undefined): readonly Words[] {
  if (text === undefined) return [[undefined]];
  // Behind a setting's name: `exec=curl`, `ProxyCommand=curl`, `!curl`.
  const behind = /^[\w.-]+[=:](.*)$/s.exec(text)?.[1];
  return [text, ...(behind === undefined ? [] : [behind])].flatMap((script) =>
    script.split(/[;&|\n(){}`]+/).flatMap((piece) => {
      const words = piece
        .trim()
        .replace(/^!/, "")
        .split(/\s+/)
        .map((word) => (word.includes("$") ? undefined : word.replace(/['"\\]/g, "")));
      const start = words.findIndex((word) => word !== "" && !keyword.test(word ?? "") && !/^\w+=/.test(word ?? ""));
      return start === -1 ? [] : [words.slice(start)];
    }),
  );
}

/** Programs that run code given in their words or their input. */
const interpreters =
  /^(?:python|pypy|perl|node|nodejs|ruby|irb|php|lua|luajit|rscript|r|julia|deno|bun|tsx|ts-node|vi|vim|nvim|ex|view|rvim|emacs|emacsclient|ed|gdb|lldb|sqlite3|psql|mysql|make|gmake|just|tclsh|wish|expect|osascript|groovy|scala|elixir|iex|erl|ghc|runghc|guile|racket|sbcl|clojure|ocaml|pwsh|powershell|nu|fish|xonsh|elvish|nix|nix-shell|dc|m4|jshell|java|kotlin|swift|crystal|raku|awk)[\d.]*$/;

/** The code that a call gives to an interpreter; `input` if it comes from elsewhere. */
export function codeIn(program: string, words: Words): string | "input" | undefined {
  if (!interpreters.test(program)) return undefined;
  const isCode = (word: string, at: number): boolean =>
    !/^[\w./:@%+,=~-]*$/.test(word) || /^-\w*[ceErp]$|^--(?:eval|execute|print|cmd|command)$/.test(words[at - 1] ?? "");
  const code = words.filter((word, at): word is string => word !== undefined && isCode(word, at));
  const hasFile = words.some((word) => word !== undefined && /^[^-]/.test(word));
  return code.length > 0 || hasFile ? code.join("\n") : "input";
}
