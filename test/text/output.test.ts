import fc from "fast-check";
import { expect, test } from "vitest";
import { headAndTail, jsonBytes } from "../../src/text/output.ts";

const note = (skipped: number): string => `[${skipped} skipped]`;
const anyText = fc.string({ unit: "binary", maxLength: 3_000 });

test("counts the bytes that a text has in a JSON line", () => {
  fc.assert(
    fc.property(
      fc.oneof(anyText, fc.string({ unit: fc.constantFrom("\ud800", "\udc00", "a", "\n", "\u0001", '"', "中", "😀") })),
      (text) => {
        expect(jsonBytes(text)).toBe(Buffer.byteLength(JSON.stringify(text)) - 2);
      },
    ),
  );
});

test("leaves short text unchanged", () => {
  expect(headAndTail("short", 1_000, note)).toBe("short");
});

test("cuts long text to head and tail within the limit, without splitting characters", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 600, max: 2_000 }), (text, limit) => {
      const cut = headAndTail(text, limit, note);
      expect(jsonBytes(cut)).toBeLessThanOrEqual(limit);
      if (cut === text) return;
      const [, head = "", skipped = "", tail = ""] = /^([\s\S]*)\n\[(\d+) skipped\]\n([\s\S]*)$/.exec(cut) ?? [];
      expect(text.startsWith(head)).toBe(true);
      expect(text.endsWith(tail)).toBe(true);
      expect(head.length + Number(skipped) + tail.length).toBe(text.length);
      if (text.isWellFormed()) expect([head.isWellFormed(), tail.isWellFormed()]).toEqual([true, true]);
    }),
  );
});
