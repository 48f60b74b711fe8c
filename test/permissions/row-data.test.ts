import { describe, expect, test } from "vitest";
import type { CommandRow } from "../../src/permissions/programs/command-row.ts";
import { commandRows } from "../../src/permissions/programs/commands.ts";
import { buildRows } from "../../src/permissions/programs/rows/building.ts";
import { gitRows } from "../../src/permissions/programs/rows/git.ts";
import { networkRows } from "../../src/permissions/programs/rows/network.ts";
import { packageRows } from "../../src/permissions/programs/rows/packages.ts";

const lists: Readonly<Record<string, readonly CommandRow[]>> = { gitRows, buildRows, packageRows, networkRows };
const all = Object.values(lists).flat();

const bundledFlag = /^(-#|-\w|-\[\w+\]|--[A-Za-z\d][\w.+-]*)[:<>?]?$/;
const longDashFlag = /^--?[A-Za-z\d][\w.+-]*[:<>?]?$/;

function words(text: string | undefined): readonly string[] {
  return (text ?? "").split(/\s+/).filter((word) => word !== "");
}

function named(row: CommandRow): string {
  return [row.program, row.sub ?? ""].join(" ").trim();
}

/** The names of a row's flags, with the suffix of each. */
function flagsOf(row: CommandRow): readonly (readonly [string, string])[] {
  return words(row.flags).flatMap((flag) => {
    const [, name = "", takes = ""] = /^(.+?)([:<>?]?)$/.exec(flag) ?? [];
    const letters = /^-\[(.+)\]$/.exec(name)?.[1];
    return letters === undefined
      ? [[name, takes] as const]
      : [...letters].map((letter) => [`-${letter}`, takes] as const);
  });
}

/** The names of rows that fail a check. */
function faulty(isFaulty: (row: CommandRow) => boolean, rows: readonly CommandRow[] = all): readonly string[] {
  return rows.filter(isFaulty).map(named);
}

describe("rows for git, builds, packages and the network", () => {
  test.each(Object.entries(lists))("%s has more than ten rows", (_name, rows) => {
    expect(rows.length).toBeGreaterThan(10);
  });

  test("have a reason", () => {
    expect(faulty(({ why }) => !/^[a-z].*[^.\s]$/.test(why))).toEqual([]);
  });

  test("have well-formed flags", () => {
    const form = (row: CommandRow) => (row.longDash === true ? longDashFlag : bundledFlag);
    expect(faulty((row) => words(row.flags).some((flag) => !form(row).test(flag)))).toEqual([]);
    expect(faulty((row) => words(row.flags).some((flag) => !flag.startsWith("-")), commandRows)).toEqual([]);
  });

  test("do not contradict themselves about a flag", () => {
    const isTwofold = (row: CommandRow) => {
      const flags = new Set(flagsOf(row).map((flag) => flag.join("")));
      return new Set(flagsOf(row).map(([name]) => name)).size !== flags.size;
    };
    expect(faulty(isTwofold)).toEqual([]);
  });

  test("have well-formed operands, at most one of them for any number", () => {
    const isKnown = ({ operands }: CommandRow) => {
      const kinds = words(operands);
      const isForm = kinds.every((kind) => /^(text|read|write)[?*]?$/.test(kind));
      return isForm && kinds.filter((kind) => kind.endsWith("*")).length <= 1;
    };
    expect(faulty((row) => !isKnown(row), commandRows)).toEqual([]);
  });

  test("check only flags that take a text", () => {
    const isText = (row: CommandRow, flag: string) =>
      flagsOf(row).some(([name, takes]) => name === flag && takes === ":");
    expect(faulty((row) => words(row.checkedFlags).some((flag) => flag !== "*" && !isText(row, flag)))).toEqual([]);
    expect(faulty((row) => words(row.checkedFlags).length > 0 && row.script === undefined)).toEqual([]);
  });

  test("have sub-commands without empty alternatives", () => {
    expect(
      faulty(({ sub }) => sub?.split("|").some((part) => part.trim() === "" || /\s{2,}/.test(part.trim())) === true),
    ).toEqual([]);
  });

  test("have each program in a single list", () => {
    const owners = new Map<string, Set<string>>();
    for (const [list, rows] of Object.entries(lists)) {
      for (const program of rows.flatMap((row) => words(row.program))) {
        owners.set(program, new Set([...(owners.get(program) ?? []), list]));
      }
    }
    expect([...owners].filter(([, found]) => found.size > 1).map(([program]) => program)).toEqual([]);
  });

  test("have no duplicates", () => {
    const seen = new Set<string>();
    const isSecond = ({ program, sub, flags, operands }: CommandRow) => {
      const calls = words(program).flatMap((name) =>
        (sub ?? "").split("|").map((part) => [name, part.trim(), words(flags), operands]),
      );
      const keys = calls.map((call) => JSON.stringify(call));
      const isKnown = keys.some((key) => seen.has(key));
      for (const key of keys) seen.add(key);
      return isKnown;
    };
    expect(faulty(isSecond)).toEqual([]);
  });

  // A program called without arguments may read commands from its input.
  test("do not accept a program without arguments as printing its version", () => {
    const alone = all.filter(
      (row) => row.sub === undefined && row.needs === undefined && words(row.operands).length === 0,
    );
    expect(alone.map(named).map((name) => name.replace(/ \S*\/.*/, ""))).toEqual(["ctest", "tox nox", "yarn"]);
  });

  test("require only known flags", () => {
    const isUnknown = (row: CommandRow, flag: string) => !flagsOf(row).some(([name]) => name === flag);
    expect(faulty((row) => words(row.needs).some((flag) => isUnknown(row, flag)))).toEqual([]);
  });

  test("mark every git row, and that it uses the working directory", () => {
    expect(gitRows.filter((row) => row.git !== true || row.folder !== true).map(named)).toEqual([]);
    expect(faulty((row) => row.git === true && row.program !== "git")).toEqual([]);
  });

  test("class no network program as reading, except for its version", () => {
    const reading = networkRows.filter((row) => row.class === "read" && row.needs !== "-V --version");
    expect([...new Set(reading.map(({ program }) => program))]).toEqual(["ssh", "docker podman", "ip", "ifconfig"]);
  });
});
