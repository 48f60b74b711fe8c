import fc from "fast-check";
import { expect, test } from "vitest";
import { eachMatch, replaceEach } from "../../src/async/find-text.ts";
import { decodeText, encodeText, isCrlf, joinTexts, splitLines, toCrlf } from "../../src/async/long-texts.ts";
import { createPace } from "../../src/async/pace.ts";

/*
 * Long texts are handled in steps of up to 256 KiB. Repeated texts put every part of theirs at the end of some step, so a fault
 * there differs from doing all at once.
 */

const { rest } = createPace();
const long = fc
  .tuple(fc.string({ unit: fc.constantFrom("a", "b", "\n", "\r\n", "\r", "ä", "€", "😀"), maxLength: 9 }), fc.nat(9))
  .map(([text, more]) => `${text.repeat(70_000)}${text.slice(0, more)}`);
const few = { numRuns: 20 };

test("long texts are encoded, decoded, split and joined as short ones", async () => {
  await fc.assert(
    fc.asyncProperty(long, async (text) => {
      const bytes = await encodeText(text, rest);
      expect(bytes.equals(Buffer.from(text))).toBe(true);
      expect((await decodeText(bytes, rest)) === text.toWellFormed()).toBe(true);
      const lines = await splitLines(text, rest);
      expect(lines.length).toBe(text.split("\n").length);
      expect((await joinTexts(lines, "\n", rest)) === text).toBe(true);
      expect(await isCrlf(text, rest)).toBe(text.includes("\r\n") && !/(?<!\r)\n/.test(text));
      expect((await toCrlf(text, rest)) === text.replace(/\r?\n/g, "\r\n")).toBe(true);
    }),
    { ...few, examples: [["\r\r\n".repeat(70_000)]] },
  );
});

test.each([
  ["a byte that no character begins with", [0x61, 0xff]],
  ["a character that is cut off", [0x61, 0xe2, 0x82]],
])("%s is not decoded", async (_, bytes) => {
  expect(await decodeText(Uint8Array.from(bytes), rest)).toBeUndefined();
});

/** As `eachMatch`, with `indexOf`. */
function places(text: string, wanted: string, overlapping: boolean): readonly number[] {
  const found: number[] = [];
  const next = overlapping ? 1 : wanted.length;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + next)) found.push(at);
  return found;
}

async function matches(text: string, wanted: string, overlapping: boolean): Promise<readonly number[]> {
  const found: number[] = [];
  await eachMatch(text, { wanted, overlapping }, (place) => found.push(place) > 0, rest);
  return found;
}

const letters = fc.string({ unit: fc.constantFrom("a", "b"), minLength: 1, maxLength: 6 });

test("each place of a text is found, in short and in long texts", async () => {
  await fc.assert(
    fc.asyncProperty(letters, letters, fc.constantFrom(1, 100, 300), async (start, end, times) => {
      const wanted = start.repeat(times) + end;
      const text = `${wanted}${start.repeat(2000)}${wanted}${wanted.slice(1)}${start.repeat(times)}${wanted}`;
      for (const overlapping of [false, true]) {
        expect(await matches(text, wanted, overlapping)).toEqual(places(text, wanted, overlapping));
      }
      expect((await replaceEach(text, wanted, "$&", rest)) === text.split(wanted).join("$&")).toBe(true);
    }),
  );
});

test("a search starts at a given place, and ends when its callback returns false", async () => {
  const found: number[] = [];
  await eachMatch("aXaXaX", { wanted: "X", from: 2 }, (place) => found.push(place) < 1, rest);
  expect(found).toEqual([3]);
});

test.each([
  ["no end of a part is one of the whole", `${"a".repeat(30_000)}b${"a".repeat(30_000)}`],
  ["all ends are alike", `${"a".repeat(60_000)}b`],
])("a long text is searched in linear time, although %s", async (_, wanted) => {
  expect(await matches("a".repeat(3_000_000), wanted, true)).toEqual([]);
});
