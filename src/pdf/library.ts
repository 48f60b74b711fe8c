import { setImmediate } from "node:timers/promises";

const mostPageCharacters = 2_000_000;

export interface PdfReader {
  readonly pages: number;
  /** The text of a page, the first being 1. Rejects when the page is broken, or `stop` is aborted. */
  text(page: number): Promise<string>;
  /** Whether text was left out because it needs a table of characters that is not in the file. */
  lacksTables(): boolean;
  close(): void;
}

/** Rejects when the file is broken or encrypted (`PasswordException`), or `stop` is aborted. Takes the bytes over. */
export async function openPdfReader(bytes: Uint8Array<ArrayBuffer>, stop: AbortSignal): Promise<PdfReader> {
  const { getDocument } = await import("unpdf/pdfjs");
  let lacksTables = false;

  /** Asked for what is not in the file: fonts, which text does not need, and tables of characters. */
  class NothingFromOutside {
    async fetch({ kind }: { readonly kind: string }): Promise<never> {
      if (kind === "cMapUrl") lacksTables = true;
      throw new Error("Nothing is loaded from outside the file.");
    }
  }

  const task = getDocument({
    data: bytes,
    BinaryDataFactory: NothingFromOutside,
    useWorkerFetch: false,
    useSystemFonts: false,
    disableFontFace: true,
    isEvalSupported: false,
    useWasm: false,
    enableXfa: false,
    isOffscreenCanvasSupported: false,
    isImageDecoderSupported: false,
    // Its words would go to the console.
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
          // The library may go from page to page without ever waiting; then no timer and no interrupt would come through.
          await setImmediate();
          const { value, done } = await unlessStopped(reader.read(), stop);
          if (done) break;
          for (const item of value.items) if ("str" in item) text += item.hasEOL ? `${item.str}\n` : item.str;
          if (text.length > mostPageCharacters)
            throw new Error(`a page has more than ${mostPageCharacters} characters`);
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
