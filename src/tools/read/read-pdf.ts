import type { PdfPart } from "../../engine/pdf-part.ts";
import type { Host } from "../../engine/ports.ts";
import { shownName } from "../../text/shown-name.ts";
import { readWhole } from "../text-file.ts";
import { sizeWords } from "./size-words.ts";

const mostBytes = 50 * 1024 * 1024;
const mostPages = 500;

interface PdfText {
  /** The note above the text. */
  readonly header: string;
  /** The text, page by page, read on demand. Rejects as `openPdf` does, before the first page. */
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Why the text ends early; `undefined` if it does not. */
  unread(): string | undefined;
  /** Further notes, below the text. */
  notes(): readonly string[];
}

type Stop = Extract<PdfPart, { readonly type: "failed" | "exceeded" }>;

/** The text of a PDF. Rejects with a message if it is too large or unreadable, and if `signal` aborts. */
export async function openPdf(host: Host, path: string, signal: AbortSignal): Promise<PdfText> {
  const bytes = await readWhole(host.files, path, mostBytes);
  if (bytes === undefined)
    throw new Error(
      `${shownName(path)} is a PDF of more than ${sizeWords(mostBytes)}. Execute with pdftotext may read it.`,
    );
  const fileSize = bytes.length;
  const parts = host.pdfPages(bytes, mostPages, signal)[Symbol.asyncIterator]();
  const { value: opened } = await parts.next();
  if (opened?.type !== "opened") {
    await parts.return?.();
    throw new Error(unreadable(shownName(path), isStop(opened) ? opened : nothingCame));
  }
  const { pages } = opened;
  let taken = 0;
  let hasText = false;
  let lacksTables = false;
  let unread: string | undefined;

  async function* pieces(): AsyncGenerator<Uint8Array> {
    try {
      for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
        const part = next.value;
        if (isStop(part) && taken === 0) throw new Error(unreadable(shownName(path), part));
        if (isStop(part)) unread = notToItsEnd(part, `page ${taken + 1} of ${pages}`);
        if (part.type !== "page") return;
        taken += 1;
        hasText ||= part.text !== "";
        lacksTables = part.lacksTables;
        const mark = `--- page ${taken} of ${pages}${part.text === "" ? ": no text" : ""} ---`;
        yield Buffer.from(part.text === "" ? `${mark}\n` : `${mark}\n${part.text}\n`);
      }
    } finally {
      await parts.return?.();
    }
  }

  return {
    header: headerOf(pages, fileSize),
    pieces: pieces(),
    unread: () => unread,
    notes() {
      if (lacksTables) return [tablesMissing];
      return taken === Math.min(pages, mostPages) && !hasText ? [noText] : [];
    },
  };
}

const nothingCame: Stop = { type: "failed", encrypted: false, message: "it has no pages" };

const tablesMissing =
  "[Text in fonts without a character map in the file is missing. Execute with pdftotext may read it.]";
const noText = "[These pages have no text. They may be scanned: Execute with an OCR program may read them.]";

function isStop(part: PdfPart | undefined): part is Stop {
  return part?.type === "failed" || part?.type === "exceeded";
}

function headerOf(pages: number, bytes: number): string {
  const size = `${pages === 1 ? "1 page" : `${pages} pages`}, ${sizeWords(bytes)}`;
  const part =
    mostPages < pages ? ` Only its first ${mostPages} pages are read: Execute with pdftotext reads others.` : "";
  return `[PDF, ${size}: its text, without pictures and layout.${part}]`;
}

function needs({ bound, limit }: Extract<Stop, { readonly type: "exceeded" }>): string {
  if (bound === "milliseconds") return `needs more than ${limit / 1000} seconds`;
  return bound === "memoryBytes"
    ? `needs more than ${sizeWords(limit)} of memory`
    : `has more than ${sizeWords(limit)} of text`;
}

function notToItsEnd(stop: Stop, place: string): string {
  const why =
    stop.type === "exceeded"
      ? `The PDF ${needs(stop)} and was not read to its end. It stopped at ${place}.`
      : `The PDF was not read to its end: ${place} is malformed (${stop.message}).`;
  return `[${why} Execute with pdftotext may read more.]`;
}

function unreadable(path: string, stop: Stop): string {
  if (stop.type === "exceeded")
    return `${path} is a PDF that ${needs(stop)}, and no page of it was read. Execute with pdftotext may read it.`;
  if (stop.encrypted)
    return `${path} is an encrypted PDF, whose password is unknown. Execute with qpdf can make a copy without one.`;
  return `${path} cannot be read as a PDF: ${stop.message}. Execute with pdftotext may still read it.`;
}
