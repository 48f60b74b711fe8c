import { setImmediate } from "node:timers/promises";
import { decodeText } from "../../async/long-texts.ts";
import type { Files } from "../../engine/files.ts";
import type { ImageBlock } from "../../engine/message.ts";
import { hasMoreOf } from "../../text/json-size.ts";
import { createPace } from "../pace.ts";
import { readWhole } from "../text-file.ts";
import type { LineWindow } from "./line-window.ts";
import { type NotebookPicture, renderNotebook } from "./notebook.ts";
import { checkImage } from "./read-image.ts";
import { sizeWords } from "./size-words.ts";

/** Limits parsing, which blocks everything else, and keeps a result's pictures within one log record of 16 MiB. */
const mostBytes = 10 * 1024 * 1024;
const mostParts = 200_000;
const pieceCharacters = 16 * 1024;
const mostPictures = 4;

interface NotebookText {
  readonly header: string;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** The pictures named by this window's lines, as many as fit into one result, and notes about the others. */
  picturesIn(
    window: LineWindow,
    skip: number,
  ): { readonly media: readonly ImageBlock[]; readonly notes: readonly string[] };
}

/** A notebook as text. A string says why it is not one; then it is read like any other text file. */
export async function openNotebook(files: Files, path: string): Promise<NotebookText | string> {
  const bytes = await readWhole(files, path, mostBytes);
  if (bytes === undefined) return `it has more than ${sizeWords(mostBytes)}`;
  const json = await decodeText(bytes, createPace());
  if (json === undefined) return "it is not UTF-8";
  await setImmediate();
  // Content separated only by commas needs little memory beyond its text.
  if (hasMoreOf("{[:", json, mostParts)) return `its JSON has more than ${mostParts} parts`;
  const notebook = renderNotebook(json.startsWith("\uFEFF") ? json.slice(1) : json);
  if (typeof notebook === "string") return notebook;
  const { cells, shownCells, language, lines, pictures } = notebook;
  const about = `${cells === 1 ? "1 cell" : `${cells} cells`}${language === "" ? "" : `, ${language}`}`;
  const part = shownCells < cells ? ` Only its first ${shownCells} cells are shown.` : "";
  return {
    header: `[Notebook, ${about}: rendered, not the file's own text. Edit changes the raw JSON, which Grep and Execute show.${part}]`,
    pieces: inPieces(lines),
    picturesIn: (window, skip) => choosePictures(pictures, skip, skip + window.lines.length),
  };
}

async function* inPieces(lines: Iterable<string>): AsyncGenerator<Uint8Array> {
  let piece = "";
  for (const line of lines) {
    piece += `${line}\n`;
    if (piece.length < pieceCharacters) continue;
    yield Buffer.from(piece);
    piece = "";
    // Yields, so that timers and interrupts come through before the last line.
    await setImmediate();
  }
  yield Buffer.from(piece);
}

function choosePictures(
  pictures: readonly NotebookPicture[],
  from: number,
  to: number,
): { readonly media: readonly ImageBlock[]; readonly notes: readonly string[] } {
  const media: ImageBlock[] = [];
  const labels: string[] = [];
  const damaged: string[] = [];
  let left = 0;
  let firstLeft = 0;
  for (const { line, label, data } of pictures) {
    if (line < from || line >= to) continue;
    if (media.length === mostPictures) {
      if (left === 0) firstLeft = line;
      left += 1;
      continue;
    }
    const image = checkImage(Buffer.from(data, "base64"));
    if ("why" in image) {
      damaged.push(`${label} (${image.why})`);
      continue;
    }
    labels.push(label);
    media.push(image.block);
  }
  const notes: string[] = [];
  if (media.length > 0) notes.push(`[With this: ${labels.join(", ")}.]`);
  if (damaged.length > 0)
    notes.push(`[Not shown: ${damaged.slice(0, 5).join("; ")}${damaged.length > 5 ? "; …" : ""}.]`);
  if (left > 0) notes.push(`[${left} more of these images were omitted: Read with offset ${firstLeft} to see them.]`);
  return { media, notes };
}
