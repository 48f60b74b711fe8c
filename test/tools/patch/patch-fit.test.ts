import { describe, expect, it } from "vitest";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";
import { patch } from "./patch-support.ts";

/** The file after an update by these lines, or the error. */
async function update(text: string, ...lines: readonly string[]): Promise<string> {
  const host = createMemoryHost({ "/project/f": text });
  const input = patch("*** Update File: f", ...lines);
  const output = await call(applyPatchTool, { input }, createContext(host));
  const after = host.text("/project/f") ?? "";
  if (output.status === "ok") return after;
  expect(after).toBe(text);
  return output.text;
}

const shop = [
  ...["class A:", "    def f(self):", "        x = 1", "        return x", ""],
  ...[
    "class B:",
    "    def f(self):",
    "        x = 1",
    "        return x",
    "",
    "    def g(self):",
    "        return 2",
    "",
  ],
].join("\n");
const withChange = (line: number, ...by: readonly string[]) =>
  shop
    .split("\n")
    .flatMap((text, index) => (index + 1 === line ? by : [text]))
    .join("\n");

describe("a hunk is found", () => {
  it.each<readonly [string, string, readonly string[], string]>([
    ["where its lines are", "a\nb\nc\n", [" a", "-b", "+x", " c"], "a\nx\nc\n"],
    ["at the first of several places", "a\na\n", ["-a", "+x"], "x\na\n"],
    ["after the previous hunk", "a\na\na\n", ["-a", "+x", "@@", "-a", "+y"], "x\ny\na\n"],
    [
      "but not in lines that the previous hunk added",
      "a\nb\na\n",
      ["-a", "+a", "+a", "@@", "-a", "+y"],
      "a\na\nb\ny\n",
    ],
    ["at the end, if marked so", "a\nb\na\n", ["-a", "+x", "*** End of File"], "a\nb\nx\n"],
    [
      "in the function that its header names",
      shop,
      ["@@ class B:", "-        x = 1", "+        x = 3"],
      withChange(8, "        x = 3"),
    ],
    [
      "by headers from the outside in",
      shop,
      ["@@ class B:", "@@     def f(self):", "         x = 1", "-        return x", "+        return 5"],
      withChange(9, "        return 5"),
    ],
    [
      "below a header with different indentation",
      shop,
      ["@@ def g(self):", "-        return 2", "+ok"],
      withChange(12, "ok"),
    ],
    [
      "below a header that is repeated as context",
      shop,
      ["@@     def g(self):", "     def g(self):", "-        return 2", "+ok"],
      withChange(12, "ok"),
    ],
    [
      "below a header that the previous hunk has passed",
      shop,
      ["@@ class B:", "-        x = 1", "+one", "@@ class B:", "-        return 2", "+two"],
      withChange(8, "one").replace("        return 2", "two"),
    ],
    [
      "in the same function again, even if another of that name follows",
      "def f\na\nb\ndef f\na\n",
      ["@@ def f", "-a", "+x", "@@ def f", "-b", "+y"],
      "def f\nx\ny\ndef f\na\n",
    ],
    ["by an exact match first", "  a\na\n", ["-a", "+x"], "  a\nx\n"],
    ["by a match with its indentation first", "  a\na \n", ["-a", "+x"], "  a\nx\n"],
    ["without trailing white space", "a  \nb\t\nc\n", [" a", "-b", "+x"], "a  \nx\nc\n"],
    ["with white space that the file lacks", "a\nb\n", [" a   ", "-b ", "+x"], "a\nx\n"],
    ["with different indentation", "\tif a:\n\t\tb\n", [" if a:", "-  b", "+\t\tc"], "\tif a:\n\t\tc\n"],
    [
      "with plain quotes for curly ones",
      "say “hi” – it’s\nb\n",
      [' say "hi" - it\'s', "-b", "+c"],
      "say “hi” – it’s\nc\n",
    ],
    ["with curly quotes for plain ones", 'say "hi" - it\'s\n', ["-say “hi” — it‘s", "+c"], "c\n"],
    ["with plain spaces for other ones", "a\u00a0b\u3000c\n", ["-a b c", "+x"], "x\n"],
    ["with blank context lines that lack their space", "a\n\nb\n", [" a", "", "-b", "+c"], "a\n\nc\n"],
    ["even if blank lines after it are not context", "a\nb\n", ["-a", "+x", "", "", "@@", "-b", "+y", ""], "x\ny\n"],
    ["even if a blank line before it is not context", "a\nb\n", ["@@", "", "-a", "+x"], "x\nb\n"],
    ["with blank context at the end of the file", "a\n\n", ["-a", "+x", " ", " "], "x\n\n"],
    ["in a file with a byte order mark", "\uFEFFa\nb\n", ["-a", "+x"], "\uFEFFx\nb\n"],
  ])("%s", async (_, text, lines, expected) => {
    expect(await update(text, ...lines)).toBe(expected);
  });
});

describe("added lines", () => {
  it.each<readonly [string, string, readonly string[], string]>([
    ["go to the end", "a\nb\n", ["+c", "+d"], "a\nb\nc\nd\n"],
    ["are appended in order", "a\nb\n", ["+c", "@@", "-a", "+x", "@@", "+d"], "x\nb\nc\nd\n"],
    ["go below their header", shop, ["@@ class B:", "+    y = 0"], withChange(6, "class B:", "    y = 0")],
    ["are appended if marked so", shop, ["@@ class B:", "+end", "*** End of File"], `${shop}end\n`],
    ["fill an empty file", "", ["+a", "+b"], "a\nb\n"],
    ["follow a file without a final newline", "a", ["+b"], "a\nb"],
  ])("%s", async (_, text, lines, expected) => {
    expect(await update(text, ...lines)).toBe(expected);
  });
});

describe("the file keeps", () => {
  it.each<readonly [string, string, readonly string[], string]>([
    ["its CRLF", "a\r\nb\r\nc\r\n", [" a", "-b", "+x", "+y", " c"], "a\r\nx\r\ny\r\nc\r\n"],
    ["its LF against a patch with CRLF", "a\nb\n", [" a\r", "-b\r", "+x\r"], "a\nx\n"],
    ["its CRLF when lines are appended", "a\r\n", ["+b"], "a\r\nb\r\n"],
    ["its CRLF without the last one", "a\r\nb\r\nc", ["-c", "+x", "+y"], "a\r\nb\r\nx\r\ny"],
    ["its CRLF where the last line was", "a\r\nb\r\nc", [" c", "+d"], "a\r\nb\r\nc\r\nd"],
    ["its CRLF when the last line is removed", "a\r\nb\r\nc", [" b", "-c"], "a\r\nb"],
    ["its mixed line ends", "a\nb\r\nc\r\nd\n", ["-c", "+x"], "a\nb\r\nx\nd\n"],
    ["its missing newline", "a\nb", ["-b", "+c"], "a\nc"],
    ["its newline when all is replaced", "a\nb\n", ["-a", "-b", "+c"], "c\n"],
    ["nothing when all is removed", "a\nb\n", ["-a", "-b"], ""],
    ["its byte order mark when all is removed", "\uFEFFa\n", ["-a"], "\uFEFF"],
    ["its context as it is", "a  \n\tb\nc\n", [" a", " b", "-c", "+x"], "a  \n\tb\nx\n"],
    ["carriage returns in the middle of lines", "a\rb\nc\n", [" a\rb", "-c", "+x"], "a\rb\nx\n"],
  ])("%s", async (_, text, lines, expected) => {
    expect(await update(text, ...lines)).toBe(expected);
  });
});

describe("a hunk that does not fit", () => {
  const said = (...lines: readonly string[]) =>
    ["Error: Cannot apply the patch. In f: ", lines.join("\n"), "\nNothing was changed."].join("");

  it("is named with the missing lines and the nearest place", async () => {
    expect(
      await update(
        shop,
        " class A:",
        "-    def f(self):",
        "+    def h(self):",
        "@@",
        "     def g(self, all):",
        "-        return 2",
        "+        return 3",
      ),
    ).toBe(
      said(
        "hunk 2 of 2 (line 6 of the patch) does not fit. These lines were not found from line 3 on:",
        "      def g(self, all):",
        "          return 2",
        "The most similar place is line 11:",
        "11      def g(self):",
        "12          return 2",
      ),
    );
  });

  it("is reported as out of order", async () => {
    expect(await update("a\nb\nc\n", "-c", "+x", "@@", " a", "-b", "+y")).toBe(
      said(
        "hunk 2 of 2 (line 5 of the patch) does not fit. These lines were not found from line 4 on:",
        "  a",
        "  b",
        "The most similar place is line 1, above the end of the hunk before it (hunks must be in the order of the file):",
        "1  a",
        "2  b",
      ),
    );
  });

  it("is reported as not at the end", async () => {
    expect(await update("a\nb\n", "-a", "+x", "*** End of File")).toBe(
      said(
        "hunk 1 of 1 (line 3 of the patch) does not fit. These lines were not found at the end of the file:",
        "  a",
        "The most similar place is line 1:",
        "1  a",
      ),
    );
  });

  it("can have been at the end before the hunk above it", async () => {
    expect(await update("a\nb\n", " a", "-b", "@@", "-b", "*** End of File")).toContain(
      "not found at the end of the file",
    );
  });

  it("is most similar to its longest lines, and then to what is below", async () => {
    const nearest = async (text: string, ...lines: readonly string[]) =>
      /most similar place is line (\d+)/.exec(await update(text, ...lines))?.[1];
    expect(await nearest("}\n}\n1\n2\n3\n4\na long line\n", " }", " }", "-y", " a long line")).toBe("4");
    const twice = "same\n1\n2\nsame\n3\nsame\n";
    expect(await nearest(twice, "-same", "-x")).toBe("1");
    expect(await nearest(twice, "-2", "@@", "-same", "-x")).toBe("4");
  });

  it("can lack its header", async () => {
    expect(await update(shop, "@@ class B:", "@@     def h(self):", "-        return 2")).toBe(
      said(
        "hunk 1 of 1 (line 3 of the patch) does not fit. This line after @@ was not found from line 7 on:",
        "      def h(self):",
        "The most similar place is line 2:",
        "2      def f(self):",
      ),
    );
    expect(await update("a\n@@ x\n", "@@ a", "-@@ x", "+b", "@@ a", "+c")).toContain("hunk 2 of 2");
  });

  it("can have nothing similar, and is shown only in part", async () => {
    const long = "w".repeat(1000);
    expect(await update("a\n", ...Array.from({ length: 25 }, () => `-${long}`))).toBe(
      said(
        "hunk 1 of 1 (line 3 of the patch) does not fit. These lines were not found in the file:",
        ...Array.from({ length: 20 }, () => `  ${long.slice(0, 160)}…`),
        "  (and 5 more lines)",
        "Nothing in the file is similar.",
      ),
    );
  });

  it("is not confused with a place that has other text in the middle", async () => {
    expect(await update("a b\n", "-a  b", "+x")).toContain("does not fit");
    expect(await update("", "-a", "+x")).toContain("Nothing in the file is similar.");
  });
});
