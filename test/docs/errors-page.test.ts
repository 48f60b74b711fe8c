import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { type ErrorCode, errorCodes } from "../../src/engine/errors.ts";
import { exitCodeOf, exitCodes } from "../../src/frontends/exit-codes.ts";

/** The cells of the table rows whose first cell matches. */
function rows(page: string, first: RegExp): readonly (readonly string[])[] {
  return readFileSync(page, "utf8")
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .map((line) =>
      line
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([cell = ""]) => first.test(cell));
}

it("the errors page has every code in order, with its meaning and its exit code", () => {
  const shown = rows("docs/errors.md", /^`\w+`$/).map(([code, meaning, exit]) => [code, meaning, Number(exit)]);
  const codes = Object.entries(errorCodes) as [ErrorCode, string][];
  expect(shown).toEqual(codes.map(([code, meaning]) => [`\`${code}\``, meaning, exitCodeOf(code)]));
});

it("the exit codes page has every exit code, and no other", () => {
  const shown = rows("docs/exit-codes.md", /^\d+$/).map(([code]) => Number(code));
  expect(shown).toEqual(Object.values(exitCodes).toSorted((a, b) => a - b));
});
