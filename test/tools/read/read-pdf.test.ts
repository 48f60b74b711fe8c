import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { PdfPart } from "../../../src/engine/pdf-part.ts";
import type { Host } from "../../../src/engine/ports.ts";
import { readTool } from "../../../src/tools/read/read.ts";
import { sizeWords } from "../../../src/tools/read/size-words.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";
import { drawn, endlessPdf, packedStream, pagesPdf, pdfOf, pdfStream } from "../pdf-file.ts";

async function read(bytes: Buffer, input: object = {}) {
  const context = createContext(createMemoryHost({ "/project/a.pdf": bytes }));
  const output = await call(readTool, { file_path: "a.pdf", ...input }, context);
  return output;
}

const header = (pages: string, bytes: Buffer) =>
  `[PDF, ${pages}, ${sizeWords(bytes.length)}: its text, without pictures and layout.]`;

const cannotBeRead = (why: string) => ({
  status: "failed",
  text: `Error: Error reading file: /project/a.pdf cannot be read as a PDF: ${why}. Execute with pdftotext may still read it.`,
});

describe("Read of a PDF", () => {
  it("returns the text of each page, compressed or not", async () => {
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

  it("uses a font's own character map", async () => {
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

  it("counts `offset` and `limit` in lines of the text, and reads no unneeded page", async () => {
    const bytes = pagesPdf([
      packedStream(drawn("one", "two")),
      packedStream(drawn("three")),
      packedStream(drawn("four")),
    ]);
    expect(await read(bytes, { offset: 2, limit: 2 })).toEqual({
      status: "ok",
      text: `${header("3 pages", bytes)}\ntwo\n--- page 2 of 3 ---\n\n[Lines 3-4. The text continues: Read it with offset 4 for the rest.]`,
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

  it("reports that there is no text", async () => {
    const bytes = pagesPdf([packedStream("0 0 9 9 re f"), packedStream("q Q")]);
    expect(await read(bytes)).toEqual({
      status: "ok",
      text: [
        header("2 pages", bytes),
        "--- page 1 of 2: no text ---",
        "--- page 2 of 2: no text ---",
        "",
        "[These pages have no text. They may be scanned: Execute with an OCR program may read them.]",
      ].join("\n"),
    });
  });

  it("loads nothing from outside the file, and reports text missing because of that", async () => {
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
        text: `${header("1 page", bytes)}\n--- page 1 of 1: no text ---\n\n[Text in fonts without a character map in the file is missing. Execute with pdftotext may read it.]`,
      });
    } finally {
      globalThis.fetch = fetch;
      process.getBuiltinModule = getBuiltinModule;
    }
    expect(reached).toEqual([]);
  });

  it("reports encryption", async () => {
    const secret = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
    const bytes = pdfOf(
      ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [] /Count 0 >>"],
      `/ID [<0123> <0123>] /Encrypt << /Filter /Standard /V 1 /R 2 /O <${secret}> /U <${secret}> /P -44 >>`,
    );
    expect(await read(bytes)).toEqual({
      status: "failed",
      text: "Error: Error reading file: /project/a.pdf is an encrypted PDF, whose password is unknown. Execute with qpdf can make a copy without one.",
    });
  });

  it("has a message for each malformed file", async () => {
    const whole = pagesPdf([packedStream(drawn("some words"))]);
    expect(await read(Buffer.from("%PDF-1.7\nnothing of the kind"))).toEqual(cannotBeRead("Invalid PDF structure."));
    for (let length = 5; length < whole.length; length += 41) {
      const output = await read(whole.subarray(0, length));
      expect(output.text).toMatch(
        /^(?:Error: Error reading file: \/project\/a\.pdf cannot be read as a PDF: |\[PDF, )/,
      );
    }
  });

  it("decompresses what is compressed repeatedly", async () => {
    const twice = deflateSync(deflateSync(drawn("packed twice")));
    const bytes = pagesPdf([pdfStream(twice, "/Filter [/FlateDecode /FlateDecode]")]);
    expect((await read(bytes)).text).toBe(`${header("1 page", bytes)}\n--- page 1 of 1 ---\npacked twice\n`);
  });

  describe("that is not read to its end", () => {
    const bytes = Buffer.from("%PDF-1.7\n");
    const opened: PdfPart = { type: "opened", pages: 12 };
    const page: PdfPart = { type: "page", text: "some words", lacksTables: false };

    /** Read's result if the host returns these parts, and whether it released the host's reader. */
    async function readParts(parts: readonly PdfPart[], input: object = {}) {
      let released = 0;
      async function* pdfPages(): AsyncGenerator<PdfPart> {
        try {
          yield* parts;
        } finally {
          released += 1;
        }
      }
      const host: Host = { ...createMemoryHost({ "/project/a.pdf": bytes }), pdfPages };
      const output = await call(readTool, { file_path: "a.pdf", ...input }, createContext(host));
      expect(released).toBe(1);
      return output;
    }

    it.each([
      ["milliseconds", 30_000, "needs more than 30 seconds"],
      ["memoryBytes", 512 * 1024 * 1024, "needs more than 512 MB of memory"],
      ["textBytes", 64 * 1024 * 1024, "has more than 64 MB of text"],
    ] as const)("returns the pages before its limit, with a message: %s", async (bound, limit, words) => {
      const exceeded: PdfPart = { type: "exceeded", bound, limit };
      const note = `[The PDF ${words} and was not read to its end. It stopped at page 3 of 12. Execute with pdftotext may read more.]`;
      expect(await readParts([opened, page, page, exceeded])).toEqual({
        status: "ok",
        text: `${header("12 pages", bytes)}\n--- page 1 of 12 ---\nsome words\n--- page 2 of 12 ---\nsome words\n\n${note}`,
      });
      expect(await readParts([opened, page, page, exceeded], { offset: 3 })).toEqual({
        status: "ok",
        text: `${header("12 pages", bytes)}\nsome words\n\n${note}`,
      });
      expect(await readParts([opened, page, page, exceeded], { offset: 4 })).toEqual({
        status: "failed",
        text: `Error: Error reading file: offset 4 is past the end: of /project/a.pdf could be read 4 lines. ${note}`,
      });
      const nothing = {
        status: "failed",
        text: `Error: Error reading file: /project/a.pdf is a PDF that ${words}, and no page of it was read. Execute with pdftotext may read it.`,
      };
      expect([await readParts([exceeded]), await readParts([opened, exceeded])]).toEqual([nothing, nothing]);
    });

    it("returns the pages before a malformed one", async () => {
      const broken: PdfPart = { type: "failed", encrypted: false, message: "no such font" };
      expect(await readParts([opened, page, broken])).toEqual({
        status: "ok",
        text: `${header("12 pages", bytes)}\n--- page 1 of 12 ---\nsome words\n\n[The PDF was not read to its end: page 2 of 12 is malformed (no such font). Execute with pdftotext may read more.]`,
      });
      expect([await readParts([opened, broken]), await readParts([])]).toEqual([
        cannotBeRead("no such font"),
        cannotBeRead("it has no pages"),
      ]);
    });

    it("releases the reader once it has what was requested", async () => {
      expect(await readParts([opened, page, page], { limit: 1 })).toEqual({
        status: "ok",
        text: `${header("12 pages", bytes)}\n--- page 1 of 12 ---\n\n[Lines 1-1. The text continues: Read it with offset 1 for the rest.]`,
      });
    });
  });

  it("rejects a file of more than 50 MB without reading further", async () => {
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

  it("stops in the middle of a page if it is interrupted", async () => {
    const context = createContext(createMemoryHost({ "/project/a.pdf": endlessPdf() }), {
      signal: AbortSignal.timeout(50),
    });
    expect(await call(readTool, { file_path: "a.pdf" }, context)).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
  });
});
