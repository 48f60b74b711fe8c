import type { CommandRow } from "./command-row.ts";
import { buildRows } from "./commands/building.ts";
import { fileRows } from "./commands/files.ts";
import { gitRows } from "./commands/git.ts";
import { harmfulRows } from "./commands/harmful.ts";
import { networkRows } from "./commands/network.ts";
import { packageRows } from "./commands/packages.ts";
import { readingRows } from "./commands/reading.ts";
import { textRows } from "./commands/text.ts";

/** Every call that is known. What does not stand here is not known, and so `high`. */
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

let byProgram: ReadonlyMap<string, readonly CommandRow[]> | undefined;

export function rowsOf(program: string): readonly CommandRow[] {
  byProgram ??= grouped();
  return byProgram.get(program) ?? [];
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
