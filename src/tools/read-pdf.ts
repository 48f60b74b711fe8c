import type { Files } from "../core/ports.ts";
import { messageOf } from "./outcome.ts";
import { openPdfReader, type PdfReader } from "./pdf-library.ts";
import { unpacksTooFar } from "./pdf-streams.ts";
import { sizeWords } from "./size-words.ts";
import { readWhole } from "./text-file.ts";

const mostBytes = 50 * 1024 * 1024;
const mostPages = 500;
const mostMilliseconds = 30_000;

export interface PdfText {
  /** What is said above the text. */
  readonly header: string;
  /** The text, a page at a time. Pages are read when they are asked for. Rejects as `openPdf` does. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** What is to be said below what was taken of the text. */
  notes(): readonly string[];
}

/**
 * The text of a PDF. Rejects with words when it is too large, broken, encrypted, or not read before the `deadline`, and when
 * `signal` is aborted.
 */
export async function openPdf(
  files: Files,
  path: string,
  signal: AbortSignal,
  deadline: AbortSignal = AbortSignal.timeout(mostMilliseconds),
): Promise<PdfText> {
  const bytes = await readWhole(files, path, mostBytes);
  if (bytes === undefined)
    throw new Error(`${path} is a PDF of more than ${sizeWords(mostBytes)}. Execute with pdftotext may read it.`);
  const fileSize = bytes.length;
  const stop = AbortSignal.any([signal, deadline]);

  const inWords = <T>(work: Promise<T>, place: string): Promise<T> =>
    work.catch((error: unknown) => {
      signal.throwIfAborted();
      throw new Error(deadline.aborted ? tooSlow(path, place) : unreadable(path, error));
    });

  const reader = await inWords(openSafely(bytes, stop), "its beginning");
  const { pages } = reader;
  const taken = Math.min(pages, mostPages);
  let emptyPages = 0;

  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (let page = 1; page <= taken; page += 1) {
        const text = await inWords(reader.text(page), `page ${page} of ${pages}`);
        if (text === "") emptyPages += 1;
        const mark = `--- page ${page} of ${pages}${text === "" ? ": no text" : ""} ---`;
        yield Buffer.from(text === "" ? `${mark}\n` : `${mark}\n${text}\n`);
      }
    } finally {
      reader.close();
    }
  }

  return {
    header: headerOf(pages, taken, fileSize),
    pieces: pieces(),
    notes: () => notesOn(reader, emptyPages === taken),
  };
}

async function openSafely(bytes: Uint8Array, stop: AbortSignal): Promise<PdfReader> {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (await unpacksTooFar(file, stop)) throw new Error("a part of it unpacks to more than it should");
  // The library refuses Node's buffers.
  return openPdfReader(new Uint8Array(bytes), stop);
}

function headerOf(pages: number, taken: number, bytes: number): string {
  const size = `${pages === 1 ? "1 page" : `${pages} pages`}, ${sizeWords(bytes)}`;
  const part = taken < pages ? ` Only its first ${taken} pages are read: Execute with pdftotext reads others.` : "";
  return `[PDF, ${size}: its text, without pictures and layout.${part}]`;
}

function notesOn(reader: PdfReader, isEmpty: boolean): readonly string[] {
  const notes: string[] = [];
  if (reader.lacksTables())
    notes.push(
      "[Text in fonts whose characters are not told in the file is missing. Execute with pdftotext may read it.]",
    );
  else if (isEmpty)
    notes.push("[There is no text in these pages: they may be scanned. Execute with an OCR program may read them.]");
  return notes;
}

function tooSlow(path: string, place: string): string {
  return `${path} is a PDF that takes too long: after ${mostMilliseconds / 1000} seconds ${place} was being read. Execute with pdftotext may read it.`;
}

function unreadable(path: string, error: unknown): string {
  if (error instanceof Error && error.name === "PasswordException")
    return `${path} is an encrypted PDF, and its password is not known. Execute with qpdf can make a copy without one.`;
  return `${path} cannot be read as a PDF: ${messageOf(error)}. Execute with pdftotext may still read it.`;
}
