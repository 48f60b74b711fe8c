import { deflateSync } from "node:zlib";

/** What stands between `obj` and `endobj`. */
type PdfObject = string | Buffer;

/** A PDF of these objects, numbered from 1; the first is the catalog. */
export function pdfOf(objects: readonly PdfObject[], trailer = ""): Buffer {
  const parts = [Buffer.from("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "latin1")];
  const offsets: number[] = [];
  const size = () => parts.reduce((sum, part) => sum + part.length, 0);
  for (const [index, object] of objects.entries()) {
    offsets.push(size());
    parts.push(Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from("\nendobj\n"));
  }
  const table = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  const start = size();
  parts.push(
    Buffer.from(
      `xref\n0 ${count}\n0000000000 65535 f \n${table}trailer\n<< /Size ${count} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}

export function pdfStream(content: string | Buffer, dictionary = ""): Buffer {
  const body = Buffer.from(content);
  return Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${body.length} >>\nstream\n`),
    body,
    Buffer.from("\nendstream"),
  ]);
}

export function packedStream(content: string | Buffer, dictionary = ""): Buffer {
  return pdfStream(deflateSync(content), `${dictionary} /Filter /FlateDecode`);
}

/** Draws lines of text, from the top of a page down. */
export function drawn(...lines: readonly string[]): string {
  const escaped = lines.map((line) => `(${line.replace(/[()\\]/g, "\\$&")}) Tj 0 -14 Td`);
  return `BT /F1 12 Tf 72 700 Td ${escaped.join(" ")} ET`;
}

const helvetica = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

/** One page for each content stream. `more` are objects that follow, from number `4 + 2 * pages.length` on. */
export function pagesPdf(
  pages: readonly Buffer[],
  given: { readonly font?: string; readonly resources?: string; readonly more?: readonly PdfObject[] } = {},
): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const resources = `/Font << /F1 3 0 R >> ${given.resources ?? ""}`;
  return pdfOf([
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    given.font ?? helvetica,
    ...pages.flatMap((content, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << ${resources} >> /Contents ${5 + 2 * index} 0 R >>`,
      content,
    ]),
    ...(given.more ?? []),
  ]);
}
