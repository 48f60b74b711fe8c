import { stripVTControlCharacters } from "node:util";
import { textStart } from "../../text/text-cut.ts";
import { type Fields, fieldsOf, isRecord } from "../../text/values.ts";

/** A picture in an output. `line`: the rendered line that names it, from 0. */
export interface NotebookPicture {
  readonly line: number;
  readonly label: string;
  /** Base64, as in the file. */
  readonly data: string;
}

interface RenderedNotebook {
  readonly cells: number;
  /** Limit for rendered cells. */
  readonly shownCells: number;
  readonly language: string;
  /** Rendered on demand. */
  readonly lines: Iterable<string>;
  /** Those of the lines so far. */
  readonly pictures: readonly NotebookPicture[];
}

const mostCells = 20_000;
const mostOutputs = 1000;
/** Limit for a source or an output. */
const mostCharacters = 1_000_000;
/** Slightly longer text is not worth cutting, and a cut text with its note is not cut again. */
const mostNoteCharacters = 100;
const mostNames = 20;

const pictureTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
/** The first of these that an output has is shown; the others have the same in another form. */
const readableTypes = ["text/plain", "text/markdown", "text/latex"];

/** The cells of a notebook in order, with their outputs. A string says why the text is not a notebook. */
export function renderNotebook(json: string): RenderedNotebook | string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    return "it is not valid JSON";
  }
  const cells = isRecord(parsed) ? parsed.cells : undefined;
  if (!isRecord(parsed) || !Array.isArray(cells)) return "its JSON has no list of cells, as format 4 has";
  const language = languageOf(parsed);
  const pictures: NotebookPicture[] = [];
  const lines = renderCells(cells, language, pictures);
  return { cells: cells.length, shownCells: Math.min(cells.length, mostCells), language, lines, pictures };
}

/** Appends to `pictures`. */
function* renderCells(cells: readonly unknown[], language: string, pictures: NotebookPicture[]): Generator<string> {
  let line = 0;
  for (const [index, cell] of cells.slice(0, mostCells).entries()) {
    const number = index + 1;
    const fields = fieldsOf(cell);
    const type = typeof fields.cell_type === "string" ? fields.cell_type : "unknown";
    const kind = type === "code" && language !== "" ? `code, ${language}` : type;
    const mark = `--- cell ${number} of ${cells.length} (${kind}) ---`;
    line += yield* counted(index > 0 ? ["", mark] : [mark]);
    line += yield* counted(linesOf(joined(fields.source) ?? ""));
    const outputs: readonly unknown[] = Array.isArray(fields.outputs) ? fields.outputs : [];
    for (const output of outputs.slice(0, mostOutputs)) {
      const shown = showOutput(fieldsOf(output));
      line += yield* counted([`--- output of cell ${number}${shown.name} ---`]);
      line += yield* counted(linesOf(shown.text));
      for (const [mediaType, data] of shown.pictures) {
        const label = `image ${pictures.length + 1}`;
        pictures.push({ line, label, data });
        yield `[${label}: ${mediaType}]`;
        line += 1;
      }
      if (shown.others.length === 0) continue;
      yield `[not shown: ${shown.others.slice(0, mostNames).join(", ")}${shown.others.length > mostNames ? ", …" : ""}]`;
      line += 1;
    }
    if (outputs.length <= mostOutputs) continue;
    yield `[not shown: ${outputs.length - mostOutputs} more outputs of cell ${number}]`;
    line += 1;
  }
}

/** Yields all lines, and returns their number. */
function* counted(lines: Iterable<string>): Generator<string, number> {
  let count = 0;
  for (const line of lines) {
    yield line;
    count += 1;
  }
  return count;
}

interface ShownOutput {
  /** Follows the cell's number. */
  readonly name: string;
  readonly text: string;
  readonly pictures: readonly (readonly [mediaType: string, data: string])[];
  /** Media types that cannot be shown. */
  readonly others: readonly string[];
}

function showOutput(output: Fields): ShownOutput {
  const nothing = { name: "", text: "", pictures: [], others: [] };
  if (output.output_type === "stream") {
    const name = output.name === "stderr" ? " (stderr)" : "";
    return { ...nothing, name, text: plain(joined(output.text) ?? "") };
  }
  if (output.output_type === "error") {
    const traceback = Array.isArray(output.traceback)
      ? output.traceback.filter((line) => typeof line === "string")
      : [];
    const text = traceback.length > 0 ? traceback.join("\n") : `${output.ename ?? "Error"}: ${output.evalue ?? ""}`;
    return { ...nothing, name: " (error)", text: plain(text) };
  }
  const data = fieldsOf(output.data);
  const shownType = readableTypes.find((type) => joined(data[type]) !== undefined);
  const pictures = Object.entries(data).flatMap(([type, value]): [string, string][] => {
    const encoded = pictureTypes.has(type) ? joined(value) : undefined;
    return encoded === undefined ? [] : [[type, encoded]];
  });
  const isShown = shownType !== undefined || pictures.length > 0;
  return {
    ...nothing,
    text: shownType === undefined ? "" : plain(joined(data[shownType]) ?? ""),
    pictures,
    others: isShown ? [] : Object.keys(data),
  };
}

/** A text is a string or a list of its parts. */
function joined(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return undefined;
  return value.every((part) => typeof part === "string") ? value.join("") : undefined;
}

/** As a terminal would show it: without colours, and with only the last state of an overwritten line. */
function plain(text: string): string {
  const lines = stripVTControlCharacters(shortened(text)).split(/\r?\n/);
  return lines.map((line) => line.split("\r").findLast((state) => state !== "") ?? "").join("\n");
}

/**
 * Empty for an empty text, with no extra line after a final line feed. Lines are found one by one, because there can be
 * a million.
 */
function* linesOf(text: string): Generator<string> {
  const short = shortened(text);
  const end = short.endsWith("\n") ? short.length - 1 : short.length;
  if (end === 0) return;
  for (let from = 0; from <= end; ) {
    const feed = short.indexOf("\n", from);
    const to = feed === -1 || feed > end ? end : feed;
    yield short.slice(from, to);
    from = to + 1;
  }
}

function shortened(text: string): string {
  if (text.length <= mostCharacters + mostNoteCharacters) return text;
  const kept = textStart(text, mostCharacters);
  const gap = kept.endsWith("\n") ? "" : "\n";
  return `${kept}${gap}[cut: ${text.length - mostCharacters} more characters]`;
}

function languageOf(notebook: Fields): string {
  const metadata = fieldsOf(notebook.metadata);
  const info = fieldsOf(metadata.language_info);
  const kernel = fieldsOf(metadata.kernelspec);
  const name = info.name ?? kernel.language;
  return typeof name === "string" && /^[\w+#.-]{1,40}$/.test(name) ? name : "";
}
