import { type ParsedRow, parsedRow } from "./argv.ts";
import type { CommandRow } from "./command-row.ts";
import { buildRows } from "./rows/building.ts";
import { fileRows } from "./rows/files.ts";
import { gitRows } from "./rows/git.ts";
import { harmfulRows } from "./rows/harmful.ts";
import { networkRows } from "./rows/network.ts";
import { packageRows } from "./rows/packages.ts";
import { readingRows } from "./rows/reading.ts";
import { textRows } from "./rows/text.ts";

/** Every known call. Anything else is unknown, and so `high`. */
export const commandRows: readonly CommandRow[] = [
  ...readingRows,
  ...textRows,
  ...fileRows,
  ...gitRows,
  ...buildRows,
  ...packageRows,
  ...networkRows,
  ...harmfulRows,
];

/**
 * Programs that no variable affects in a way that matters, except those dangerous for every program. What they read,
 * write and run depends on their words only.
 */
const readsNoVariables: ReadonlySet<string> = new Set(
  (
    "ls dir vdir stat du df basename dirname realpath readlink pathchk pwd which type whereis tree file grep egrep fgrep cat " +
    "tac rev nl head tail wc cut paste tr sort uniq comm join fold fmt expand unexpand column od hexdump xxd strings cmp diff " +
    "sed awk gawk mawk nawk jq cksum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum base64 base32 touch mkdir " +
    "rmdir cp mv ln rm unlink tee chmod date true false sleep seq expr factor printenv uname hostname whoami id groups tty " +
    "nproc uptime free arch logname users who tput yes"
  ).split(" "),
);

export function ignoresVariables(program: string): boolean {
  return readsNoVariables.has(program);
}

let byProgram: ReadonlyMap<string, readonly CommandRow[]> | undefined;
const parsed = new Map<string, readonly ParsedRow[]>();

/** A program's rows that may fit a call with this first word; `undefined` if the program is unknown. */
export function rowsOf(program: string, first: string | undefined): readonly ParsedRow[] | undefined {
  byProgram ??= grouped();
  const rows = parsed.get(program) ?? byProgram.get(program)?.map(parsedRow);
  if (rows !== undefined) parsed.set(program, rows);
  return rows?.filter(({ subs }) => subs?.some((words) => words[0] === first) ?? true);
}

function grouped(): ReadonlyMap<string, readonly CommandRow[]> {
  const groups = new Map<string, CommandRow[]>();
  for (const row of commandRows) {
    for (const program of row.program.split(" ")) {
      const rows = groups.get(program);
      if (rows === undefined) groups.set(program, [row]);
      else rows.push(row);
    }
  }
  return groups;
}
