import { expect, test } from "vitest";
import { meantName, nameOfBytes, shownName } from "../../src/text/shown-name.ts";

test.each<[string, Buffer, string]>([
  ["plain text", Buffer.from("naïve 名 😀 a\\b.txt"), "naïve 名 😀 a\\b.txt"],
  ["line feeds and other control characters", Buffer.from("a\n\r\t\x7f\u0085b"), "a\\x0a\\x0d\\x09\\x7f\\xc2\\x85b"],
  ["other line ends", Buffer.from("a\u2028b\u2029"), "a\\xe2\\x80\\xa8b\\xe2\\x80\\xa9"],
  ["bytes that are not UTF-8", Buffer.from("caf\xe9 \xff\xc3\xa9.txt", "latin1"), "caf\\xe9 \\xffé.txt"],
  ["a truncated character", Buffer.from("名".repeat(2)).subarray(0, 5), "名\\xe5\\x90"],
  ["what looks like an escape", Buffer.from("a\\x0ab\\x5cx"), "a\\x5cx0ab\\x5cx5cx"],
  ["the placeholder of a byte", Buffer.from("\u{10fe41}"), "\\xf4\\x8f\\xb9\\x81"],
])("%s is shown on one line, and found again", (_, bytes, shown) => {
  const name = nameOfBytes(bytes);
  expect(shownName(name)).toBe(shown);
  expect(meantName(shown) ?? shown).toBe(name);
  expect(name.isWellFormed()).toBe(true);
});

test.each(["a\\x41", "a\\x2fb", "a\\x00b", "\\x5cn", "\\xc3\\xa9", "plain"])("no name is shown as %s", (shown) => {
  expect(meantName(shown)).toBeUndefined();
});

test("digits of an escape can be upper case", () => {
  expect(meantName("a\\x0Ab")).toBe("a\nb");
});
