import type { PdfPart } from "../core/ports.ts";
import { openPdfReader, type PdfReader } from "./library.ts";

/**
 * What `Host.pdfPages` promises, read in this process and without its bounds: a hostile file can keep a process busy for
 * minutes and take all memory, so nothing but a process of its own may use this on files that are not trusted.
 */
export async function* readPdfPages(
  bytes: Uint8Array,
  mostPages: number,
  signal: AbortSignal,
): AsyncGenerator<PdfPart, void> {
  let reader: PdfReader | undefined;
  try {
    // The library refuses Node's buffers, and keeps what it is given.
    reader = await openPdfReader(new Uint8Array(bytes), signal);
    yield { type: "opened", pages: reader.pages };
    for (let page = 1; page <= Math.min(reader.pages, mostPages); page += 1) {
      const text = await reader.text(page);
      yield { type: "page", text, lacksTables: reader.lacksTables() };
    }
  } catch (error) {
    signal.throwIfAborted();
    const encrypted = error instanceof Error && error.name === "PasswordException";
    yield { type: "failed", encrypted, message: error instanceof Error ? error.message : String(error) };
  } finally {
    reader?.close();
  }
}
