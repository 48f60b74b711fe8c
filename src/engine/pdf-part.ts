/** The parts of a PDF: `opened`, its pages in order, and if it was not read to its end, the reason. */
export type PdfPart =
  | { readonly type: "opened"; readonly pages: number }
  | {
      readonly type: "page";
      /** Empty if the PDF has none. */
      readonly text: string;
      /** Text up to here is incomplete, because it needs a character map that is not in the file. */
      readonly lacksTables: boolean;
    }
  /** Last: the rest is malformed, or the PDF needs a password. */
  | { readonly type: "failed"; readonly encrypted: boolean; readonly message: string }
  /** Last: the rest exceeds a limit. */
  | { readonly type: "exceeded"; readonly bound: PdfBound; readonly limit: number };

export type PdfBound = "milliseconds" | "memoryBytes" | "textBytes";
