import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import ts from "typescript";
import { expect, it } from "vitest";
import { sdkTypes } from "../../src/protocol/sdk-types.ts";
import { defaultLimits } from "../../src/sdk/connection/limits.ts";
import * as sdk from "../../src/sdk/node.ts";
import { blocksOf } from "./blocks.ts";

const page = readFileSync("docs/sdk.md", "utf8");

/** The cells of the table rows below a heading. */
function rows(heading: string): readonly (readonly string[])[] {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /)[0] ?? "";
  const lines = section.split("\n").filter((line) => /^\| (?!---)/.test(line));
  return lines.map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const words = (cell = ""): readonly string[] => [...cell.matchAll(/`([\w-]+)`/g)].map((match) => match[1] ?? "");
/** The rows whose first cell is one name, or several. */
const named = (heading: string) =>
  rows(heading).flatMap((cells) => (/^`/.test(cells[0] ?? "") ? [{ names: words(cells[0]), cells }] : []));

it("starts with the example's ten lines", () => {
  const [first] = blocksOf("", page);
  const example = readFileSync("examples/sdk/ten-lines.mjs", "utf8");
  expect([first?.language, first?.text]).toEqual(["js", example]);
  expect(example.split("\n").filter((line) => line !== "").length).toBe(10);
});

it("the events and their fields match the schema", () => {
  const ofSchema = sdkTypes.TurnEvent.options.map(({ shape: { type, ...fields } }) => [
    type.value,
    Object.keys(fields).toSorted(),
  ]);
  const shown = named("Events").map(({ names, cells }) => [names.join(), words(cells[2]).toSorted()]);
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(ofSchema));
});

it("the fields of a result, of an event of a run and of a listed session match the schema", () => {
  const shownOfResult = named("Results").flatMap(({ names }) => names);
  expect(shownOfResult.toSorted()).toEqual(Object.keys(sdkTypes.TurnResult.shape).toSorted());
  const ofRuns = sdkTypes.StreamJsonEvent.options.map(({ shape }) => shape.type.value);
  expect(
    named("Output of exec")
      .flatMap(({ names }) => names)
      .toSorted(),
  ).toEqual(ofRuns.toSorted());
  const listed = /^Each has (.*)$/m.exec(page.slice(page.indexOf("## Lists of sessions")))?.[1];
  expect(words(listed)).toEqual(Object.keys(sdkTypes.SessionSummary.shape));
});

it("the time limits match the source", () => {
  const shown = named("Time limits").map(({ names: [name = ""], cells }) => [name, Number(cells[1])]);
  expect(Object.fromEntries(shown)).toEqual(defaultLimits);
});

it("every error has a row", () => {
  const shown = named("Errors").flatMap(({ names }) => names);
  expect(shown.toSorted()).toEqual(Object.keys(sdk).filter((name) => name.endsWith("Error")));
});

it("every quirk has a row, and occurs in the turn with all of them", () => {
  const message = /Available: (.*)\./.exec(readFileSync("docs/quirks.md", "utf8"))?.[1]?.split(", ") ?? [];
  expect(message.length).toBeGreaterThan(10);
  const shown = rows("What it survives").flatMap((cells) => (cells.length === 3 ? words(cells[2]) : []));
  expect(shown.toSorted()).toEqual(message.toSorted());
  const inCode = /const faults = `([^`]*)`/.exec(page)?.[1]?.split(/\s+/) ?? [];
  expect(inCode.toSorted()).toEqual(message.toSorted());
});

it("the page's programs compile under strict TypeScript", { timeout: 30_000 }, () => {
  // Except those in CommonJS, which have no types.
  const programs = blocksOf("", page).filter(
    ({ language, text }) => /^[jt]s$/.test(language) && text.includes("import "),
  );
  expect(programs.length).toBeGreaterThan(5);
  const files = new Map(programs.map(({ line, text }) => [resolve(`docs/sdk-${line}.ts`), text]));
  const options: ts.CompilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext, allowImportingTsExtensions: true },
    ...{ moduleResolution: ts.ModuleResolutionKind.Bundler, moduleDetection: ts.ModuleDetectionKind.Force },
    ...{ lib: ["lib.esnext.d.ts", "lib.dom.d.ts", "lib.dom.asynciterable.d.ts"], types: ["node"], skipLibCheck: true },
    paths: { "tinman/sdk": [resolve("src/sdk/node.ts")] },
  };
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (path) => files.has(path) || fileExists(path);
  host.readFile = (path) => files.get(path) ?? readFile(path);
  host.getSourceFile = (path, version, ...others) => {
    const text = files.get(path);
    return text === undefined ? getSourceFile(path, version, ...others) : ts.createSourceFile(path, text, version);
  };
  const program = ts.createProgram([...files.keys()], options, host);
  const faults = [...files.keys()].flatMap((path) => program.getSemanticDiagnostics(program.getSourceFile(path)));
  expect(
    faults.map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`),
  ).toEqual([]);
});

it("every export is named", () => {
  expect(Object.keys(sdk).filter((name) => !page.includes(name))).toEqual([]);
});
