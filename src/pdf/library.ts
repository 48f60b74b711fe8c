import { setImmediate } from "node:timers/promises";

const maxPageCharacters = 2_000_000;

export interface PdfReader {
  readonly pages: number;
  /** A page's text, counted from 1. Rejects if the page is malformed or `stop` is aborted. */
  text(page: number): Promise<string>;
  /** Whether text was left out because its character map is not in the file. */
  lacksTables(): boolean;
  close(): void;
}

/** Takes ownership of the bytes. Rejects if the file is malformed or encrypted (`PasswordException`), or `stop` is aborted. */
export async function openPdfReader(bytes: Uint8Array<ArrayBuffer>, stop: AbortSignal): Promise<PdfReader> {
  const { getDocument } = await import("unpdf/pdfjs");
  let lacksTables = false;

  /** Called for fonts, which text doesn't need, and for character maps that are not in the file. */
  class NoExternalData {
    async fetch({ kind }: { readonly kind: string }): Promise<never> {
      if (kind === "cMapUrl") lacksTables = true;
      throw new Error("Data outside the file is never loaded.");
    }
  }

  const task = getDocument({
    data: bytes,
    BinaryDataFactory: NoExternalData,
    useWorkerFetch: false,
    useSystemFonts: false,
    disableFontFace: true,
    isEvalSupported: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    // It would log to the console.
    verbosity: 0,
  });
  const close = (): void => void task.destroy().catch(() => undefined);

  try {
    const document = await unlessStopped(task.promise, stop);
    return {
      pages: document.numPages,
      async text(number) {
        const page = await unlessStopped(document.getPage(number), stop);
        const reader = page.streamTextContent().getReader();
        let text = "";
        for (;;) {
          // The library may never yield between pages, which would block timers and interrupts.
          await setImmediate();
          const { value, done } = await unlessStopped(reader.read(), stop);
          if (done) break;
          for (const item of value.items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
          if (text.length > maxPageCharacters) throw new Error(`a page has more than ${maxPageCharacters} characters`);
        }
        page.cleanup();
        return tidy(text);
      },
      lacksTables: () => lacksTables,
      close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function unlessStopped<T>(work: Promise<T>, stop: AbortSignal): Promise<T> {
  return new Promise((done, reject) => {
    const onStop = (): void => reject(stop.reason);
    if (stop.aborted) onStop();
    else stop.addEventListener("abort", onStop, { once: true });
    work.then(done, reject).finally(() => stop.removeEventListener("abort", onStop));
  });
}

function tidy(text: string): string {
  const printable = text.replace(/[^\P{Cc}\n\t]/gu, "");
  const lines = printable.split("\n").map((line) => line.trimEnd());
  return lines
    .join("\n")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
