import type { CommandRow } from "../command-row.ts";
import { awkProgram } from "../scripts/awk.ts";
import { sedScript } from "../scripts/sed.ts";

/*
 * A flag has `:` only if every version of a program takes the next word as its value, because in the others that word
 * is a file. For the same reason, programs that accept no flags after their first file have `<` for values.
 */

const checksum = "prints checksums of files";
const cutting = "prints parts of its input";
const shaping = "prints its input in another layout";
const bytes = "prints bytes of files as numbers";

/** A leading plus marks a pager command, and a leading at sign a file with further arguments. */
function noCommand(text: string): string | undefined {
  return /^\\?[+@]|^[*?[]/.test(text) ? "may not be a plain file" : undefined;
}

/** Some versions accept a file as a character set. */
function charset(text: string): string | undefined {
  return /^[\w.:+-]+(\/\/(TRANSLIT|IGNORE|NON_IDENTICAL_DISCARD)?)*$/i.test(text) ? undefined : "may name a file";
}

/** Modules can be loaded from anywhere, but only at the start of a program. */
export function jqProgram(text: string): string | undefined {
  const start = text.trimStart();
  if (start.startsWith("#") || /^(module|import|include)\b/.test(start)) return "may load other files";
  return text.includes("modulemeta") ? "loads another file" : undefined;
}

function number(text: string): string | undefined {
  return /^[+-]?(0x[\da-f]+|\d+)$/i.test(text) ? undefined : "is not a number";
}

const sortFlags = `
  -[bdfgiMhnRrVcCmsuz] -k: -t: -S: --key: --field-separator: --buffer-size: --parallel: --batch-size: --sort: --check? --debug
  --random-source< --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --ignore-nonprinting
  --month-sort --human-numeric-sort --numeric-sort --random-sort --reverse --version-sort --merge --stable --unique
  --zero-terminated`;

const diffFlags = `
  -[0123456789abBcdeEfHiNnpPqsTtuwyZ] -C: -D: -F: -I: -L: -S: -U: -W: -x: -X< --normal --brief --report-identical-files
  --context? --unified? --ed --forward-ed --rcs --side-by-side --width: --left-column --suppress-common-lines
  --show-c-function --show-function-line: --label: --expand-tabs --initial-tab --tabsize: --suppress-blank-empty
  --no-dereference --new-file --unidirectional-new-file --ignore-file-name-case --no-ignore-file-name-case --exclude:
  --exclude-from< --starting-file: --ignore-case --ignore-tab-expansion --ignore-trailing-space --ignore-space-change
  --ignore-all-space --ignore-blank-lines --ignore-matching-lines: --text --strip-trailing-cr --ifdef: --line-format:
  --old-line-format: --new-line-format: --unchanged-line-format: --old-group-format: --new-group-format:
  --unchanged-group-format: --changed-group-format: --minimal --horizon-lines: --speed-large-files --color? --palette:`;

const jqFlags = `
  -[acCehjMnrRsSV] --ascii-output --color-output --compact-output --exit-status --indent: --join-output --monochrome-output
  --null-input --raw-input --raw-output --raw-output0 --seq --slurp --sort-keys --stream --stream-errors --tab --unbuffered --arg::
  --argjson::`;

const sedFlags = `
  --quiet --silent --regexp-extended --separate --unbuffered --null-data --zero-terminated --posix --sandbox --debug --binary
  --line-length: --expression:`;

/** Excludes network connections, and variables that change what the program does. */
function plainFile(text: string): string | undefined {
  return /^\/inet|^(OFMT|CONVFMT|PROCINFO|ARG[VCI]\w*)\b/.test(text) ? "is not a plain file" : undefined;
}

/** awk reads flags after its program as files. A slash as a field separator is not the root folder. */
const awk = {
  program: "awk gawk mawk nawk",
  operands: "text read*",
  script: awkProgram,
  path: plainFile,
  why: "runs an awk program that only prints",
};

/** On other systems `-i` takes the next word as a backup extension, and the word after it as the script. */
const inPlace = process.platform === "linux" ? "-i -Ei -ri -ni -nEi -nri --in-place" : "";

/** Some versions read an empty word as the backup extension. */
function changingScript(text: string): string | undefined {
  return text === "" ? "may not be the script" : sedScript(text);
}

const reading: readonly Omit<CommandRow, "class">[] = [
  {
    program: "cat",
    flags:
      "-[AbeElnstTuv] --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs --show-nonprinting",
    operands: "read*",
    anyFlag: true,
    why: "prints files",
  },
  {
    program: "tac",
    flags: "-b -r -s: --before --regex --separator:",
    operands: "read*",
    anyFlag: true,
    why: "prints lines in reverse order",
  },
  { program: "rev", flags: "-0 --zero", operands: "read*", anyFlag: true, why: shaping },
  {
    program: "nl",
    flags: `-p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --section-delimiter: --footer-numbering:
      --header-numbering: --line-increment: --join-blank-lines: --number-format: --no-renumber --number-separator:
      --starting-line-number: --number-width:`,
    operands: "read*",
    anyFlag: true,
    why: "prints lines with their numbers",
  },
  {
    program: "head",
    flags: "-# -n: -c: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated",
    operands: "read*",
    anyFlag: true,
    why: "prints the start of files",
  },
  {
    program: "tail",
    flags: "-# -n: -c: -q -r -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated",
    operands: "read*",
    anyFlag: true,
    why: "prints the end of files",
  },
  {
    program: "wc",
    flags: "-[clmwL] --bytes --chars --lines --words --max-line-length --total:",
    operands: "read*",
    anyFlag: true,
    why: "counts lines, words and characters",
  },
  {
    program: "cut",
    flags: `-n -s -w -z -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited
      --output-delimiter: --zero-terminated`,
    operands: "read*",
    anyFlag: true,
    why: cutting,
  },
  {
    program: "tr",
    flags: "-[cCdstu] --complement --delete --squeeze-repeats --truncate-set1",
    operands: "text*",
    anyFlag: true,
    why: "prints its input with characters replaced or removed",
  },
  {
    program: "paste",
    flags: "-s -z -d: --delimiters: --serial --zero-terminated",
    operands: "read*",
    anyFlag: true,
    why: "prints lines of files side by side",
  },
  {
    program: "join",
    flags:
      "-i -z -a: -e: -j: -o: -t: -v: -1: -2: --ignore-case --check-order --nocheck-order --header --zero-terminated",
    operands: "read read",
    why: "prints matching lines of two files, joined",
  },
  {
    program: "comm",
    flags: "-[123iz] --check-order --nocheck-order --output-delimiter: --total --zero-terminated",
    operands: "read read",
    why: "prints which lines two files have in common",
  },
  {
    program: "fold",
    flags: "-# -b -s -w: --bytes --spaces --width:",
    operands: "read*",
    anyFlag: true,
    why: shaping,
  },
  {
    program: "fmt",
    flags:
      "-# -c -s -u -w: --crown-margin --tagged-paragraph --split-only --uniform-spacing --width: --goal: --prefix:",
    operands: "read*",
    anyFlag: true,
    why: shaping,
  },
  { program: "pr", flags: "-# -[dmtT] -h: -l: -w:", operands: "read*", why: shaping },
  {
    program: "expand unexpand",
    flags: "-# -a -i -t: --initial --all --first-only --tabs:",
    operands: "read*",
    anyFlag: true,
    why: "prints its input with tabs as spaces, or the reverse",
  },
  {
    program: "column",
    flags: `-[txdeLJ] -c: -s: -o: -N: -R: -H: -T: -W: -E: -O: --table --separator: --output-separator: --output-width:
      --table-columns: --table-columns-limit: --table-right: --table-hide: --table-truncate: --table-wrap: --table-noextreme:
      --table-order: --table-name: --table-noheadings --table-header-repeat --keep-empty-lines --fillrows --json`,
    operands: "read*",
    anyFlag: true,
    why: shaping,
  },
  { program: "sort", flags: sortFlags, operands: "read*", why: "prints lines in sorted order" },
  {
    program: "uniq",
    flags: `-[cdDiuz] -f: -s: -w: --count --repeated --all-repeated? --group? --unique --ignore-case --skip-fields:
      --skip-chars: --check-chars: --zero-terminated`,
    // A second operand would be written.
    operands: "read?",
    why: "prints lines without adjacent duplicates",
  },
  {
    program: "shuf",
    flags: "-[erz] -i: -n: --echo --repeat --zero-terminated --input-range: --head-count: --random-source<",
    operands: "read*",
    why: "prints lines in random order",
  },
  { program: "tsort", operands: "read?", why: "prints names in topological order" },
  {
    program: "numfmt",
    flags: `-z -d: --delimiter: --from: --to: --from-unit: --to-unit: --round: --suffix: --format: --field: --padding:
      --grouping --header? --invalid: --debug --zero-terminated`,
    operands: "text*",
    anyFlag: true,
    why: "prints numbers in another format",
  },
  {
    program: "envsubst",
    flags: "-v --variables",
    operands: "text?",
    why: "prints its input with variables substituted",
  },
  { program: "bc", flags: "-[lqsw] --mathlib --quiet --standard --warn", operands: "read*", why: "calculates" },
  {
    program: "base64 base32",
    // Some versions write to a file with -o.
    flags: "-d -D -i -w: -b: --decode --ignore-garbage --wrap:",
    operands: "read?",
    why: "encodes or decodes a file, and prints the result",
  },
  {
    program: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum",
    flags: "-b -t -z -s -r -l: -a: --binary --text --tag --zero --length: --algorithm: --untagged --sysv",
    operands: "read*",
    anyFlag: true,
    why: checksum,
  },
  { program: "md5 sha1 sha256 sha512", flags: "-q -r -s:", operands: "read*", anyFlag: true, why: checksum },
  {
    program: "od",
    flags: `-[abcdfilosvx] -A: -j: -N: -t: -w? --address-radix: --skip-bytes: --read-bytes: --format: --strings? --width?
      --output-duplicates --endian: --traditional`,
    operands: "read*",
    anyFlag: true,
    why: bytes,
  },
  {
    program: "hexdump hd",
    flags: `-[bcCdovxX] -e: -f< -n: -s: -L? --one-byte-octal --one-byte-char --canonical --two-bytes-decimal --two-bytes-octal
      --two-bytes-hex --color? --format: --format-file< --length: --skip: --no-squeezing`,
    operands: "read*",
    anyFlag: true,
    why: bytes,
  },
  // It writes its second operand, and reads a flag after the first one as an operand. Flags cannot be bundled.
  {
    program: "xxd",
    longDash: true,
    flags: `-a -b -d -e -E -i -p -ps -plain -u -v -autoskip -bits -include -postscript -upper -r -c: -cols: -g: -groupsize:
      -l: -len: -n: -name: -o: -s: -seek:`,
    why: bytes,
  },
  { program: "xxd", operands: "read", why: bytes },
  { program: "xxd", sub: "-a|-b|-d|-e|-E|-i|-p|-ps|-plain|-u", operands: "read", why: bytes },
  {
    program: "xxd",
    sub: "-l|-len|-c|-cols|-g|-s|-seek|-o|-p -l|-p -c|-p -s|-ps -l|-b -l|-b -c|-u -l|-u -c",
    operands: "text read",
    script: number,
    why: bytes,
  },
  {
    program: "iconv",
    flags: "-c -l -s -f: -t: --from-code: --to-code: --list --silent",
    operands: "read*",
    scriptFlags: "-f -t --from-code --to-code",
    script: charset,
    why: "prints its input in another encoding",
  },
  {
    program: "jq",
    flags: `${jqFlags} --build-configuration`,
    operands: "text read*",
    script: jqProgram,
    why: "prints parts of a JSON document",
  },
  {
    program: "diff",
    flags: diffFlags,
    operands: "read read",
    // Of a folder it compares the files in it.
    recursive: true,
    followsLinks: true,
    why: "compares files",
  },
  {
    program: "diff",
    flags: `${diffFlags} -r --recursive`,
    operands: "read read",
    recursive: true,
    followsLinks: "-r --recursive",
    why: "compares folders",
  },
  {
    program: "diff3",
    flags:
      "-[3aAeEimTxX] -L: --text --merge --show-all --show-overlap --easy-only --label: --initial-tab --strip-trailing-cr",
    operands: "read read read",
    why: "compares three files",
  },
  {
    program: "cmp",
    flags: "-[blsx] -i: -n: --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent",
    operands: "read read? text? text?",
    why: "compares the bytes of files",
  },
  {
    program: "sed gsed",
    flags: `-[nErsuz] -e: ${sedFlags}`,
    operands: "text read*",
    scriptFlags: "-e --expression",
    script: sedScript,
    why: "runs a sed script that only prints",
  },
  { ...awk, longDash: true, flags: "-F/ -v<" },
  { ...awk, sub: "-F /", flags: "-v<" },
  { ...awk, flags: "-F< -v<" },
  { program: "less", flags: "-[eEFgGiIKmMnNqrRsSX]", operands: "read*", path: noCommand, why: "shows files" },
  { program: "more", flags: "-d -s", operands: "read*", path: noCommand, why: "shows files" },
  {
    program: "strings",
    flags: "-[afow] -n: -t: -e: --all --bytes: --radix: --encoding:",
    operands: "read*",
    path: noCommand,
    why: cutting,
  },
];

const programs = new Set(reading.flatMap(({ program }) => program.split(" ")));

export const textRows: readonly CommandRow[] = [
  { program: [...programs].join(" "), class: "read", sub: "--help|--version", why: "prints its help or version" },
  ...reading.map((row): CommandRow => ({ ...row, class: "read" })),
  {
    program: "sort",
    class: "low",
    flags: `${sortFlags} -o> --output>`,
    needs: "-o --output",
    operands: "read*",
    why: "writes sorted lines to a file",
  },
  {
    program: "tail",
    class: "medium",
    flags:
      "-# -n: -c: -f -F -q -v -z -s: --lines: --bytes: --quiet --silent --verbose --follow? --retry --pid: --sleep-interval:",
    operands: "read*",
    why: "keeps printing what is added to files, and never ends",
  },
  {
    program: "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum",
    class: "low",
    flags: "-c -q -s -w -a: --check --quiet --status --warn --strict --ignore-missing",
    operands: "read*",
    why: "verifies the checksums of files in a list",
  },
  // Text after a bundled -i may be a backup extension, which is part of an output path.
  {
    program: "sed gsed",
    class: "low",
    longDash: true,
    flags: `${inPlace} -i.bak -i.orig -i.old -i.tmp -i.backup -i~ -n -E -r -s -u -z -nE -En -nr -e: ${sedFlags}`,
    operands: "text write*",
    scriptFlags: "-e --expression",
    script: changingScript,
    keepsNames: true,
    why: "edits files with a script",
  },
];
