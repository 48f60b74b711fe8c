import type { CommandRow } from "../command-row.ts";
import { type Check, readTable } from "../command-table.ts";

/**
 * Checks a text for a program that runs project code: it must be a name, a pattern, or a file clearly in the project. A
 * program may read a leading dash as a flag, and braces as its configuration.
 */
export function projectText(text: string): string | undefined {
  if (text === "" || /^[-{@]/.test(text)) return "may be more than a name";
  // Some options take a path after a keyword: `xml:PATH`, `trx;LogFileName=PATH`.
  const pieces = text.split(/[=:;,]/);
  const leavesProject = pieces.some((piece) => /^[/~]|(^|\/)\.\.(\/|$)/.test(piece));
  if (leavesProject || /^(data|file|https?|jsr|node|npm):/i.test(text)) return "may lead out of the project";
  const isProtected = pieces.some((piece) => /(^|\/)\.(git|tinman)(\/|$)/i.test(piece));
  return isProtected ? "may be a protected place" : undefined;
}

/** Rows of programs that run project code. `projectText` checks their texts and the values of their flags. */
export function projectRows(table: string, checks: Readonly<Record<string, Check>> = {}): readonly CommandRow[] {
  return readTable(table, checks).map((row) => ({
    folder: true,
    // They change everything in a folder they are given, except `.git`.
    ...(/write/.test(row.operands ?? "") ? ({ recursive: true, sparesGit: true } as const) : {}),
    script: projectText,
    attached: projectText,
    writesValues: true,
    checkedFlags: "*",
    ...row,
  }));
}

/**
 * The same calls through programs that start others, such as `npx eslint` and `uv run pytest`. `starters`: the possible
 * words between the two, per program.
 */
export function startedBy(
  starters: Readonly<Record<string, readonly string[]>>,
  rows: readonly CommandRow[],
): readonly CommandRow[] {
  return Object.entries(starters).flatMap(([program, words]) =>
    rows.map((row) => {
      const tools = row.program.split(" ").filter((tool) => !tool.includes("/"));
      const calls = tools.flatMap((tool) => (row.sub ?? "").split("|").map((sub) => `${tool} ${sub}`.trim()));
      return { ...row, program, sub: words.flatMap((word) => calls.map((call) => `${word} ${call}`.trim())).join("|") };
    }),
  );
}

/** The same calls by the paths of programs installed in the project. */
export function alsoIn(folders: readonly string[], rows: readonly CommandRow[]): readonly CommandRow[] {
  return rows.map((row) => {
    const paths = row.program.split(" ").flatMap((name) => folders.map((folder) => `${folder}/${name}`));
    return { ...row, program: [row.program, ...paths].join(" ") };
  });
}
