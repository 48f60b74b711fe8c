import type { ImageBlock } from "../core/message.ts";
import type { Files } from "../core/ports.ts";
import type { LineWindow } from "./line-window.ts";
import { type NotebookPicture, renderNotebook } from "./notebook.ts";
import { checkImage } from "./read-image.ts";
import { sizeWords } from "./size-words.ts";
import { decodeExactly, readWhole } from "./text-file.ts";

const mostBytes = 50 * 1024 * 1024;
const mostPictures = 4;
/** All of a result is one record of the log, and that may have 16 MiB. */
const mostPictureCharacters = 10 * 1024 * 1024;

export interface NotebookText {
  readonly header: string;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** The pictures that the lines of this window name, as many as may go with one result, and words about the others. */
  picturesIn(
    window: LineWindow,
    skip: number,
  ): { readonly media: readonly ImageBlock[]; readonly notes: readonly string[] };
}

/** A notebook as text. Words say why it is none: then it is a text file like any other. */
export async function openNotebook(files: Files, path: string): Promise<NotebookText | string> {
  const bytes = await readWhole(files, path, mostBytes);
  if (bytes === undefined) return `it has more than ${sizeWords(mostBytes)}`;
  const json = decodeExactly(bytes);
  if (json === undefined) return "it is not UTF-8";
  const notebook = renderNotebook(json.startsWith("\uFEFF") ? json.slice(1) : json);
  if (typeof notebook === "string") return notebook;
  const { cells, language, text, pictures } = notebook;
  const about = `${cells === 1 ? "1 cell" : `${cells} cells`}${language === "" ? "" : `, ${language}`}`;
  return {
    header: `[Notebook, ${about}: rendered, not the file's own text. Edit changes the raw JSON, which Grep and Execute show.]`,
    pieces: once(text === "" ? "" : `${text}\n`),
    picturesIn: (window, skip) => choosePictures(pictures, skip, skip + window.lines.length),
  };
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

function choosePictures(
  pictures: readonly NotebookPicture[],
  from: number,
  to: number,
): { readonly media: readonly ImageBlock[]; readonly notes: readonly string[] } {
  const media: ImageBlock[] = [];
  const labels: string[] = [];
  const damaged: string[] = [];
  let characters = 0;
  let left = 0;
  let firstLeft = 0;
  for (const { line, label, data } of pictures) {
    if (line < from || line >= to) continue;
    const hasRoom = media.length < mostPictures && characters + data.length <= mostPictureCharacters;
    if (!hasRoom) {
      if (left === 0) firstLeft = line;
      left += 1;
      continue;
    }
    const image = checkImage(Buffer.from(data, "base64"));
    if ("why" in image) {
      damaged.push(`${label} (${image.why})`);
      continue;
    }
    characters += image.block.data.length;
    labels.push(label);
    media.push(image.block);
  }
  const notes: string[] = [];
  if (media.length > 0) notes.push(`[With this: ${labels.join(", ")}.]`);
  if (damaged.length > 0)
    notes.push(`[Not shown: ${damaged.slice(0, 5).join("; ")}${damaged.length > 5 ? "; …" : ""}.]`);
  if (left > 0) notes.push(`[${left} more of these images are left out: Read with offset ${firstLeft} to see them.]`);
  return { media, notes };
}
