import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { classOf } from "./class-of.ts";

type Class = Awaited<ReturnType<typeof classOf>>;

interface Case {
  readonly command: string;
  readonly class: Class;
  readonly why: string;
}

const casesOf = (name: string): readonly Case[] =>
  (parse(readFileSync(new URL(name, import.meta.url), "utf8")) as { cases: readonly Case[] }).cases;

const commands = casesOf("commands.yaml");
const everyday = casesOf("everyday.yaml");
const everydayNotRead = casesOf("everyday-not-read.yaml");

const classes: readonly Class[] = ["read", "low", "medium", "high", "refused"];
const countOf = (wanted: Class) => commands.filter((one) => one.class === wanted).length;

const repeated = (texts: readonly string[]) => texts.filter((text, at) => texts.indexOf(text) !== at);

/** Each command with its actual class. */
async function judged(cases: readonly Case[]) {
  const all = [];
  for (const { command, class: wanted } of cases) all.push({ command, wanted, got: await classOf(command) });
  return all;
}

test("has many commands of every class", () => {
  expect(commands.length).toBeGreaterThanOrEqual(400);
  const few = ["read", "low", "medium", "high"] as const;
  expect(few.filter((one) => countOf(one) < 60)).toEqual([]);
  expect(everyday.length).toBe(120);
});

test.each([
  ["commands.yaml", commands],
  ["everyday.yaml", everyday],
  ["everyday-not-read.yaml", everydayNotRead],
])("%s: every case is complete and unique", (_, cases) => {
  const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";
  const incomplete = cases.filter(
    (one) =>
      Object.keys(one).join() !== "command,class,why" ||
      typeof one.command !== "string" ||
      !classes.includes(one.class) ||
      !isText(one.why),
  );
  expect(incomplete).toEqual([]);
  expect(repeated(cases.map(({ command }) => command))).toEqual([]);
});

test("no two commands share a reason", () => {
  expect(repeated(commands.map(({ why }) => why))).toEqual([]);
});

test("every command gets exactly its class", async () => {
  const rank = (one: Class) => classes.indexOf(one);
  const wrong = (await judged(commands)).filter(({ wanted, got }) => wanted !== got);
  const say = ({ command, wanted, got }: (typeof wrong)[number]) => `${wanted} but got ${got}: ${command}`;
  expect({
    tooLow: wrong.filter(({ wanted, got }) => rank(got) < rank(wanted)).map(say),
    tooHigh: wrong.filter(({ wanted, got }) => rank(got) > rank(wanted)).map(say),
  }).toEqual({ tooLow: [], tooHigh: [] });
});

test("classes at least 110 of 120 everyday commands as read, and the rest as listed", async () => {
  expect(everyday.filter((one) => one.class !== "read")).toEqual([]);
  const all = await judged(everyday);
  const notRead = all.filter(({ got }) => got !== "read").map(({ command, got }) => ({ command, class: got }));
  expect(notRead).toEqual(everydayNotRead.map(({ command, class: listed }) => ({ command, class: listed })));
  expect(all.length - notRead.length).toBeGreaterThanOrEqual(110);
});
