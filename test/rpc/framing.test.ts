import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/rpc/framing.ts";
import { createLineReader } from "../../src/rpc/framing.ts";

const mebibyte = 1024 * 1024;

/** Line ends, lookalikes, dropped characters, and characters of one to four bytes. */
const text = fc
  .array(fc.constantFrom("\n", "\r", "\r\n", "\uFEFF", "\u2028", "\u2029", "\v", "\f", " ", "\t", "{", "é", "漢", "😀"))
  .map((parts) => parts.join(""));

function framesOf(chunks: readonly Uint8Array[], maxLineBytes?: number): readonly Frame[] {
  const reader = createLineReader(maxLineBytes === undefined ? {} : { maxLineBytes });
  return [...chunks.flatMap((chunk) => reader.push(chunk)), ...reader.end()];
}

function read(input: string): readonly Frame[] {
  return framesOf([Buffer.from(input)]);
}

/** Splits bytes at the given places, modulo their length. */
function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, i) => bytes.subarray(ends[i - 1] ?? 0, end));
}

function line(content: string): Frame {
  return { type: "line", text: content };
}

describe("framing", () => {
  it.each([
    ["lines", "one\ntwo\n", ["one", "two"]],
    ["a last line without a line feed", "one\ntwo", ["one", "two"]],
    ["CRLF", "one\r\ntwo\r\n", ["one", "two"]],
    ["a last line that ends with CR alone", "one\r", ["one"]],
    [
      "CR, VT, FF, NEL and the line ends of Unicode within a line",
      "a\rb\vc\fd\u0085e\u2028f\u2029g\n",
      ["a\rb\vc\fd\u0085e\u2028f\u2029g"],
    ],
    ["a byte order mark before any line", "\uFEFFone\n\uFEFFtwo\n", ["one", "two"]],
    ["a byte order mark within a line", "one\uFEFF\uFEFFtwo\n", ["one\uFEFF\uFEFFtwo"]],
    ["blank lines and lines of white space", "\n\r\n \t \n\uFEFF\n\uFEFF \r\none\n\n", ["one"]],
    ["spaces around a line", "  one \n", ["  one "]],
    ["nothing", "", []],
  ])("reads %s", (_, input, lines) => {
    expect(read(input)).toEqual(lines.map(line));
  });

  it("marks a line that is not UTF-8, and replaces invalid bytes with U+FFFD", () => {
    expect(framesOf([Uint8Array.of(0x61, 0xff, 0x62, 0xc3, 0x0a, 0xc3, 0xa9, 0x0a)])).toEqual([
      { ...line("a\uFFFDb\uFFFD"), isMalformed: true },
      line("é"),
    ]);
    expect(read("a\uFFFDb\n")).toEqual([line("a\uFFFDb")]);
  });

  it("returns a line as soon as its line feed arrives", () => {
    const reader = createLineReader();
    expect(reader.push(Buffer.from("one\ntw"))).toEqual([line("one")]);
    expect(reader.push(Buffer.from("o"))).toEqual([]);
    expect(reader.push(Buffer.from("\n"))).toEqual([line("two")]);
    expect(reader.end()).toEqual([]);
  });

  it("copies what it keeps, so that a chunk can be reused", () => {
    const reader = createLineReader();
    const chunk = Buffer.from("half");
    reader.push(chunk);
    chunk.fill("x");
    expect(reader.push(Buffer.from(" whole\n"))).toEqual([line("half whole")]);
  });

  it("reads the same lines wherever the bytes are split", () => {
    fc.assert(
      fc.property(text, fc.array(fc.nat()), fc.integer({ min: 1, max: 12 }), (input, places, maxLineBytes) => {
        const expected = input.split("\n").flatMap((raw): Frame[] => {
          const bytes = Buffer.byteLength(raw);
          if (bytes > maxLineBytes) return [{ type: "too_long", bytes }];
          const content = raw.replace(/^\uFEFF/, "").replace(/\r$/, "");
          return content.trim() === "" ? [] : [line(content)];
        });
        expect(framesOf(cut(Buffer.from(input), places), maxLineBytes)).toEqual(expected);
      }),
    );
  });

  it("reads arbitrary bytes the same wherever they are split", () => {
    const byte = fc.oneof(fc.constantFrom(0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf, 0xf0, 0x80), fc.nat(255));
    fc.assert(
      fc.property(fc.array(byte), fc.array(fc.nat()), (bytes, places) => {
        const whole = Uint8Array.from(bytes);
        expect(framesOf(cut(whole, places))).toEqual(framesOf([whole]));
      }),
    );
  });

  it.each([
    ["in one chunk", 64 * mebibyte],
    ["in chunks of 64 KiB", 64 * 1024],
  ])("accepts a line of 32 MiB, reports one a byte longer, and continues: %s", (_, chunkBytes) => {
    const largest = "x".repeat(32 * mebibyte);
    const bytes = Buffer.from(`${largest}\n${largest}y\nnext\n`);
    const chunks = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_chunk, i) =>
      bytes.subarray(i * chunkBytes, (i + 1) * chunkBytes),
    );
    const [first, ...rest] = framesOf(chunks);
    // Not toEqual, which would print the difference.
    expect(first?.type === "line" && first.text === largest).toBe(true);
    expect(rest).toEqual([{ type: "too_long", bytes: 32 * mebibyte + 1 }, line("next")]);
  });

  it("accepts a long line byte by byte", () => {
    const reader = createLineReader({ maxLineBytes: 2 * mebibyte });
    const one = Buffer.from("x");
    for (let i = 0; i < 2 * mebibyte; i++) reader.push(one);
    const [frame] = reader.push(Buffer.from("\n"));
    expect(frame?.type === "line" && frame.text === "x".repeat(2 * mebibyte)).toBe(true);
  });

  it("keeps no bytes of a line that is too long", () => {
    const reader = createLineReader({ maxLineBytes: mebibyte });
    const before = process.memoryUsage().arrayBuffers;
    const chunk = Buffer.alloc(64 * 1024, "x");
    for (let i = 0; i < 4096; i++) expect(reader.push(chunk)).toEqual([]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(16 * mebibyte);
    expect(reader.end()).toEqual([{ type: "too_long", bytes: 256 * mebibyte }]);
  });
});
