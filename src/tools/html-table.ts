import { createMarkdownWriter, type MarkdownWriter } from "./markdown-writer.ts";

/** A table while it is read. */
export interface HtmlTable {
  openRow(): void;
  /** Ends the cell before it. */
  openCell(columns: number): void;
  closeCell(): void;
  /** Where the text of the open cell goes; `undefined` between cells. */
  cell(): MarkdownWriter | undefined;
  /** How many characters there are. */
  readonly length: number;
  /** As a table; a single column is not one, and becomes paragraphs. */
  finish(into: MarkdownWriter): void;
  /** What was read so far as paragraphs, because the table is there for its looks. */
  giveUp(into: MarkdownWriter): void;
}

const mostColumns = 20;

export function createHtmlTable(limit: number): HtmlTable {
  const rows: string[][] = [];
  let length = 0;
  let open: { writer?: MarkdownWriter; readonly columns: number } | undefined;

  function closeCell(): void {
    if (open === undefined) return;
    const row = rows.at(-1) ?? [];
    if (rows.length === 0) rows.push(row);
    const text = open.writer?.finish() ?? "";
    row.push(text, ...Array<string>(open.columns - 1).fill(""));
    length += text.length + open.columns * 3;
    open = undefined;
  }

  function giveUp(into: MarkdownWriter): void {
    closeCell();
    for (const text of rows.flat()) if (text !== "") into.block(text);
  }

  return {
    openRow() {
      closeCell();
      if (rows.at(-1)?.length !== 0) rows.push([]);
    },
    openCell(columns) {
      closeCell();
      const within = columns >= 1 && columns <= mostColumns ? Math.floor(columns) : 1;
      open = { columns: within };
    },
    closeCell,
    cell() {
      if (open !== undefined) open.writer ??= createMarkdownWriter(limit);
      return open?.writer;
    },
    get length() {
      return length + (open?.writer?.length ?? 0);
    },
    giveUp,
    finish(into) {
      closeCell();
      const filled = rows.filter((row) => row.some((text) => text !== ""));
      const [head, ...body] = filled;
      if (head === undefined) return;
      if (filled.every((row) => row.length === 1)) {
        giveUp(into);
        return;
      }
      const widest = filled.reduce((most, row) => Math.max(most, row.length), 0);
      // Readers count the columns here, and the first row may have fewer than the others.
      into.block(
        [
          rowLine(head),
          `|${" --- |".repeat(Math.max(head.length, Math.min(widest, mostColumns)))}`,
          ...body.map(rowLine),
        ].join("\n"),
      );
    },
  };
}

function rowLine(cells: readonly string[]): string {
  return `| ${cells.map((text) => text.replaceAll("|", "\\|").replace(/\n+/g, "<br>")).join(" | ")} |`;
}
