import type { CommandRow } from "./command-row.ts";

export type Check = (text: string) => string | undefined;

const functions = new Set(["script", "attached", "path", "namedBy"]);
const fields: ReadonlySet<string> = new Set(
  (
    "needs longDash scriptFlags checkedFlags anyFlag folder recursive deletes movesFolders sparesGit followsLinks linksTo " +
    "fillsFolder picksNames textMayBeFile empties writes writesTree writesValues makesLinks keepsNames suffixes " +
    "installed obeys fetches obeysIgnoreFiles showsRemotes showsCommits knownWords"
  ).split(" "),
);

const row = /^(read|low|medium|high) ([^[(:]+)(?:\[([^\]]*)\])?(?: ?\(([^)]*)\))?:\s+(.*)/;
const field = /\s([a-zA-Z]\w*)(?:=(?:\(([^)]*)\)|(\S*)))?(?!\S)/g;

/**
 * Reads rows such as
 *
 *     low sort (read*): writes sorted lines to a file
 *       needs=(-o --output) -[bdf] -o> --output>
 *
 * First the class, the programs, `[the sub-commands]`, `(the operands)` and why. Then, on further lines, the flags and the
 * other fields of a row, as `name` for `true`, `name=word` or `name=(several words)`. The functions among them are named
 * as in `checks`. Lines that start with `#` are comments.
 */
export function readTable(table: string, checks: Readonly<Record<string, Check>> = {}): readonly CommandRow[] {
  const text = table.replace(/^ *#.*\n/gm, "").trim();
  return text.split(/\n +(?=(?:read|low|medium|high) )/).map((block) => readRow(block, checks));
}

function readRow(block: string, checks: Readonly<Record<string, Check>>): CommandRow {
  const found = row.exec(block);
  if (found === null) throw new Error(`Malformed row: ${block}`);
  const [head, accessClass, programs = "", sub, operands, why = ""] = found;
  const others: Record<string, unknown> = {};
  const flags = block.slice(head.length).replace(field, (_, name: string, list?: string, word?: string) => {
    const value = list ?? word;
    if (functions.has(name)) others[name] = checkNamed(value, checks);
    else if (fields.has(name)) others[name] = value ?? true;
    else throw new Error(`Unknown word "${name}" in the row: ${head}`);
    return "";
  });
  return {
    class: accessClass as CommandRow["class"],
    program: programs.trim(),
    ...(sub === undefined ? {} : { sub: sub.replace(/\|\s+/g, "|") }),
    ...(operands === undefined ? {} : { operands }),
    ...(flags.trim() === "" ? {} : { flags }),
    ...others,
    why,
  };
}

function checkNamed(name: string | undefined, checks: Readonly<Record<string, Check>>): Check {
  const check = checks[name ?? ""];
  if (check === undefined) throw new Error(`Unknown check "${name}".`);
  return check;
}

/** The rows, and before them one for printing the help or version of each program. */
export function withHelp(rows: readonly CommandRow[]): readonly CommandRow[] {
  const programs = new Set(rows.flatMap(({ program }) => program.split(" ")));
  const help = { class: "read", sub: "--help|--version", why: "prints its help or version" } as const;
  return [{ ...help, program: [...programs].join(" ") }, ...rows];
}
