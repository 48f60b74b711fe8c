import { readFileSync } from "node:fs";
import { Command } from "commander";
import { expect, it } from "vitest";
import { defineAcp } from "../../src/commands/wires/acp-options.ts";
import { sessionState } from "../../src/frontends/acp/modes.ts";
import { advertised } from "../../src/frontends/acp/session/slash-commands.ts";
import { viewOf } from "../../src/frontends/acp/view/tool-view.ts";
import type { ModelInfo, Settings } from "../../src/sdk/types.ts";
import { builtinTools } from "../../src/tools/all.ts";

const page = readFileSync("docs/acp.md", "utf8");

/** The cells of the table rows below a heading, without the header rows. */
function rows(heading: string): readonly (readonly string[])[] {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /)[0] ?? "";
  const tables = [...section.matchAll(/(?:^\|.*\n)+/gm)].map(([table]) => table.trimEnd().split("\n").slice(2));
  return tables.flat().map((line) => line.slice(2, -2).split(" | "));
}

const words = (cell = ""): readonly string[] => [...cell.matchAll(/`(\/?[\w-]+)/g)].map((match) => match[1] ?? "");
const firsts = (heading: string): readonly string[] => rows(heading).flatMap(([cell]) => words(cell));

const model = { id: "m", displayName: "M", reasoningEfforts: ["none", "high"] } as unknown as ModelInfo;
const settings = { modelId: "m", interactionMode: "auto", autonomyLevel: "off" } as unknown as Settings;
const state = sessionState(settings, [model]);

it("the modes and their names match the source", () => {
  const shown = rows("Modes").map(([id, name]) => [words(id).join(), name]);
  expect(shown).toEqual(state.modes.availableModes.map(({ id, name }) => [id, name]));
});

it("the config options match the source", () => {
  const shown = rows("Config options").map(([id, category]) => [words(id).join(), words(category).join()]);
  expect(shown).toEqual(state.configOptions.map(({ id, category }) => [id, category]));
});

it("the slash commands match the source", async () => {
  expect(firsts("Slash commands")).toEqual((await advertised(undefined)).commands.map(({ name }) => `/${name}`));
});

it("the options of the command match the source", () => {
  const program = new Command();
  defineAcp(program, async () => undefined);
  const options = program.commands[0]?.options.map(({ short, long }) => short ?? long);
  expect(firsts("Options").toSorted()).toEqual(options?.toSorted());
});

it("the tools match the source, and how a call of each looks", () => {
  const shown = rows("What is shown").filter((cells) => cells.length === 4);
  const kinds = shown.flatMap(([name = "", kind]) => (name === "any other" ? [] : [[name, words(kind).join()]]));
  const ofSource = builtinTools.map(({ name }) => [name, viewOf(name, {}, "/").kind]);
  const named = kinds.map(([name]) => name);
  // TodoWrite is shown as a plan. Tools of the kind `other` need no row.
  const needed = ofSource.filter(
    ([name = "", kind]) => name !== "TodoWrite" && (kind !== "other" || named.includes(name)),
  );
  expect(kinds.toSorted()).toEqual(needed.toSorted());
});
