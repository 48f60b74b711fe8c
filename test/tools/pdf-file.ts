import { constants, deflateRawSync, deflateSync } from "node:zlib";

/** The content between `obj` and `endobj`. */
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

/** One page per content stream. `more`: further objects, from number `4 + 2 * pages.length` on. */
export function pagesPdf(
  pages: readonly Buffer[],
  given: {
    readonly font?: string;
    readonly fonts?: string;
    readonly resources?: string;
    readonly more?: readonly PdfObject[];
  } = {},
): Buffer {
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(" ");
  const resources = `/Font << /F1 3 0 R ${given.fonts ?? ""} >> ${given.resources ?? ""}`;
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

/** Forms that each draw the next one ten times, and the last one a word. Uncompressed, because decompressing yields. */
export function endlessPdf(): Buffer {
  const depth = 12;
  const forms = Array.from({ length: depth }, (_, index) => {
    const next = `/Font << /F1 3 0 R >> /XObject << /X ${6 + index + 1} 0 R >>`;
    const body = index === depth - 1 ? drawn("ha") : "/X Do ".repeat(10);
    return pdfStream(body, `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${next} >>`);
  });
  return pagesPdf([pdfStream("/X Do")], { resources: "/XObject << /X 6 0 R >>", more: forms });
}

/** A font with a repetitive character map: a few kilobytes that take minutes without yielding. */
export function busyPdf(before: readonly string[] = []): Buffer {
  return tablePdf("<0000> <ffff> <0041>", 100_000, before);
}

/** A map with so many characters that it takes gigabytes. */
export function vastTablePdf(): Buffer {
  return tablePdf("<00000000> <00ffffff> <0041>", 50);
}

function tablePdf(range: string, times: number, before: readonly string[] = []): Buffer {
  const table = `begincmap 1 begincodespacerange <00000000> <ffffffff> endcodespacerange\n${`1 beginbfrange\n${range}\nendbfrange\n`.repeat(times)}endcmap`;
  const pages = [...before.map((text) => pdfStream(drawn(text))), pdfStream("BT /F2 12 Tf 72 700 Td (abc) Tj ET")];
  const font = 4 + 2 * pages.length;
  return pagesPdf(pages, {
    fonts: `/F2 ${font} 0 R`,
    more: [`<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode ${font + 1} 0 R >>`, packedStream(table)],
  });
}

/** A compressed page that expands to this many megabytes of spaces. */
export function vastPagePdf(how: "flate" | "spaced" | "hex" | "run-length", megabytes: number): Buffer {
  const packed =
    how === "run-length" ? deflateSync(Buffer.alloc(megabytes * 16_384, "\x81 ", "latin1")) : spaces(megabytes);
  if (how === "run-length") return pagesPdf([pdfStream(packed, "/Filter [/FlateDecode /RunLengthDecode]")]);
  if (how === "hex")
    return pagesPdf([pdfStream(`${packed.toString("hex")}>`, "/Filter [/ASCIIHexDecode /FlateDecode]")]);
  const page = pdfStream(packed, "/Filter /FlateDecode");
  if (how === "flate") return pagesPdf([page]);
  const start = page.indexOf("stream\n") + "stream".length;
  return pagesPdf([Buffer.concat([page.subarray(0, start), Buffer.from("  "), page.subarray(start)])]);
}

/** The same compressed megabyte repeated; after a full flush, nothing depends on earlier data. */
function spaces(megabytes: number): Buffer {
  const one = deflateRawSync(Buffer.alloc(1024 * 1024, " "), { finishFlush: constants.Z_FULL_FLUSH });
  return Buffer.concat([Buffer.from([0x78, 0xda]), ...Array<Buffer>(megabytes).fill(one), Buffer.from([0x03, 0x00])]);
}
