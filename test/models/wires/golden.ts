import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

/** Compares values with a golden file, one per line. `npm run golden` rewrites it. */
export function expectGolden(name: string, values: readonly unknown[]): void {
  const file = new URL(`golden/${name}.jsonl`, import.meta.url);
  const shown = values.map((value) => `${JSON.stringify(value)}\n`).join("");
  if (process.env.TINMAN_WRITE_GOLDEN === "1") writeFileSync(file, shown);
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  expect(values).toEqual(lines.map((line) => JSON.parse(line) as unknown));
}
