import fc from "fast-check";
import { expect, it } from "vitest";
import type { Files } from "../../../src/engine/files.ts";
import type { ToolOutput } from "../../../src/engine/tool.ts";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";

/** A few different lines, so that they repeat, some of which look like parts of a patch. */
const line = fc.constantFrom("", "a", "b", "  a", "a ", "}", "+a", "-a", "@@ a", "*** End Patch", "“a”", "\ta", "é🦊");

interface Shape {
  readonly lineEnd: "\n" | "\r\n";
  readonly finalNewline: boolean;
  readonly mark: boolean;
}
const shape = fc.record<Shape>({
  lineEnd: fc.constantFrom("\n", "\r\n"),
  finalNewline: fc.boolean(),
  mark: fc.boolean(),
});

function textOf(lines: readonly string[], { lineEnd, finalNewline, mark }: Shape): string {
  const text = lines.map((one) => `${one}${lineEnd}`).join("");
  return `${mark ? "\uFEFF" : ""}${finalNewline ? text : text.slice(0, text.length - lineEnd.length)}`;
}

/** An edit of a line: kept or removed, with lines added before it. */
interface LineEdit {
  readonly text: string;
  readonly stays: boolean;
  readonly before: readonly string[];
}
const lineEdits = fc.array(
  fc.record<LineEdit>({
    text: line,
    stays: fc.boolean(),
    before: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(line, { maxLength: 3 }) },
    ),
  }),
  { minLength: 1, maxLength: 30 },
);

const before = (edits: readonly LineEdit[]) => edits.map(({ text }) => text);
const after = (edits: readonly LineEdit[]) =>
  edits.flatMap(({ text, stays, before }) => [...before, ...(stays ? [text] : [])]);

/** The edits as one hunk with every line of the file, so that it fits only one place. */
function wholeHunk(edits: readonly LineEdit[]): readonly string[] {
  return edits.flatMap(({ text, stays, before }) => [
    ...before.map((one) => `+${one}`),
    // A line without text can lack its sign.
    stays && text === "" ? "" : `${stays ? " " : "-"}${text}`,
  ]);
}

/** The same with a unique line above each line of the file, cut into hunks where `cuts` says. */
function markedHunks(edits: readonly LineEdit[], cuts: readonly boolean[]): readonly string[] {
  return edits.flatMap((edit, index) => {
    const starts = index === 0 || cuts[index % cuts.length] === true;
    return [...(starts ? ["@@"] : []), ` #${index}#`, ...wholeHunk([edit])];
  });
}
const marked = (lines: (edit: LineEdit) => readonly string[], edits: readonly LineEdit[]) =>
  edits.flatMap((edit, index) => [`#${index}#`, ...lines(edit)]);

const patchOf = (lineEnd: string, ...lines: readonly string[]) =>
  ["*** Begin Patch", "*** Update File: f", ...lines, "*** End Patch"].join(lineEnd);

interface Outcome extends ToolOutput {
  readonly after: string | undefined;
  readonly writes: number;
}

async function apply(text: string, input: string): Promise<Outcome> {
  const host = createMemoryHost({ "/project/f": text });
  let writes = 0;
  const counted =
    <Given extends readonly unknown[], Result>(act: (...given: Given) => Result) =>
    (...given: Given) => {
      writes += 1;
      return act(...given);
    };
  const files: Files = { ...host.files, write: counted(host.files.write), remove: counted(host.files.remove) };
  const output = await call(applyPatchTool, { input }, createContext({ ...host, files }));
  return { ...output, after: host.text("/project/f"), writes };
}

it("produces the edited file, for any file and edits", async () => {
  const property = fc.asyncProperty(lineEdits, shape, shape, async (edits, shape, { lineEnd }) => {
    const old = textOf(before(edits), shape);
    // A one-line file without a newline does not show its line ends.
    const wanted = textOf(after(edits), old.includes("\n") ? shape : { ...shape, lineEnd: "\n" });
    // A last line that is empty and has no newline is a final newline, with one line less.
    fc.pre(shape.finalNewline || before(edits).at(-1) !== "");
    fc.pre(old !== wanted);
    const hunk = wholeHunk(edits);
    // Without a sign, the first line would be read as a separator, unless there is a @@.
    const output = await apply(old, patchOf(lineEnd, ...(hunk[0] === "" ? ["@@"] : []), ...hunk));
    expect(output).toMatchObject({ status: "ok", after: wanted, writes: 1 });
  });
  await fc.assert(property, { numRuns: 300 });
});

it("produces the edited file with many hunks, whose context differs in white space", async () => {
  const cuts = fc.array(fc.boolean(), { minLength: 1, maxLength: 8 });
  const property = fc.asyncProperty(
    lineEdits,
    cuts,
    shape,
    fc.constantFrom("", " ", "\t"),
    async (edits, cuts, shape, blank) => {
      const old = textOf(
        marked(({ text }) => [text], edits),
        shape,
      );
      const wanted = textOf(
        marked((edit) => after([edit]), edits),
        shape,
      );
      fc.pre(shape.finalNewline || before(edits).at(-1) !== "");
      fc.pre(old !== wanted);
      const hunks = markedHunks(edits, cuts).map((one) => (one.startsWith(" #") ? one + blank : one));
      expect(await apply(old, patchOf("\n", ...hunks))).toMatchObject({ status: "ok", after: wanted });
    },
  );
  await fc.assert(property, { numRuns: 300 });
});

type Mutation = (lines: readonly string[], at: number, other: string) => readonly string[];
const mutations: readonly Mutation[] = [
  (lines, at) => lines.toSpliced(at, 1),
  (lines, at) => lines.toSpliced(at, 0, lines[at] ?? ""),
  (lines, at, other) => lines.toSpliced(at, 0, other),
  (lines, at, other) => lines.with(at, other),
  (lines, at) => lines.with(at, (lines[at] ?? "").slice(1)),
  (lines, at) => lines.slice(0, at),
  (lines, at) => [...lines.slice(at), ...lines.slice(0, at)],
];

it("never throws for a damaged patch, and writes nothing if it fails", async () => {
  const piece = fc.oneof(
    line,
    line.map((one) => `-${one}`),
    line.map((one) => `+${one}`),
    fc.constantFrom(
      "@@",
      "@@ a",
      "*** End of File",
      "*** Delete File: f",
      "*** Add File: f",
      "*** Add File: f/g",
      "*** Move to: g",
    ),
    fc.constantFrom(
      "*** Update File: f",
      "*** Update File: ",
      "*** Update File: \0",
      "*** Begin Patch",
      "*** End Patch",
    ),
    fc.string(),
  );
  const damage = fc.array(fc.tuple(fc.constantFrom(...mutations), fc.nat(), piece), { minLength: 1, maxLength: 3 });
  const seen = new Set<string>();
  const property = fc.asyncProperty(lineEdits, shape, damage, async (edits, shape, damage) => {
    const old = textOf(before(edits), shape);
    let lines: readonly string[] = patchOf("\n", ...wholeHunk(edits)).split("\n");
    for (const [mutate, at, other] of damage) if (lines.length > 0) lines = mutate(lines, at % lines.length, other);
    const output = await apply(old, lines.join("\n"));
    seen.add(output.status);
    if (output.status !== "ok") expect(output).toMatchObject({ status: "failed", after: old, writes: 0 });
    if (output.status === "failed")
      expect(output.text).toMatch(/^Error: Cannot apply the patch\. .+\nNothing was changed\.$/s);
  });
  await fc.assert(property, { numRuns: 1000 });
  expect([...seen].sort()).toEqual(["failed", "ok"]);
});
