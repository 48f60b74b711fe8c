import { createMarkdownWriter, type MarkdownWriter } from "./markdown-writer.ts";

const mostColumns = 20;
/** Further ones are written as paragraphs: a page with so many uses tables for layout. */
const mostTables = 2000;

/** The tables of a page, one at a time: a nested one ends the outer one. */
export function createHtmlTables(page: MarkdownWriter, limit: number) {
  let table: ReturnType<typeof createHtmlTable> | undefined;
  let opened = 0;

  /** A table with blocks in its cells cannot be a Markdown table. */
  function leave(): void {
    const left = table;
    table = undefined;
    left?.giveUp(page);
  }

  return {
    /** The target of text: the open cell, or the page. */
    out: (): MarkdownWriter => table?.cell() ?? page,
    isInCell: (): boolean => table?.cell() !== undefined,
    open(): void {
      leave();
      page.endHeading();
      opened += 1;
      if (opened <= mostTables) table = createHtmlTable(limit);
    },
    openRow(): void {
      if (table === undefined) page.paragraph();
      else table.openRow();
    },
    openCell(columns: number): void {
      if (table === undefined) page.paragraph();
      else table.openCell(columns);
    },
    closeCell: (): void => table?.closeCell(),
    close(): void {
      table?.finish(page);
      table = undefined;
      page.paragraph();
    },
    leave,
    get length() {
      return table?.length ?? 0;
    },
  };
}

/** A table being read. */
function createHtmlTable(limit: number) {
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

  /** The content so far as paragraphs, because the table is for layout. */
  function giveUp(into: MarkdownWriter): void {
    closeCell();
    for (const text of rows.flat()) if (text !== "") into.block(text);
  }

  return {
    openRow(): void {
      closeCell();
      if (rows.at(-1)?.length !== 0) rows.push([]);
    },
    openCell(columns: number): void {
      closeCell();
      const within = columns >= 1 && columns <= mostColumns ? Math.floor(columns) : 1;
      open = { columns: within };
    },
    closeCell,
    /** The target of the open cell's text; `undefined` between cells. */
    cell(): MarkdownWriter | undefined {
      if (open !== undefined) open.writer ??= createMarkdownWriter(limit);
      return open?.writer;
    },
    /** Number of characters. */
    get length() {
      return length + (open?.writer?.length ?? 0);
    },
    giveUp,
    /** As a table. A single column becomes paragraphs. */
    finish(into: MarkdownWriter): void {
      closeCell();
      const filled = rows.filter((row) => row.some((text) => text !== ""));
      const [head, ...body] = filled;
      if (head === undefined) return;
      if (filled.every((row) => row.length === 1)) {
        giveUp(into);
        return;
      }
      const widest = filled.reduce((most, row) => Math.max(most, row.length), 0);
      // Markdown readers count the columns here, and the first row can have fewer.
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
