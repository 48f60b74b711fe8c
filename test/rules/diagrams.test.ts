import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { diagramOf, roomFaults, roomsOf, turnFaults } from "./diagrams.ts";
import { importGraph, sourceTexts } from "./import-cycles.ts";

const page = readFileSync("docs/architecture.md", "utf8");

const texts = new Map([
  ["src/main.ts", 'import "./top/a.ts";'],
  ["src/top/a.ts", 'import "../low/b.ts"; import "../text/t.ts"; export const types = ["turn.started"];'],
  ["src/low/b.ts", ""],
  ["src/text/t.ts", ""],
]);
const graph = importGraph(texts);

describe("the diagram of the rooms", () => {
  it.each([
    ["nothing changed", "start  main.ts ─▶ top\n\n       top ─▶ low\nbase   low, text", []],
    ["one file of a room", "start  main.ts ─▶ top\n       top ─▶ low/b.ts\nbase   low, text", []],
    ["a removed room", "start  main.ts ─▶ top\n       top ─▶ low\nbase   low, text, old", ["old does not exist"]],
    ["a missing room", "start  main.ts ─▶ top\n       top ─▶ low\nbase   low", ["text is missing"]],
    [
      "an extra arrow",
      "start  main.ts ─▶ top, low\n       top ─▶ low\nbase   low, text",
      ["main.ts ─▶ low is drawn, not imported"],
    ],
    ["a missing arrow", "start  main.ts ─▶ top\n       top\nbase   low, text", ["top ─▶ low is imported, not drawn"]],
    [
      "an arrow that points up",
      "base   low, text\n       top ─▶ low\n       main.ts ─▶ top",
      ["top ─▶ low points up", "main.ts ─▶ top points up"],
    ],
  ])("with %s", (_, diagram, faults) => {
    expect(roomFaults(diagram, graph)).toEqual(faults);
  });

  it("shows every room and what it imports", () => {
    expect(roomFaults(diagramOf(page, "rooms"), importGraph(sourceTexts()))).toEqual([]);
    const tops = new Set([...roomsOf(diagramOf(page, "rooms")).keys()].map((room) => room.split("/")[0]));
    expect([...tops].sort()).toEqual(readdirSync("src").sort());
  });
});

describe("the diagram of a turn", () => {
  it.each([
    ["nothing changed", "main.ts\n└─ top/a.ts  turn.started\n   └─ low/b.ts", []],
    ["a removed file", "main.ts\n└─ top/old.ts", ["src/top/old.ts does not exist"]],
    ["a file that its parent does not import", "main.ts\n└─ low/b.ts", ["src/main.ts does not import src/low/b.ts"]],
    ["an event that the file does not name", "top/a.ts  turn.ended", ["src/top/a.ts does not name turn.ended"]],
  ])("with %s", (_, diagram, faults) => {
    expect(turnFaults(diagram, "src", texts, graph)).toEqual(faults);
  });

  it("shows files that import each other, with the events they send", () => {
    const source = sourceTexts();
    const diagram = diagramOf(page, "turn");
    expect(diagram).toContain("turn/turn.ts");
    expect(turnFaults(diagram, "src/engine", source, importGraph(source))).toEqual([]);
  });
});

it("the architecture page explains every folder, and lists at most ten surprises", () => {
  const section = page.split("\n## Inside the rooms\n")[1]?.split("\n## ")[0] ?? "";
  const rows = section.split("\n").filter((line) => line.startsWith("| `"));
  const rowOf = (room: string) => rows.find((row) => row.split("|")[1]?.includes(`\`${room}\``)) ?? "";
  const folders = readdirSync("src", { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const unexplained = folders.flatMap(({ name }) => {
    const inside = readdirSync(`src/${name}`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return ["", ...inside.map((entry) => entry.name)]
      .filter((folder) => !rowOf(name).includes(`\`${folder === "" ? name : folder}\``))
      .map((folder) => `src/${name}/${folder}`);
  });
  expect(unexplained).toEqual([]);
  expect(page.match(/^\d+\. /gm)?.length).toBeLessThanOrEqual(10);
});
