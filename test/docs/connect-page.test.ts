import { readFileSync } from "node:fs";
import { Command } from "commander";
import { expect, it } from "vitest";
import { defineConnect } from "../../src/commands/wires/connect-options.ts";
import { commandHelp } from "../../src/connect/line.ts";
import { blocksOf } from "./blocks.ts";

const path = "docs/connect.md";
const page = readFileSync(path, "utf8");

/** The starts of the first cells of a section's tables, without header rows. */
function firsts(heading: string): readonly string[] {
  const section = page.slice(page.indexOf(`\n## ${heading}\n`) + 1).split(/\n## /)[0] ?? "";
  const cells = Array.from(section.matchAll(/^\| `([^`\s]+)/gm), ([, word]) => word ?? "");
  return cells.toSorted();
}

it("every command of the page is run", () => {
  expect(blocksOf(path, page).filter(({ directives }) => directives.noRun !== undefined)).toEqual([]);
});

it("every slash command has a row", () => {
  const names = Object.keys(commandHelp).map((name) => `/${name}`);
  expect(firsts("At a terminal").filter((word) => !word.startsWith("//"))).toEqual(names.toSorted());
});

it("every option has a row", () => {
  const program = new Command();
  defineConnect(program, async () => undefined);
  const options = program.commands[0]?.options.map(({ short, long }) => short ?? long) ?? [];
  const elsewhere = ["-o", "--token-file"];
  expect(firsts("The session")).toEqual(options.filter((one) => !elsewhere.includes(one ?? "")).toSorted());
  for (const one of elsewhere) expect(page).toContain(`\`${one}`);
});
