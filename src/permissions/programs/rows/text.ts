import type { CommandRow } from "../command-row.ts";
import { readTable, withHelp } from "../command-table.ts";
import { awkProgram } from "../scripts/awk.ts";
import { sedScript } from "../scripts/sed.ts";

/*
 * A flag has `:` only if every version of a program takes the next word as its value, because in the others that word
 * is a file. For the same reason, programs that accept no flags after their first file have `<` for values.
 */

/** A leading plus marks a pager command, and a leading at sign a file with further arguments. */
function noCommand(text: string): string | undefined {
  return /^\\?[+@]|^[*?[]/.test(text) ? "may not be a plain file" : undefined;
}

/** Some versions accept a file as a character set. */
function charset(text: string): string | undefined {
  return /^[\w.:+-]+(\/\/(TRANSLIT|IGNORE|NON_IDENTICAL_DISCARD)?)*$/i.test(text) ? undefined : "may name a file";
}

/** Modules can be loaded from anywhere, but only at the start of a program. */
function jqProgram(text: string): string | undefined {
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

/** On other systems `-i` takes the next word as a backup extension, and the word after it as the script. */
const inPlace = process.platform === "linux" ? "-i -Ei -ri -ni -nEi -nri --in-place" : "";

/** Some versions read an empty word as the backup extension. */
function changingScript(text: string): string | undefined {
  return text === "" ? "may not be the script" : sedScript(text);
}

export const textRows: readonly CommandRow[] = withHelp(
  readTable(
    `
  read cat (read*): prints files
    anyFlag -[AbeElnstTuv] --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs
    --show-nonprinting
  read tac (read*): prints lines in reverse order
    anyFlag -b -r -s: --before --regex --separator:
  read rev (read*): prints its input in another layout
    anyFlag -0 --zero
  read nl (read*): prints lines with their numbers
    anyFlag -p -b: -d: -f: -h: -i: -l: -n: -s: -v: -w: --body-numbering: --section-delimiter: --footer-numbering:
    --header-numbering: --line-increment: --join-blank-lines: --number-format: --no-renumber --number-separator:
    --starting-line-number: --number-width:
  read head (read*): prints the start of files
    anyFlag -# -n: -c: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated
  read tail (read*): prints the end of files
    anyFlag -# -n: -c: -q -r -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated
  read wc (read*): counts lines, words and characters
    anyFlag -[clmwL] --bytes --chars --lines --words --max-line-length --total:
  read cut (read*): prints parts of its input
    anyFlag -n -s -w -z -b: -c: -d: -f: --bytes: --characters: --delimiter: --fields: --complement --only-delimited
    --output-delimiter: --zero-terminated
  read tr (text*): prints its input with characters replaced or removed
    anyFlag -[cCdstu] --complement --delete --squeeze-repeats --truncate-set1
  read paste (read*): prints lines of files side by side
    anyFlag -s -z -d: --delimiters: --serial --zero-terminated
  read join (read read): prints matching lines of two files, joined
    -i -z -a: -e: -j: -o: -t: -v: -1: -2: --ignore-case --check-order --nocheck-order --header --zero-terminated
  read comm (read read): prints which lines two files have in common
    -[123iz] --check-order --nocheck-order --output-delimiter: --total --zero-terminated
  read fold (read*): prints its input in another layout
    anyFlag -# -b -s -w: --bytes --spaces --width:
  read fmt (read*): prints its input in another layout
    anyFlag -# -c -s -u -w: --crown-margin --tagged-paragraph --split-only --uniform-spacing --width: --goal: --prefix:
  read pr (read*): prints its input in another layout
    -# -[dmtT] -h: -l: -w:
  read expand unexpand (read*): prints its input with tabs as spaces, or the reverse
    anyFlag -# -a -i -t: --initial --all --first-only --tabs:
  read column (read*): prints its input in another layout
    anyFlag -[txdeLJ] -c: -s: -o: -N: -R: -H: -T: -W: -E: -O: --table --separator: --output-separator: --output-width:
    --table-columns: --table-columns-limit: --table-right: --table-hide: --table-truncate: --table-wrap:
    --table-noextreme: --table-order: --table-name: --table-noheadings --table-header-repeat --keep-empty-lines
    --fillrows --json
  read sort (read*): prints lines in sorted order
    ${sortFlags}
  # A second operand would be written.
  read uniq (read?): prints lines without adjacent duplicates
    -[cdDiuz] -f: -s: -w: --count --repeated --all-repeated? --group? --unique --ignore-case --skip-fields:
    --skip-chars: --check-chars: --zero-terminated
  read shuf (read*): prints lines in random order
    -[erz] -i: -n: --echo --repeat --zero-terminated --input-range: --head-count: --random-source<
  read tsort (read?): prints names in topological order
  read numfmt (text*): prints numbers in another format
    anyFlag -z -d: --delimiter: --from: --to: --from-unit: --to-unit: --round: --suffix: --format: --field: --padding:
    --grouping --header? --invalid: --debug --zero-terminated
  read envsubst (text?): prints its input with variables substituted
    -v --variables
  read bc (read*): calculates
    -[lqsw] --mathlib --quiet --standard --warn
  # Some versions write to a file with -o.
  read base64 base32 (read?): encodes or decodes a file, and prints the result
    -d -D -i -w: -b: --decode --ignore-garbage --wrap:
  read md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum cksum sum (read*): prints checksums of files
    anyFlag -b -t -z -s -r -l: -a: --binary --text --tag --zero --length: --algorithm: --untagged --sysv
  read md5 sha1 sha256 sha512 (read*): prints checksums of files
    anyFlag -q -r -s:
  read od (read*): prints bytes of files as numbers
    anyFlag -[abcdfilosvx] -A: -j: -N: -t: -w? --address-radix: --skip-bytes: --read-bytes: --format: --strings?
    --width? --output-duplicates --endian: --traditional
  read hexdump hd (read*): prints bytes of files as numbers
    anyFlag -[bcCdovxX] -e: -f< -n: -s: -L? --one-byte-octal --one-byte-char --canonical --two-bytes-decimal
    --two-bytes-octal --two-bytes-hex --color? --format: --format-file< --length: --skip: --no-squeezing
  # It writes its second operand, and reads a flag after the first one as an operand. Flags cannot be bundled.
  read xxd: prints bytes of files as numbers
    longDash -a -b -d -e -E -i -p -ps -plain -u -v -autoskip -bits -include -postscript -upper -r -c: -cols: -g:
    -groupsize: -l: -len: -n: -name: -o: -s: -seek:
  read xxd (read): prints bytes of files as numbers
  read xxd [-a|-b|-d|-e|-E|-i|-p|-ps|-plain|-u] (read): prints bytes of files as numbers
  read xxd [-l|-len|-c|-cols|-g|-s|-seek|-o|-p -l|-p -c|-p -s|-ps -l|-b -l|-b -c|-u -l|-u -c] (text read):
    prints bytes of files as numbers
    script=number
  read iconv (read*): prints its input in another encoding
    scriptFlags=(-f -t --from-code --to-code) script=charset -c -l -s -f: -t: --from-code: --to-code: --list --silent
  read jq (text read*): prints parts of a JSON document
    script=jqProgram ${jqFlags} --build-configuration
  # Of a folder it compares the files in it.
  read diff (read read): compares files
    recursive followsLinks ${diffFlags}
  read diff (read read): compares folders
    recursive followsLinks=(-r --recursive) ${diffFlags} -r --recursive
  read diff3 (read read read): compares three files
    -[3aAeEimTxX] -L: --text --merge --show-all --show-overlap --easy-only --label: --initial-tab --strip-trailing-cr
  read cmp (read read? text? text?): compares the bytes of files
    -[blsx] -i: -n: --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent
  read sed gsed (text read*): runs a sed script that only prints
    scriptFlags=(-e --expression) script=sedScript -[nErsuz] -e: ${sedFlags}
  # It reads flags after its program as files. A slash as a field separator is not the root folder.
  read awk gawk mawk nawk (text read*): runs an awk program that only prints
    script=awkProgram path=plainFile longDash -F/ -v<
  read awk gawk mawk nawk [-F /] (text read*): runs an awk program that only prints
    script=awkProgram path=plainFile -v<
  read awk gawk mawk nawk (text read*): runs an awk program that only prints
    script=awkProgram path=plainFile -F< -v<
  read less (read*): shows files
    path=noCommand -[eEFgGiIKmMnNqrRsSX]
  read more (read*): shows files
    path=noCommand -d -s
  read strings (read*): prints parts of its input
    path=noCommand -[afow] -n: -t: -e: --all --bytes: --radix: --encoding:
  # Left out below: plug-ins, source lines (a binary names the files), and debug files, which may be fetched.
  read nm (read*): prints the symbols of a binary
    path=noCommand -[aABCDgjnopPrSsuvW] -f: -t: --demangle? --no-demangle --debug-syms --dynamic --defined-only
    --extern-only --undefined-only --no-weak --no-sort --numeric-sort --reverse-sort --size-sort --print-size
    --print-armap --print-file-name --format: --radix: --portability --special-syms --synthetic --quiet
  read readelf (read*): prints the structure of a binary
    path=noCommand -[aAcCdDeghIlnrsStTuVW] -x: -p: -R: -j: --all --file-header --segments --program-headers --sections
    --section-headers --section-groups --section-details --headers --symbols --syms --dyn-syms --notes --relocs --unwind
    --dynamic --version-info --arch-specific --archive-index --use-dynamic --hex-dump: --string-dump: --relocated-dump:
    --histogram --demangle? --wide
  read objdump (read*): prints the structure and the instructions of a binary
    path=noCommand -[aCdDfhprRstTwxz] -j: -M: -m: -b: --section: --disassemble? --disassemble-all --disassemble-zeroes
    --disassembler-options: --reloc --dynamic-reloc --syms --dynamic-syms --file-headers --archive-headers
    --section-headers --headers --private-headers --all-headers --full-contents --demangle? --wide --show-raw-insn
    --no-show-raw-insn --no-addresses --prefix-addresses --start-address: --stop-address: --architecture: --target:
  read size (read*): prints the sizes of a binary's sections
    path=noCommand -[ABdotx] --format: --radix: --totals --common
  read ar [t|tv] (read text*): lists the contents of an archive
    path=noCommand
  read otool [-L|-l|-h|-hv|-tV|-tv] (read*): prints the structure of a binary
    path=noCommand
  low sort (read*): writes sorted lines to a file
    needs=(-o --output) ${sortFlags} -o> --output>
  medium tail (read*): keeps printing what is added to files, and never ends
    -# -n: -c: -f -F -q -v -z -s: --lines: --bytes: --quiet --silent --verbose --follow? --retry --pid:
    --sleep-interval:
  low md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum (read*):
    verifies the checksums of files in a list
    -c -q -s -w -a: --check --quiet --status --warn --strict --ignore-missing
  # Text after a bundled -i may be a backup extension, which is part of an output path.
  low sed gsed (text write*): edits files with a script
    scriptFlags=(-e --expression) script=changingScript keepsNames longDash ${inPlace} -i.bak -i.orig -i.old -i.tmp
    -i.backup -i~ -n -E -r -s -u -z -nE -En -nr -e: ${sedFlags}
`,
    { number, charset, jqProgram, sedScript, awkProgram, plainFile, noCommand, changingScript },
  ),
);
