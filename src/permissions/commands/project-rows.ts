import type { CommandRow } from "../command-row.ts";

/**
 * A text for a program that runs code of the project: a name, a pattern, or a file that is plainly in the project. A program
 * may read a text that begins with a dash as a flag, and one in braces as its configuration.
 */
export function projectText(text: string): string | undefined {
  if (text === "" || /^[-{@]/.test(text)) return "may be more than a name";
  // Some options take a path behind a word of their own: `xml:PATH`, `trx;LogFileName=PATH`.
  const pieces = text.split(/[=:;,]/);
  const leavesProject = pieces.some((piece) => /^[/~]|(^|\/)\.\.(\/|$)/.test(piece));
  if (leavesProject || /^(data|file|https?|jsr|node|npm):/i.test(text)) return "may lead out of the project";
  const isProtected = pieces.some((piece) => /(^|\/)\.(git|tinman)(\/|$)/i.test(piece));
  return isProtected ? "may be a protected place" : undefined;
}

type Draft = Pick<CommandRow, "program" | "why"> & Partial<CommandRow>;

/** Rows of programs that run code of the project. The values of their flags, and texts, must be such as `projectText` lets. */
export function projectRows(drafts: readonly Draft[]): readonly CommandRow[] {
  return drafts.map((draft) => ({
    class: "medium",
    folder: true,
    // A folder that they are given is changed with all that is in it, but for what is git's.
    ...(/write/.test(draft.operands ?? "") ? ({ recursive: true, sparesGit: true } as const) : {}),
    script: projectText,
    attached: projectText,
    writesValues: true,
    checkedFlags: (draft.flags ?? "")
      .split(/\s+/)
      .filter((flag) => flag.endsWith(":"))
      .flatMap(
        (flag) =>
          /^-\[(.+)\]:$/
            .exec(flag)?.[1]
            ?.split("")
            .map((letter) => `-${letter}`) ?? [flag.slice(0, -1)],
      )
      .join(" "),
    ...draft,
  }));
}

/**
 * The same calls by programs that start others by their names, as `npx eslint` and `uv run pytest`: for each such program
 * the words that may stand between the two.
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

/** The same calls by the paths where a project keeps such programs. */
export function alsoIn(folders: readonly string[], rows: readonly CommandRow[]): readonly CommandRow[] {
  return rows.map((row) => {
    const paths = row.program.split(" ").flatMap((name) => folders.map((folder) => `${folder}/${name}`));
    return { ...row, program: [row.program, ...paths].join(" ") };
  });
}
