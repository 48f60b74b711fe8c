import { createDeflate, deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { Host } from "../../src/core/ports.ts";
import { readTool } from "../../src/tools/read.ts";
import { openPdf } from "../../src/tools/read-pdf.ts";
import { sizeWords } from "../../src/tools/size-words.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";
import { call, createContext } from "./call.ts";
import { drawn, packedStream, pagesPdf, pdfOf, pdfStream } from "./pdf-file.ts";

async function read(bytes: Buffer, input: object = {}) {
  const context = createContext(createMemoryHost({ "/project/a.pdf": bytes }));
  const output = await call(readTool, { file_path: "a.pdf", ...input }, context);
  expect([...context.seenFiles]).toEqual([]);
  return output;
}

const header = (pages: string, bytes: Buffer) =>
  `[PDF, ${pages}, ${sizeWords(bytes.length)}: its text, without pictures and layout.]`;

const cannotBeRead = (why: string) => ({
  status: "failed",
  text: `Error: Error reading file: /project/a.pdf cannot be read as a PDF: ${why}. Execute with pdftotext may still read it.`,
});

/** Forms that each draw the next one ten times over, and the last one a word. Not packed: unpacking would let others have their turn. */
function endless(): Buffer {
  const depth = 12;
  const forms = Array.from({ length: depth }, (_, index) => {
    const next = `/Font << /F1 3 0 R >> /XObject << /X ${6 + index + 1} 0 R >>`;
    const body = index === depth - 1 ? drawn("ha") : "/X Do ".repeat(10);
    return pdfStream(body, `/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << ${next} >>`);
  });
  return pagesPdf([pdfStream("/X Do")], { resources: "/XObject << /X 6 0 R >>", more: forms });
}

/** Bytes that unpack to so many megabytes of spaces. */
async function packedSpaces(megabytes: number): Promise<Buffer> {
  const deflate = createDeflate({ level: 1 });
  const spaces = Buffer.alloc(1024 * 1024, " ");
  const parts: Buffer[] = [];
  deflate.on("data", (part: Buffer) => parts.push(part));
  for (let index = 0; index < megabytes; index += 1)
    await new Promise<void>((done) => void deflate.write(spaces, () => done()));
  await new Promise<void>((done) => void deflate.end(done));
  await new Promise<void>((done) => (deflate.readableEnded ? done() : deflate.once("end", done)));
  return Buffer.concat(parts);
}

describe("Read of a PDF", () => {
  it("gives the text of each page, packed or not", async () => {
    const bytes = pagesPdf([
      packedStream(drawn("Hello (world)", "second line")),
      pdfStream(drawn("Page two, not packed")),
      packedStream("q Q"),
      packedStream(drawn("the end")),
    ]);
    expect(await read(bytes)).toEqual({
      status: "ok",
      text: [
        header("4 pages", bytes),
        "--- page 1 of 4 ---",
        "Hello (world)",
        "second line",
        "--- page 2 of 4 ---",
        "Page two, not packed",
        "--- page 3 of 4: no text ---",
        "--- page 4 of 4 ---",
        "the end",
        "",
      ].join("\n"),
    });
  });

  it("gives the characters that a font's own table tells", async () => {
    const table = [
      "begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange",
      "2 beginbfchar <0001> <4F60> <0002> <597D> endbfchar endcmap",
    ].join("\n");
    const bytes = pagesPdf([packedStream("BT /F1 12 Tf 72 700 Td <00010002> Tj ET")], {
      font: "<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /Identity-H /DescendantFonts [6 0 R] /ToUnicode 7 0 R >>",
      more: [
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Song /DW 1000 /FontDescriptor 8 0 R /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        packedStream(table),
        "<< /Type /FontDescriptor /FontName /Song /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 880 /Descent -120 /StemV 80 >>",
      ],
    });
    expect(await read(bytes)).toEqual({
      status: "ok",
      text: `${header("1 page", bytes)}\n--- page 1 of 1 ---\n你好\n`,
    });
  });

  it("counts `offset` and `limit` in lines of the text, and reads no page that it need not", async () => {
    const bytes = pagesPdf([
      packedStream(drawn("one", "two")),
      packedStream(drawn("three")),
      packedStream(drawn("four")),
    ]);
    expect(await read(bytes, { offset: 2, limit: 2 })).toEqual({
      status: "ok",
      text: `${header("3 pages", bytes)}\ntwo\n--- page 2 of 3 ---\n\n[Lines 3-4. The text goes on: Read it with offset 4 for what follows.]`,
    });
    expect(await read(bytes, { offset: 5 })).toEqual({
      status: "ok",
      text: `${header("3 pages", bytes)}\n--- page 3 of 3 ---\nfour\n\n[Lines 6-7, the last of the text.]`,
    });
    expect(await read(bytes, { offset: 7 })).toEqual({
      status: "failed",
      text: "Error: Error reading file: offset 7 is past the end: /project/a.pdf has 7 lines.",
    });
  });

  it("reads at most 500 pages and says so", async () => {
    const bytes = pagesPdf(Array.from({ length: 502 }, (_, index) => pdfStream(drawn(`text ${index + 1}`))));
    const { text } = await read(bytes, { offset: 998 });
    expect(text.split("\n").slice(1)).toEqual([
      "--- page 500 of 502 ---",
      "text 500",
      "",
      "[Lines 999-1000, the last of the text.]",
    ]);
    expect(text).toMatch(
      /^\[PDF, 502 pages, [\d.]+ KB: its text, without pictures and layout\. Only its first 500 pages are read: Execute with pdftotext reads others\.\]\n/,
    );
  });

  it("says when there is no text at all", async () => {
    const bytes = pagesPdf([packedStream("0 0 9 9 re f"), packedStream("q Q")]);
    expect(await read(bytes)).toEqual({
      status: "ok",
      text: [
        header("2 pages", bytes),
        "--- page 1 of 2: no text ---",
        "--- page 2 of 2: no text ---",
        "",
        "[There is no text in these pages: they may be scanned. Execute with an OCR program may read them.]",
      ].join("\n"),
    });
  });

  it("loads nothing from outside the file, and says when text is missing for it", async () => {
    const bytes = pagesPdf([packedStream("BT /F1 12 Tf 72 700 Td <c4e3bac3> Tj ET")], {
      font: "<< /Type /Font /Subtype /Type0 /BaseFont /STSong-Light /Encoding /GBK-EUC-H /DescendantFonts [6 0 R] >>",
      more: [
        "<< /Type /Font /Subtype /CIDFontType0 /BaseFont /STSong-Light /DW 1000 /FontDescriptor 7 0 R /CIDSystemInfo << /Registry (Adobe) /Ordering (GB1) /Supplement 2 >> >>",
        "<< /Type /FontDescriptor /FontName /STSong-Light /Flags 4 /FontBBox [0 0 1000 1000] /ItalicAngle 0 /Ascent 880 /Descent -120 /StemV 80 >>",
      ],
    });
    const { fetch } = globalThis;
    const { getBuiltinModule } = process;
    const reached: string[] = [];
    try {
      globalThis.fetch = async (address) => {
        reached.push(`fetch ${String(address)}`);
        throw new Error("no network");
      };
      process.getBuiltinModule = (id: string) => {
        reached.push(id);
        throw new Error("no module");
      };
      expect(await read(bytes)).toEqual({
        status: "ok",
        text: `${header("1 page", bytes)}\n--- page 1 of 1: no text ---\n\n[Text in fonts whose characters are not told in the file is missing. Execute with pdftotext may read it.]`,
      });
    } finally {
      globalThis.fetch = fetch;
      process.getBuiltinModule = getBuiltinModule;
    }
    expect(reached).toEqual([]);
  });

  it("says when a file is encrypted", async () => {
    const secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    const bytes = pdfOf(
      ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"],
      `/ID [<0123> <0123>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${secret}> /U <${secret}> /P -44 >>`,
    );
    expect(await read(bytes)).toEqual({
      status: "failed",
      text: "Error: Error reading file: /project/a.pdf is an encrypted PDF, and its password is not known. Execute with qpdf can make a copy without one.",
    });
  });

  it("has words for what is broken", async () => {
    const whole = pagesPdf([packedStream(drawn("some words"))]);
    expect(await read(Buffer.from("%PDF-1.7\nnothing of the kind"))).toEqual(cannotBeRead("Invalid PDF structure."));
    for (let length = 5; length < whole.length; length += 41) {
      const output = await read(whole.subarray(0, length));
      expect(output.text).toMatch(
        /^(?:Error: Error reading file: \/project\/a\.pdf cannot be read as a PDF: |\[PDF, )/,
      );
    }
  });

  it("refuses a file whose parts unpack to more than they should", async () => {
    const far = pdfStream(await packedSpaces(257), "/Filter /FlateDecode");
    const often = [0, 1, 2, 3].reduce((inner: Buffer) => deflateSync(inner), Buffer.from(drawn("matryoshka")));
    const twice = deflateSync(deflateSync(drawn("packed twice")));
    const filters = (count: number) => `/Filter [${"/FlateDecode ".repeat(count)}]`;
    const why = "a part of it unpacks to more than it should";
    expect(await read(pagesPdf([far]))).toEqual(cannotBeRead(why));
    expect(await read(pagesPdf([pdfStream(often, filters(4))]))).toEqual(cannotBeRead(why));
    const harmless = pagesPdf([pdfStream(twice, filters(2))]);
    expect((await read(harmless)).text).toBe(`${header("1 page", harmless)}\n--- page 1 of 1 ---\npacked twice\n`);
  });

  it("refuses a file of more than 50 MB without reading further", async () => {
    const memory = createMemoryHost({ "/project/a.pdf": "" });
    let read = 0;
    const host: Host = {
      ...memory,
      files: {
        ...memory.files,
        async read(_path, { from = 0, maxBytes }) {
          const piece = Buffer.alloc(Math.min(maxBytes, 8 * 1024 * 1024), from === 0 ? "%PDF-1.7\n" : "x");
          read = Math.max(read, from + piece.length);
          return piece;
        },
      },
    };
    expect(await call(readTool, { file_path: "a.pdf" }, createContext(host))).toEqual({
      status: "failed",
      text: "Error: Error reading file: /project/a.pdf is a PDF of more than 50 MB. Execute with pdftotext may read it.",
    });
    expect(read).toBe(50 * 1024 * 1024 + 1);
  });

  it("gives up on a page without end, and stops in its middle when it is interrupted", async () => {
    const { files } = createMemoryHost({ "/project/a.pdf": endless() });
    const deadline = new AbortController();
    const pdf = await openPdf(files, "/project/a.pdf", new AbortController().signal, deadline.signal);
    const first = pdf.pieces[Symbol.asyncIterator]().next();
    setTimeout(() => deadline.abort(), 50);
    await expect(first).rejects.toThrow(
      "/project/a.pdf is a PDF that takes too long: after 30 seconds page 1 of 1 was being read. Execute with pdftotext may read it.",
    );
    const context = createContext(createMemoryHost({ "/project/a.pdf": endless() }), {
      signal: AbortSignal.timeout(50),
    });
    expect(await call(readTool, { file_path: "a.pdf" }, context)).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
  });
});
