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

interface ProgramRows {
  /** Rows without a sub-command. */
  readonly plain: readonly CommandRow[];
  /** By the sub-command's first word: the rows that may fit, in order. */
  readonly bySub: ReadonlyMap<string, readonly CommandRow[]>;
}

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

let byProgram: ReadonlyMap<string, ProgramRows> | undefined;

export function isKnownProgram(program: string): boolean {
  byProgram ??= grouped();
  return byProgram.has(program);
}

/** A program's rows that may fit a call with this first word. */
export function rowsOf(program: string, first: string | undefined): readonly CommandRow[] {
  byProgram ??= grouped();
  const rows = byProgram.get(program);
  return rows?.bySub.get(first ?? "") ?? rows?.plain ?? [];
}

function grouped(): ReadonlyMap<string, ProgramRows> {
  const groups = new Map<string, CommandRow[]>();
  for (const row of commandRows) {
    for (const program of row.program.split(" ")) {
      const rows = groups.get(program);
      if (rows === undefined) groups.set(program, [row]);
      else rows.push(row);
    }
  }
  return new Map([...groups].map(([program, all]) => [program, indexed(all)]));
}

function indexed(all: readonly CommandRow[]): ProgramRows {
  const firstWords = (row: CommandRow): readonly string[] =>
    row.sub?.split("|").map((words) => words.trim().split(" ")[0] ?? "") ?? [];
  const bySub = new Map<string, CommandRow[]>();
  for (const first of new Set(all.flatMap(firstWords))) bySub.set(first, []);
  for (const row of all) {
    const firsts = row.sub === undefined ? bySub.keys() : new Set(firstWords(row));
    for (const first of firsts) bySub.get(first)?.push(row);
  }
  return { plain: all.filter((row) => row.sub === undefined), bySub };
}
