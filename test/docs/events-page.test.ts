import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isStored } from "../../src/engine/event.ts";
import { furtherSettings, neededSettings } from "../../src/store/listing/settings-guards.ts";

const events = Object.entries(isStored);
const durable = events.flatMap(([type, stored]) => (stored ? [type] : []));
const live = events.flatMap(([type, stored]) => (stored ? [] : [type]));

/** The cells of the table rows below a heading, up to the next heading. */
function rowsBelow(page: string, heading: string): readonly (readonly string[])[] {
  const [, section = ""] = readFileSync(page, "utf8").split(`\n## ${heading}\n`);
  const lines = (section.split("\n## ")[0] ?? "").split("\n").filter((line) => line.startsWith("|"));
  return lines.map((line) => line.split(/(?<!\\)\|/).slice(1, -1));
}

const codeIn = (cell = ""): readonly string[] =>
  Array.from(cell.matchAll(/`([a-z._A-Z-]+)`/g), ([, word = ""]) => word);

it("the architecture page lists every event, in the right column", () => {
  const rows = rowsBelow("docs/architecture.md", "Events");
  expect(rows.flatMap(([cell]) => codeIn(cell)).toSorted()).toEqual(durable.toSorted());
  expect(rows.flatMap(([, cell]) => codeIn(cell)).toSorted()).toEqual(live.toSorted());
});

it("the sessions page has a row for every record, and names every setting", () => {
  const rows = rowsBelow("docs/sessions.md", "The format");
  const records = rows.flatMap(([cell]) => codeIn(cell)).filter((word) => word.includes("."));
  expect(records.toSorted()).toEqual(durable.filter((type) => type !== "session.opened").toSorted());
  const [settings = []] = rows.filter(([cell]) => codeIn(cell)[0] === "settings");
  const named = settings.slice(1).flatMap((cell) => codeIn(cell));
  const known = Object.keys({ ...neededSettings, ...furtherSettings });
  expect(known.filter((key) => !named.includes(key))).toEqual([]);
});
