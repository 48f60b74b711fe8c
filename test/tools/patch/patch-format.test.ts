import { describe, expect, it } from "vitest";
import { type PatchSection, parsePatch } from "../../../src/text/patch-parse.ts";
import { patch } from "./patch-support.ts";

function faultOf(text: string): string {
  try {
    return `read as ${JSON.stringify(parsePatch(text))}`;
  } catch (error) {
    return String(error);
  }
}

/** One update with its hunks as short texts: headers, lines, end. */
function hunksOf(...lines: readonly string[]): readonly string[] {
  const [section] = parsePatch(patch("*** Update File: f", ...lines));
  if (section?.change !== "update") throw new Error("no update");
  return section.hunks.map(
    ({ headers, lines, atEnd }) => `${headers.map((one) => `@${one}|`).join("")}${lines.join("|")}${atEnd ? "|$" : ""}`,
  );
}

describe("a patch", () => {
  it("is a list of files, each with its change", () => {
    const sections: readonly PatchSection[] = parsePatch(
      patch(
        ...["*** Add File: a b.txt", "+one", "+ two", "++three", "*** Delete File: /c", "*** Update File: d"],
        ...["*** Move to: e/f", "@@ class X", "@@   def y", " kept", "-gone", "+new", "@@", "-last", "*** End of File"],
      ),
    );
    expect(sections).toEqual([
      { change: "add", path: "a b.txt", content: "one\n two\n+three\n" },
      { change: "delete", path: "/c" },
      {
        change: "update",
        path: "d",
        movedTo: "e/f",
        hunks: [
          { patchLine: 9, headers: ["class X", "  def y"], lines: [" kept", "-gone", "+new"], atEnd: false },
          { patchLine: 14, headers: [], lines: ["-last"], atEnd: true },
        ],
      },
    ]);
  });

  const plain = patch("*** Delete File: f");
  it.each([
    ["a newline at the end", `${plain}\n`],
    ["blank lines around it", `\n \n${plain}\n\n`],
    ["blank lines in it", patch("", "*** Delete File: f", "  ", "")],
    [
      "spaces around its marks",
      plain.replaceAll("*** ", " *** ").replace(" *** D", "*** D").replaceAll("Patch", "Patch  "),
    ],
    ["spaces around its paths", patch("*** Delete File:   f \t")],
    ["a byte order mark", `\uFEFF${plain}`],
    ["CRLF line ends", `${plain.replaceAll("\n", "\r\n")}\r\n`],
    ["a here-document", `<<'EOF'\n${plain}\nEOF\n`],
    ["a quoted here-document", `<<"PATCH"\n${plain}\nPATCH`],
    ["a plain here-document", `<< EOF\n${plain}\nEOF`],
    ["a command with a here-document", `apply_patch <<'EOF'\n${plain}\nEOF`],
    ["the name of a command", `apply_patch\n${plain}`],
    ["a fence", `\`\`\`\n${plain}\n\`\`\``],
    ["a fence that names a language", `\`\`\`diff\n${plain}\n\`\`\`\n`],
    ["a fence around a command", `\`\`\`bash\napply_patch << 'EOF'\n${plain}\nEOF\n\`\`\``],
  ])("can have %s", (_, text) => {
    expect(parsePatch(text)).toEqual([{ change: "delete", path: "f" }]);
  });

  it("can contain other patches' marks as lines", () => {
    const inner = ["*** Begin Patch", "*** Delete File: x", "*** End Patch"];
    expect(parsePatch(patch("*** Add File: f", ...inner.map((line) => `+${line}`)))).toEqual([
      { change: "add", path: "f", content: `${inner.join("\n")}\n` },
    ]);
    expect(hunksOf(...inner.map((line) => ` ${line}`), "-x")).toEqual([
      " *** Begin Patch| *** Delete File: x| *** End Patch|-x",
    ]);
  });

  const section = 'expected "*** Add File: path", "*** Update File: path", "*** Delete File: path" or "*** End Patch".';
  const sign = "a line of a hunk must begin with a space (context), - (removed) or + (added).";
  it.each([
    ["", 'The patch must begin with the line "*** Begin Patch".'],
    ["*** Update File: f\n-a\n+b", 'The patch must begin with the line "*** Begin Patch".'],
    ["*** Begin Patch\n*** Delete File: f\n", 'The patch has no line "*** End Patch": it may have been cut off.'],
    ["*** End Patch\n*** Begin Patch", 'The patch has no line "*** End Patch": it may have been cut off.'],
    [patch(), "The patch names no files."],
    [`Sure!\n${plain}`, 'Line 1, "Sure!", is before "*** Begin Patch".'],
    [`${plain}\nDone.`, 'Line 4, "Done.", is after "*** End Patch".'],
    [`${plain}\nEOF`, 'Line 4, "EOF", is after "*** End Patch".'],
    [patch("*** Delete File: f", "-x"), `Line 3 of the patch, "-x": ${section}`],
    [patch("*** Rename File: f"), `Line 2 of the patch, "*** Rename File: f": ${section}`],
    [`${plain}\n${plain}`, `Line 3 of the patch, "*** End Patch": ${section}`],
    [patch("*** Delete File:"), 'Line 2 of the patch, "*** Delete File:": the path is missing.'],
    [patch("*** Update File: f", "*** Move to: "), 'Line 3 of the patch, "*** Move to:": the path is missing.'],
    [patch("*** Add File: f", "x"), 'Line 3 of the patch, "x": every line of a new file must begin with +.'],
    [patch("*** Update File: f"), 'The patch has no changes for f. They must follow "*** Update File".'],
    [patch("*** Update File: f", "@@"), 'Line 3 of the patch: no changes follow "@@".'],
    [patch("*** Update File: f", "@@ x", "@@ y"), 'Line 3 of the patch: no changes follow "@@".'],
    [patch("*** Update File: f", "a"), `Line 3 of the patch, "a": ${sign}`],
    [patch("*** Update File: f", "-a", `\t${"b".repeat(200)}`), `Line 4 of the patch, "${"b".repeat(80)}…": ${sign}`],
    [
      patch(...Array.from({ length: 1001 }, (_, index) => `*** Delete File: ${index}`)),
      "The patch names more than 1000 files. Split it into several patches.",
    ],
  ])("reports why it is malformed: %j", (text, words) => {
    expect(faultOf(text)).toBe(`Error: ${words}`);
  });
});

describe("a new file", () => {
  const contentOf = (text: string) => parsePatch(text).map((one) => (one.change === "add" ? one.content : one));

  it("keeps blank lines without a sign, but not trailing ones", () => {
    expect(contentOf(patch("*** Add File: f", "+a", "", "+b", "", "*** Add File: g", "", "+", ""))).toEqual([
      "a\n\nb\n",
      "\n\n",
    ]);
  });

  it("can end with the end-of-file mark", () => {
    expect(contentOf(patch("*** Add File: f", "+a", "*** End of File"))).toEqual(["a\n"]);
  });

  it("has CRLF only if its own lines end with it, not the whole patch", () => {
    const text = patch("*** Add File: f", "+a\r", "+b\r");
    expect(contentOf(text)).toEqual(["a\r\nb\r\n"]);
    expect(contentOf(patch("*** Add File: f", "+a", "+b").replaceAll("\n", "\r\n"))).toEqual(["a\nb\n"]);
  });
});

describe("hunks", () => {
  it.each<readonly [string, readonly string[], readonly string[]]>([
    ["need no @@ before the first", ["-a", "+b"], ["-a|+b"]],
    ["are set apart by @@", ["@@", "-a", "@@", "-b", "@@", "-c"], ["-a", "-b", "-c"]],
    ["may have a header each", ["@@ x", "-a", "@@ y", "-b"], ["@x|-a", "@y|-b"]],
    ["may have nested headers", ["@@ x", "@@", "@@   y", "-a"], ["@x|@  y|-a"]],
    ["may have a header that is closed", ["@@ x @@", "-a"], ["@x|-a"]],
    ["may have line numbers, which are ignored", ["@@ -1,2 +3,4 @@ x", "-a", "@@ -1 +1 @@", "-b"], ["-a", "-b"]],
    ["may have blank context without a space", ["@@", " a", "", "-b"], [" a| |-b"]],
    ["may have CRLF", ["@@ x\r", "-a\r", "\r", "+b\r"], ["@x|-a| |+b"]],
    ["may have blank lines before them", ["", "@@ x", "-a", "*** End of File", "", "@@", "-b"], ["@x|-a|$", "-b"]],
    ["may say that a newline is missing", ["-a", "\\ No newline at end of file", "+b"], ["-a|+b"]],
    ["end with the file's end", ["-a", "*** End of File", "-b"], ["-a|$", "-b"]],
    ["ignore a second end mark", ["-a", "*** End of File", "*** End of File"], ["-a|$"]],
  ])("%s", (_, lines, expected) => {
    expect(hunksOf(...lines)).toEqual(expected);
  });
});
