import { describe, expect, it } from "vitest";
import { parsePatch } from "../../../src/text/patch-parse.ts";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { applyHunks } from "../../../src/tools/patch/patch-apply.ts";
import { createBudget } from "../../../src/tools/patch/patch-match.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { isFullRun } from "../../full-run.ts";
import { call, createContext } from "../call.ts";
import { patch } from "./patch-support.ts";

async function update(text: string, lines: readonly string[]) {
  const host = createMemoryHost({ "/project/f": text });
  const input = patch(`*** Update File: f\n${lines.join("\n")}`);
  const output = await call(applyPatchTool, { input }, createContext(host));
  return { ...output, after: host.text("/project/f") };
}

const repeat = <Item>(count: number, item: (index: number) => Item) => Array.from({ length: count }, (_, i) => item(i));
const tooMuch =
  "it needs too much searching, because its lines repeat too often or its files are too large. Send a smaller patch, with context lines that are rare in the file.";

/** Near the most lines of a patch and the maximum size of a call, or a tenth: only a quadratic cost would exceed the time. */
const [many, large] = isFullRun ? [90_000, 5_000_000] : [10_000, 500_000];
const added = isFullRun ? 290_000 : 250_000;

/** Our tests assert no times, but these would take very long with quadratic work. */
describe("a huge patch", () => {
  it("with very many hunks is applied", async () => {
    const text = repeat(many, (index) => `line ${index}\n`).join("");
    const lines = repeat(many, (index) => ["@@", `-line ${index}`, `+new ${index}`]).flat();
    const { status, after } = await update(text, lines);
    expect({ status, same: after === text.replaceAll("line", "new") }).toEqual({ status: "ok", same: true });
  });

  it("with very many loosely matching hunks in identical lines is applied", async () => {
    const lines = repeat(many, () => ["@@", "-a", "+b"]).flat();
    const { status, after } = await update("\ta\n".repeat(many), lines);
    expect({ status, same: after === "b\n".repeat(many) }).toEqual({ status: "ok", same: true });
  });

  it("with very many headers and as many appended hunks is applied", async () => {
    const text = repeat(many, (index) => `f ${index}\nx\n`).join("");
    const named = await update(text, repeat(many, (index) => [`@@ f ${index}`, "-x", "+y"]).flat());
    expect({ status: named.status, same: named.after === text.replaceAll("x", "y") }).toEqual({
      status: "ok",
      same: true,
    });
    const appended = await update("a\n", repeat(many, () => ["@@", "+b"]).flat());
    expect({ status: appended.status, length: appended.after?.length }).toEqual({ status: "ok", length: 2 * many + 2 });
  });

  it("of megabytes is applied", async () => {
    const grown = await update("a\n", [" a", ...repeat(added, () => "+")]);
    expect({ status: grown.status, length: grown.after?.length }).toEqual({ status: "ok", length: added + 2 });
    const long = "x".repeat(large);
    const { status, after } = await update(`${long}\n`, [`-${long}`, "+y"]);
    expect({ status, after }).toEqual({ status: "ok", after: "y\n" });
  });

  it("of megabytes of only signs, blanks or marks fails with a message", async () => {
    const bodyOf = (piece: string) => piece.repeat(Math.floor(large / piece.length));
    const bare = ["\n", "`", "<<", "\r", "*** Begin Patch\n"].map(bodyOf);
    const framed = ["\n", " ", "-\n", "@@ a\n", "*** \n", "*** End of File\n"].map(
      (piece) => `*** Begin Patch\n*** Update File: f\n${bodyOf(piece)}\n*** End Patch`,
    );
    for (const input of [...bare, ...framed]) {
      const host = createMemoryHost({ "/project/f": "a\n" });
      const { status, text } = await call(applyPatchTool, { input }, createContext(host));
      expect({ status, text: text.slice(0, 30) }).toEqual({ status: "failed", text: "Error: Cannot apply the patch." });
      expect(text.length).toBeLessThan(5000);
      expect(host.text("/project/f")).toBe("a\n");
    }
  });

  it("that keeps searching repeated lines is stopped", async () => {
    const text = "a\nb\n".repeat(500_000);
    const pairs = repeat(500, () => [" a", " b"]).flat();
    const absent = await update(text, [...pairs, " b", "-x"]);
    expect({ status: absent.status, same: absent.after === text }).toEqual({ status: "failed", same: true });
    expect(absent.text).toContain("does not fit");
    const stopped = await update(text, [...pairs, " b", "+x"]);
    expect({ status: stopped.status, text: stopped.text, same: stopped.after === text }).toEqual({
      status: "failed",
      text: `Error: Cannot apply the patch. In f: ${tooMuch}\nNothing was changed.`,
      same: true,
    });
  });

  it("that keeps using a large file is stopped", async () => {
    const text = `${"x".repeat(5_000_000)}\na\n`;
    const {
      status,
      text: words,
      after,
    } = await update(
      text,
      repeat(1000, () => ["-a", "+a", "*** Update File: f"])
        .flat()
        .slice(0, -1),
    );
    expect({ status, words, same: after === text }).toEqual({
      status: "failed",
      words: `Error: Cannot apply the patch. In f: ${tooMuch}\nNothing was changed.`,
      same: true,
    });
  });

  it("that keeps adding to a large file is stopped", async () => {
    const text = `${"x".repeat(5_000_000)}\n`;
    const sections = repeat(1000, () => ["+a", "*** Update File: f"]).flat();
    const { status, text: words, after } = await update(text, sections.slice(0, -1));
    expect({ status, words, same: after === text }).toEqual({
      status: "failed",
      words: `Error: Cannot apply the patch. In f: ${tooMuch}\nNothing was changed.`,
      same: true,
    });
  });

  it("for a file with too many lines is rejected", async () => {
    const { status, text } = await update("\n".repeat(1_000_001), ["+a"]);
    expect({ status, text }).toEqual({
      status: "failed",
      text: "Error: Cannot apply the patch. In f: it has more than 1000000 lines. Use Execute for such a change.\nNothing was changed.",
    });
  });
});

it("the work grows linearly with the patch", async () => {
  const needed = async (count: number): Promise<number> => {
    let steps = 0;
    const text = repeat(count, () => " a\n").join("");
    const [section] = parsePatch(patch("*** Update File: f", ...repeat(count, () => "@@\n-a\n+b")));
    if (section?.change !== "update") throw new Error("no update");
    const budget = createBudget();
    await applyHunks(text, section.hunks, {
      breathe: budget.breathe,
      spend(more) {
        steps += more;
        budget.spend(more);
      },
    });
    return steps;
  };
  expect(await needed(20_000)).toBeLessThanOrEqual(2 * (await needed(10_000)) + 100);
});
