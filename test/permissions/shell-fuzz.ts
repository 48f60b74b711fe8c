import { accessClasses } from "../../src/engine/permission.ts";
import { type Random, randomFrom } from "../fakes/seeded-random.ts";
import { pool, rowsOf } from "./shell-pool.ts";

export interface Source extends Random {
  /** Index of the highest class of this program's commands, and of its constructs by their hints. */
  readonly ceiling: number;
  /** Uses constructs of every kind, ignoring their hints. */
  readonly wild: boolean;
  /** Number of further commands allowed. */
  left: number;
}

interface Piece {
  readonly text: string;
  /** A heredoc ends it: only a newline can follow. */
  readonly line?: boolean;
  /** It cannot follow a pipe. */
  readonly first?: boolean;
}

/** The same seed gives the same program. It names no program by path, and writes only to names in its own folder. */
export function programOf(seed: number): string {
  const random = randomFrom(seed);
  const ceiling = random.pick([0, 1, 1, 1, 1, 2, 2, 2, 2, 3]);
  const source: Source = { ...random, ceiling, wild: random.chance(0.1), left: 3 + random.below(9) };
  const start = random.pick(["", "", "", "\n", " \t", "# it's a note $(touch x.txt)\n", "#!/bin/bash\n"]);
  const { text, line } = list(source, 0);
  return start + text + (line ? "\n" : random.pick(["", "", "\n", " ", ";", " # end 'of \"it", "\n\n"]));
}

const special = [..."\"'`$(){}[]<>|&;#!\\\n\t *?~=:,-+@%^/0a\r\0\u200b\u202e\u00e9"];

/** A generated program with a few characters removed, doubled, swapped or inserted. Must not be run. */
export function mutantOf(seed: number): string {
  const random = randomFrom(seed + 7_654_321);
  const chars = [...programOf(seed)];
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const at = random.below(chars.length);
    const here = chars[at] ?? "";
    const next = chars[at + 1] ?? "";
    const change = random.pick<() => unknown>([
      () => chars.splice(at, 1),
      () => chars.splice(at, 1 + random.below(12)),
      () => chars.splice(at, 0, here),
      () => chars.splice(at, 2, next, here),
      () => chars.splice(at, 0, random.pick(special)),
      () => chars.splice(at, 1, random.pick(special)),
      () => chars.splice(at, 0, ...chars.slice(at, at + random.below(30))),
    ]);
    change();
  }
  return chars.join("");
}

/** One or more pieces, joined with separators. */
function list(source: Source, depth: number, most = 4): Piece {
  const count = 1 + source.below(most);
  let { text, line = false, first = false } = piece(source, depth);
  for (let index = 1; index < count; index += 1) {
    const next = piece(source, depth);
    text += (line ? "\n" : between(source, next)) + next.text;
    line = next.line ?? false;
  }
  return { text, line, first };
}

function between(source: Source, next: Piece): string {
  const ends = ["; ", ";", "\n", "\n\n\t", " && ", "&&\n", " || ", " # it's `a` \"note $(touch x.txt)\n", " ;\n"];
  const pipes = next.first ? [] : [" | ", "|", " |\n"];
  const jobs = source.ceiling >= 2 ? [" & ", "&\n"] : [];
  return source.pick([...ends, ...pipes, ...jobs]);
}

/** A list where a bracket follows. */
function inside(source: Source, depth: number, most?: number): string {
  const { text, line } = list(source, depth + 1, most);
  return text + (line ? "\n" : source.pick(["", "", " ", "\n"]));
}

/** A list where a reserved word follows. */
function closed(source: Source, depth: number, most?: number): string {
  const { text, line } = list(source, depth + 1, most);
  return text + (line ? "\n" : source.pick(["; ", ";", "\n", " ;\n "]));
}

function piece(source: Source, depth: number): Piece {
  source.left -= 1;
  if (source.left <= 0 || depth >= 4 || source.chance(0.3)) return { text: simple(source) };
  const allowed = constructs.filter(([hint]) => source.wild || hint <= source.ceiling);
  const [, make] = source.pick(allowed);
  const made = make(source, depth);
  return typeof made === "string" ? { text: made } : made;
}

function words(source: Source): readonly string[] {
  const level = source.chance(0.4) ? source.ceiling : source.below(source.ceiling + 1);
  return source.pick(pool[accessClasses[level] ?? "read"]).split(" ");
}

const gap = (source: Source): string => source.pick([" ", " ", " ", " ", "  ", "\t", " \\\n"]);
/** The words of one row, quoted in random ways, sometimes with a redirection among them. */
export function command(source: Source): string {
  const [name = "", ...rest] = words(source).map((word) => quoteWord(source, word));
  const among = source.chance(0.05) ? [source.pick(["2>&1", ">/dev/null", "</dev/null"])] : [];
  return [name, ...among, ...rest].join(gap(source));
}

const builtins = rowsOf(
  "true, false, :, echo a b, printf '%s\\n' a, x=1, cd ., [ a = b ], echo if then } done, echo [[ a# !",
);

export function simple(source: Source): string {
  if (source.chance(0.1)) return source.pick(builtins);
  const before = source.chance(0.08) ? source.pick(["LC_ALL= ", "TZ=UTC LANG=C ", "2>/dev/null ", "</dev/null "]) : "";
  return before + command(source) + (source.chance(0.25) ? redirection(source) : "");
}

function redirection(source: Source): string {
  const harmless = [
    " 2>&1",
    " 2>/dev/null",
    " >/dev/null",
    ">/dev/null 2>&1",
    " < a.txt",
    " &>/dev/null",
    " 3<a.txt",
    " <&-",
  ];
  const writing = [
    " > o.txt",
    ">>o.txt",
    " 2> 'e r.txt'",
    " >| o.txt",
    " &> o.txt",
    " &>> o.txt",
    " <> n.txt",
    " >& o.txt",
  ];
  return source.pick(source.ceiling >= 2 && source.chance(0.5) ? writing : harmless);
}

function quoteWord(source: Source, word: string): string {
  if (source.chance(0.72)) return word;
  const at = source.below(word.length + 1);
  const [start, rest] = [word.slice(0, at), word.slice(at)];
  if (source.chance(0.03)) return `$"${word}"`;
  return source.pick([
    `'${word}'`,
    `"${word}"`,
    ansiQuoted(source, word),
    `${start}'${rest}'`,
    `"${start}"${rest}`,
    `${start}""${rest}`,
    rest === "" ? word : `${start}\\${rest}`,
    `${start}\\\n${rest}`,
    `"${start}\\\n${rest}"`,
    `${start}${ansiQuoted(source, rest)}`,
  ]);
}

function ansiQuoted(source: Source, text: string): string {
  const known: Readonly<Record<string, string>> = { "'": "\\'", "\\": "\\\\", "\n": "\\n", "\t": "\\t" };
  const chars = [...text].map((char) => {
    const code = char.codePointAt(0) ?? 0;
    if (code > 126 || source.chance(0.75)) return known[char] ?? char;
    const hex = code.toString(16).padStart(2, "0");
    return source.pick([`\\x${hex}`, `\\${code.toString(8).padStart(3, "0")}`, `\\u00${hex}`, `\\U000000${hex}`]);
  });
  return `$'${chars.join("")}'`;
}

function quoteText(source: Source, text: string): string {
  return source.pick([
    `'${text.replaceAll("'", `'\\''`)}'`,
    `'${text.replaceAll("'", `'"'"'`)}'`,
    `"${text.replace(/[\\"$`]/g, "\\$&")}"`,
    ansiQuoted(source, text),
  ]);
}

const backticked = (text: string): string => `\`${text.replace(/[\\`$]/g, "\\$&")}\``;

/** A word whose expansion runs something. */
function expansion(source: Source, depth: number): string {
  if (depth >= 4 || source.left <= 0)
    return source.pick(["a", '"b c"', `\${x}`, "$HOME", "'$(touch x.txt)'", "{a,b}", "\\$x"]);
  const body = inside(source, depth, 2);
  const open = body.startsWith("(") && source.chance(0.7) ? "$( " : "$(";
  const evaluating = source.wild || source.chance(0.05);
  if (evaluating && source.chance(0.2)) return `$((1 + 0${open}${body}>/dev/null)))`;
  if (evaluating) {
    const way = source.pick([":-", ":=", "+", "/a/", "#", "//", "^", ":0:", "@"]);
    return source.pick([
      `\${x${way}${open}${body})}`,
      `"\${x${way}${open}${body})}"`,
      `"\${x${way}'${open}${body})'}"`,
    ]);
  }
  return source.pick([
    `${open}${body})`,
    `"${open}${body})"`,
    `"a 'b' ${open}${body}) c"`,
    `p${open}${body})q`,
    backticked(body),
    `"${backticked(body).replaceAll('"', '\\"')}"`,
    `<(${body})`,
    `{a,${open}${body})}`,
    `"$( # a 'note\n${body})"`,
    `$(\\\n${body})`,
    `$'a\\'b'"${open}${body})"`,
  ]);
}

/** A variable whose value looks known but may have changed. */
function variableUse(source: Source): string {
  const values = source.pick([
    "ls",
    "ls cat",
    "ls touch",
    "'touch e'",
    "{ls,touch}",
    "touchXe",
    "l?",
    "ls $(echo touch)",
    "-n -i",
  ]);
  const use = source.pick(
    rowsOf(`$c e, "$c" e, \${c} e, $c, env $c e, bash -c "$c e", eval "$c e", echo $($c e), git $c, sed $c s a.txt`),
  );
  const change = source.pick(
    rowsOf(`:, :, c=touch, read c <<< touch, printf -v c touch, for c in touch; do :; done, eval c=touch, declare c=touch,
      export c=touch, c=; : \${c:=touch}, (c=touch), IFS=X, unset c, while read c; do break; done <<< touch, true && c=touch,
      mapfile -t c <<< touch, [[ touch =~ t.* ]] && c=$BASH_REMATCH, set -- touch; c=$1, f() { c=touch; }; f, c+=h, c=mkdir ls,
      let c=1, if true; then c=touch; fi, { c=touch; }, case a in a) c=touch;; esac, : \${x:-$((c=1))}, cat <<< "\${c:=touch}"`),
  );
  const body = source.pick([
    `${change}; ${use}`,
    `${use}; ${change}; ${use}`,
    `for i in 1 2; do ${use}; ${change}; done`,
    `while :; do ${change}; break; done; ${use}`,
    `{ ${change}; }; (${use})`,
    use,
  ]);
  return source.pick([
    `for c in ${values}; do ${body}; done`,
    `for c in ${values}; do :; done; ${body}`,
    `c=ls; ${body}`,
  ]);
}

function heredoc(source: Source, depth: number): Piece {
  const end = source.pick(["EOF", "E", "'EOF'", '"E F"', "\\X", "E''", "'\tE'", "' E'", "$'E'", '"E\\F"']);
  const bare = source.chance(0.8) ? end.replace(/['"\\$]/g, "") : end.replace(/['"\\$\s]/g, "");
  const dash = source.chance(0.3) ? "-" : "";
  const body = source.pick([
    `text ${expansion(source, depth + 1)}`,
    'it\'s "text" # no',
    backticked(inside(source, depth, 1)),
  ]);
  const tail = source.chance(0.4) ? source.pick([" && ", " | ", "; "]) + simple(source) : "";
  const tab = dash === "" ? "" : "\t";
  // If only bash ends the heredoc here, this is a command for bash and text for the parser, or the reverse.
  const more = source.chance(0.3) ? `\ntouch x.txt\n${bare}` : "";
  return { text: `cat <<${dash}${end}${tail}\n${tab}${body}\n${tab}${bare}${more}`, line: true };
}

/** Two commands that are harmless alone, but not if a shell loses the separator between them. */
function neighbours(source: Source): Piece {
  const first = source.pick(["find .", "sort a.txt", "sed -n 1p a.txt"]);
  const second = source.pick(["echo -delete", "echo -o x.txt", "printf '%s' -i"]);
  const before = source.chance(0.7) ? `cat <<${source.pick(["E", "'E'", "-E"])}\ntext\nE\n` : "";
  return { text: before + first + source.pick(["; ", " ;\n", "\n", ";", " && ", " | ", " # note\n"]) + second };
}

function functionUse(source: Source, depth: number): string {
  const name = source.pick(["f", "g", "ls", "cat", "make"]);
  const head = source.pick([`${name}() {`, `function ${name} {`, `${name} ()\n{`]);
  return `${head} ${closed(source, depth)}}${source.pick(["; ", "\n"])}${source.chance(0.8) ? name : "true"}`;
}

function carried(source: Source): string {
  const carrier = source.pick([
    ...[
      "env",
      "env LC_ALL=C",
      "nice -n 5",
      "nice",
      "nohup",
      "timeout 5",
      "stdbuf -oL",
      "command",
      "\\command",
      "env -i",
    ],
    ...["time", "exec", "nice -n 5 timeout 5", "env nice"],
  ]);
  const text = `${carrier}${gap(source)}${command(source)}`;
  return carrier === "exec" ? `(${text})` : text;
}

/**
 * The construct's expected class, so that a low ceiling can avoid constructs that are always `high`, and the construct.
 */
const constructs: readonly (readonly [hint: number, make: (source: Source, depth: number) => Piece | string])[] = [
  [0, (s, d) => `echo ${expansion(s, d)}`],
  [0, (s, d) => `echo a ${expansion(s, d)} "b" ${expansion(s, d)}`],
  [0, (s, d) => `printf '%s\\n' ${expansion(s, d)}`],
  [0, (s, d) => `grep -n "a"${expansion(s, d)} a.txt`],
  [0, (s, d) => `( ${inside(s, d)})${s.pick(["", " 2>/dev/null", " </dev/null"])}`],
  [0, (s, d) => `{ ${closed(s, d)}}${s.pick(["", " 2>&1", " >/dev/null"])}`],
  [0, (s, d) => `if ${closed(s, d, 2)}then ${closed(s, d)}fi`],
  [
    0,
    (s, d) => `if ${closed(s, d, 1)}then\n${closed(s, d, 2)}elif ${closed(s, d, 1)}then :\nelse ${closed(s, d, 2)}fi`,
  ],
  [0, (s, d) => `while ${closed(s, d, 1)}do ${closed(s, d, 2)}break; done`],
  [0, (s, d) => `until false; do ${closed(s, d, 2)}break\ndone`],
  [0, (s, d) => `for f in a.txt 'b.txt'; do ${closed(s, d, 2)}done`],
  [0, (s, d) => `for f in ${expansion(s, d)}\ndo ${closed(s, d, 2)}done`],
  [0, (s, d) => `for f in *.txt; do cat "$f"; ${closed(s, d, 1)}done`],
  [0, (s, d) => `case ${expansion(s, d)} in a | b) ${inside(s, d, 1)}\n;;\n(*) ${inside(s, d, 2)}\nesac`],
  [0, (s, d) => `case a in a) ${inside(s, d, 1)}\n;& b) ${inside(s, d, 1)}\n;; esac`],
  [0, (s) => ({ text: `! ${command(s)} | ${simple(s)}`, first: true })],
  [0, (s) => ({ text: `time ${command(s)}`, first: true })],
  [0, (s, d) => `[[ -n ${expansion(s, d)} && a == ${expansion(s, d)} ]]`],
  [0, (s, d) => `[ -n "${backticked(inside(s, d, 1)).replaceAll('"', '\\"')}" ]`],
  [0, (s, d) => `x=${expansion(s, d)}`],
  [0, (s, d) => `x=(a ${expansion(s, d)})`],
  [0, (s, d) => `cat <<< ${expansion(s, d)}`],
  [0, (s, d) => `cat < <(${inside(s, d, 2)})`],
  [0, heredoc],
  [0, heredoc],
  [0, neighbours],
  [0, (s) => `echo ${s.pick(["", "a"])}"$(${neighbours(s).text})"`],
  [0, (s, d) => `cat <(${inside(s, d, 1)}; ${neighbours(s).text})`],
  [0, (s, d) => `bash -c ${quoteText(s, inside(s, d))}`],
  [0, (s, d) => `${s.pick(["sh -c", "bash -lc", "env bash -c"])} ${quoteText(s, inside(s, d))}`],
  [0, (s, d) => `eval ${quoteText(s, inside(s, d))}`],
  [3, (s, d) => `(trap ${quoteText(s, inside(s, d, 2))} EXIT)`],
  [0, (s, d) => `find . -exec bash -c ${quoteText(s, inside(s, d, 2))} \\;`],
  [0, carried],
  [0, carried],
  [0, (s) => `find . -exec ${command(s)} ${s.pick(["\\;", "{} +", "';'"])}`],
  [0, (s) => `${s.pick(["ls", "find .", "git ls-files"])} | xargs ${s.pick(["", "-n 1 ", "-I{} "])}${command(s)}`],
  [1, (s) => `for c in ls ${s.pick(["touch", "mkdir"])}; do ${s.pick(["$c", '"$c"', `\${c}`])} e; done`],
  [1, (s) => `for f in ${s.pick(["x.txt", "a.txt b.txt", "{a,b}.txt", "./*.txt"])}; do touch "$f"; done`],
  [1, variableUse],
  [1, variableUse],
  [2, (s) => `for s in status add log; do git ${s.pick(["$s --oneline", "$s", '"$s"'])}; done`],
  [2, (s) => `FOO=${s.pick(["1", "'a b'", "$(ls)"])} ${command(s)}`],
  [2, (s, d) => `{ ${closed(s, d)}}${redirection(s)}`],
  [2, (s, d) => `( ${inside(s, d, 2)}) &`.concat("\nwait")],
  [3, (s, d) => `${s.pick(["f", "g"])}() { ${closed(s, d, 2)}}`],
  [3, functionUse],
  [3, (s, d) => `select x in a b; do ${closed(s, d, 2)}break; done <<< 1`],
  [3, (s, d) => `coproc { ${closed(s, d, 2)}}; wait`],
  [3, (s, d) => `x[${expansion(s, d)}]=1`],
  [3, (s, d) => ({ text: `bash <<'END'\n${inside(s, d)}\nEND`, line: true })],
  [3, (s, d) => `${s.pick(["sh", "bash -s"])} <<< ${quoteText(s, inside(s, d))}`],
  [3, (s, d) => `echo ${quoteText(s, inside(s, d))} | bash`],
  [3, (s, d) => `source <(echo ${quoteText(s, inside(s, d))})`],
  [3, (s, d) => `shopt -s expand_aliases\nalias ls=${quoteText(s, inside(s, d, 1))}\nls`],
  [3, (s) => `c=${s.pick(["ls", "touch", "make"])}; $c a.txt`],
  [3, (s) => `$(echo ${s.pick(["touch", "ls", "make"])}) x.txt`],
  [3, (s) => `set -- ${command(s)}; "$@"`],
  [3, (s) => `{${words(s).join(",")},}`],
  [3, (s, d) => `trap ${quoteText(s, inside(s, d, 1))} DEBUG; true; trap - DEBUG`],
  [3, (s, d) => `printf -v 'a[$(${inside(s, d, 1).replaceAll("'", "'\\''")})]' x`],
];
