import { describe, expect, it } from "vitest";
import { awkProgram } from "../../src/permissions/programs/scripts/awk.ts";
import { sedScript } from "../../src/permissions/programs/scripts/sed.ts";
import { harmfulAwk, harmlessAwk } from "./awk-programs.ts";
import { harmfulSed, harmlessSed } from "./sed-scripts.ts";

function unexpected(judge: (text: string) => string | undefined, table: Readonly<Record<string, readonly string[]>>) {
  return Object.entries(table).flatMap(([reason, texts]) =>
    texts.filter((text) => judge(text) !== reason).map((text) => ({ text, reason, got: judge(text) })),
  );
}

function refused(judge: (text: string) => string | undefined, texts: readonly string[]) {
  return texts.map((text) => ({ text, got: judge(text) })).filter(({ got }) => got !== undefined);
}

describe("sed scripts", () => {
  it("are harmless if they only print their input", () => {
    expect(refused(sedScript, harmlessSed)).toEqual([]);
  });

  it("are harmful if they may write, run or read anything else", () => {
    expect(unexpected(sedScript, harmfulSed)).toEqual([]);
  });
});

describe("awk programs", () => {
  it("are harmless if they only print their input", () => {
    expect(refused(awkProgram, harmlessAwk)).toEqual([]);
  });

  it("are harmful if they may write, run or read anything else", () => {
    expect(unexpected(awkProgram, harmfulAwk)).toEqual([]);
  });
});
