import { describe, expect, it } from "vitest";
import { terminalJson, terminalLine, terminalText } from "../../src/text/terminal-text.ts";

describe("untrusted text on a terminal", () => {
  it("has no effect on the terminal", () => {
    const sequences = [
      ["\x1b]0;owned\x07", "\\u{1b}]0;owned\\u{7}"],
      ["\x1b]52;c;cm0gLXJm\x1b\\", "\\u{1b}]52;c;cm0gLXJm\\u{1b}\\"],
      ["\x1b[2J\x1b[H", "\\u{1b}[2J\\u{1b}[H"],
      ["\x9b2J\x9d0;x\x9c\x85", "\\u{9b}2J\\u{9d}0;x\\u{9c}\\u{85}"],
      ["safe\rrm -rf", "safe\\u{d}rm -rf"],
      ["ab\b\b\x7f\0\v\f", "ab\\u{8}\\u{8}\\u{7f}\\u{0}\\u{b}\\u{c}"],
    ];
    expect(sequences.map(([text = ""]) => terminalText(text))).toEqual(sequences.map(([, shown]) => shown));
    const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).join("");
    expect(terminalText(controls).match(/\p{Cc}/gu)).toEqual(["\t", "\n"]);
  });

  it("is neither reversed nor hidden", () => {
    const codes = [0xad, 0x61c, 0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2060, 0x2066, 0x2069];
    codes.push(0x3164, 0xd800, 0xdfff, 0xfe0f, 0xfeff, 0xfff9, 0xe0041, 0xe0100);
    expect(codes.map((code) => terminalText(`a${String.fromCodePoint(code)}b`))).toEqual(
      codes.map((code) => `a\\u{${code.toString(16)}}b`),
    );
  });

  it("stays unchanged if it is plain text, in any language", () => {
    const texts = [
      "lines\n\tand tabs\n",
      "Grüße, «élan» — 日本語 עברית \u00a0\u3000",
      "❤️ 1️⃣ 👩🏽‍💻 🏳️‍🌈 👨‍👩‍👧 🇩🇪",
      "می‌خواهم क्‍ष ශ්‍රී \u0600",
      "\\u{1b} as the model writes it",
    ];
    expect(texts.map(terminalText)).toEqual(texts);
    expect(terminalText("a\r\nb\r\n")).toBe("a\nb\n");
  });

  it("hides nothing in rows of joiners and selectors", () => {
    expect([
      terminalText("😀\ufe0f\ufe0f\ufe0e"),
      terminalText("😀\u200d\u200d😀"),
      terminalText("😀\u200da"),
      terminalText("ad\u200dmin\u200c"),
      terminalText("می\u200c\u200cخ"),
    ]).toEqual([
      "😀\ufe0f\\u{fe0f}\\u{fe0e}",
      "😀\\u{200d}\\u{200d}😀",
      "😀\\u{200d}a",
      "ad\\u{200d}min\\u{200c}",
      "می\u200c\\u{200c}خ",
    ]);
  });

  it("stays on one line where required", () => {
    expect(terminalLine("a\r\n\tb\u2028c\x1b[1m\u202e\ufeff ❤️")).toBe("a   b c\\u{1b}[1m\\u{202e}\\u{feff} ❤️");
  });

  it("means the same in JSON", () => {
    const value = { text: "\x1b[2J\x9b\x7f\u202e\u{e0041}\ud800 ❤️ \\u{1b}\n" };
    const json = terminalJson(JSON.stringify(value));
    expect(json).toBe('{"text":"\\u001b[2J\\u009b\\u007f\\u202e\\udb40\\udc41\\ud800 ❤️ \\\\u{1b}\\n"}');
    expect(JSON.parse(json)).toEqual(value);
  });
});
