import type { PdfPart } from "../engine/pdf-part.ts";
import { errorMessage } from "../text/values.ts";
import { openPdfReader, type PdfReader } from "./library.ts";

/**
 * `Host.pdfPages` without its limits. A hostile file can use minutes of CPU and all memory, so untrusted files need a separate
 * process.
 */
export async function* readPdfPages(
  bytes: Uint8Array,
  maxPages: number,
  signal: AbortSignal,
): AsyncGenerator<PdfPart, void> {
  let reader: PdfReader | undefined;
  try {
    // The library rejects Node's `Buffer` and keeps the array, so pass a copy.
    reader = await openPdfReader(new Uint8Array(bytes), signal);
    yield { type: "opened", pages: reader.pages };
    for (let page = 1; page <= Math.min(reader.pages, maxPages); page += 1) {
      const text = await reader.text(page);
      yield { type: "page", text, lacksTables: reader.lacksTables() };
    }
  } catch (error) {
    signal.throwIfAborted();
    const encrypted = error instanceof Error && error.name === "PasswordException";
    yield { type: "failed", encrypted, message: errorMessage(error) };
  } finally {
    reader?.close();
  }
}
