import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Diff, type DiffLine, diffLines } from "../../../src/tools/edit/line-diff.ts";

/** A diff as text. */
function applied({ hunks }: Diff, before: string): string {
  const old = before.split("\n");
  const lines: string[] = [];
  let next = 1;
  for (const line of hunks.flat()) {
    const at = line.lineNumber.old ?? next;
    while (next < at) lines.push(old[next++ - 1] ?? "");
    if (line.type !== "added") expect([line.content, next]).toEqual([old[next++ - 1], at]);
    if (line.type === "removed") continue;
    lines.push(line.content);
    expect(line.lineNumber.new).toBe(lines.length);
  }
  return [...lines, ...old.slice(next - 1)].join("\n");
}

function numbered(count: number, text = "some line of a large file"): string[] {
  return Array.from({ length: count }, (_, index) => `${text} ${index}`);
}

const types = (lines: readonly DiffLine[]) => lines.map(({ type }) => type[0]).join("");

describe("of a large text", () => {
  it("shows each place with three lines around it", async () => {
    const before = numbered(100_000);
    const after = before.with(500, "changed").toSpliced(50_000, 2).toSpliced(90_000, 0, "new", "newer");
    const diff = await diffLines(`${before.join("\n")}\n`, `${after.join("\n")}\n`);
    expect(diff.isCut).toBe(false);
    expect(diff.hunks.map(types)).toEqual(["uuurauuu", "uuurruuu", "uuuaauuu"]);
    expect(diff.hunks.map((lines) => lines[0]?.lineNumber)).toEqual([
      { old: 498, new: 498 },
      { old: 49_998, new: 49_998 },
      { old: 90_000, new: 89_998 },
    ]);
  });

  it("matches the actual changes, wherever and however many", async () => {
    const edit = fc.record({
      at: fc.integer({ min: 0, max: 30_000 }),
      removed: fc.integer({ min: 0, max: 5 }),
      added: fc.array(fc.constantFrom("x", " ", "y"), { maxLength: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 12 }), fc.boolean(), async (edits, ends) => {
        const lines = numbered(30_000);
        const before = lines.join("\n") + (ends ? "\n" : "");
        for (const { at, removed, added } of edits) lines.splice(at, removed, ...added);
        const after = lines.join("\n") + (ends ? "\n" : "");
        const diff = await diffLines(before, after);
        expect([diff.isCut, applied(diff, before)]).toEqual([false, after]);
      }),
      { numRuns: 25 },
    );
  });

  it("treats a thoroughly changed text as one change, and shows the start of both sides", async () => {
    const before = "a\n".repeat(1_000_000);
    const diff = await diffLines(before, before.replaceAll("a", "b"));
    const lines = diff.hunks.flat();
    expect([diff.isCut, diff.hunks.length, types(lines)]).toEqual([true, 1, "r".repeat(1000) + "a".repeat(1000)]);
  });

  it("shows a large part that was added or removed", async () => {
    const before = numbered(30_000).join("\n");
    const block = numbered(5_000, "more").join("\n");
    const after = before.replace("file 100\n", `file 100\n${block}\n`);
    const added = await diffLines(before, after);
    const removed = await diffLines(after, before);
    expect([added.isCut, types(added.hunks.flat()), types(removed.hunks.flat())]).toEqual([
      true,
      `uuu${"a".repeat(997)}`,
      `uuu${"r".repeat(997)}`,
    ]);
    expect(added.hunks[0]?.[3]).toEqual({ type: "added", content: "more 0", lineNumber: { new: 102 } });
  });
});

it("shows each place of a small text with very many changes", async () => {
  const before = numbered(3000).map((line, index) => (index % 20 === 10 ? `old ${line}` : line));
  const after = before.map((line, index) => (index % 5 === 0 ? line.replace("old", "new") : line)).join("\n");
  const diff = await diffLines(before.join("\n"), after);
  expect([diff.isCut, diff.hunks.length, applied(diff, before.join("\n")) === after]).toEqual([false, 150, true]);
});
