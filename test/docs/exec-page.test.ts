import { readFileSync } from "node:fs";
import { Command } from "commander";
import { expect, it } from "vitest";
import { defineExec } from "../../src/commands/exec/exec-options.ts";

it("docs/exec.md has a row for every option", () => {
  const program = new Command();
  defineExec(program, async () => undefined);
  const [section = ""] = (readFileSync("docs/exec.md", "utf8").split("\n## Options\n")[1] ?? "").split("\n## ");
  const named = [...section.matchAll(/^\| .*? \|/gm)].flatMap(([cell]) => cell.match(/--[\w-]+/g) ?? []);
  const options = program.commands[0]?.options.map(({ long }) => long) ?? [];
  expect(named.filter((name) => name !== "--help").toSorted()).toEqual(options.toSorted());
});
